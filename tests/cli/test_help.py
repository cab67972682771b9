"""Help texts: every command says what it does, and a misspelt one gets the right one."""

import pytest

from taugen.cli import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(taugen, tmp_path, name):
    ran = taugen(name, "--help", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: taugen {name}")
    assert len(ran.out.splitlines()[2].strip()) > 20


def test_the_list_of_commands_needs_none_of_them(taugen, tmp_path):
    out = taugen("--help", cwd=tmp_path).out
    assert [line.split()[0] for line in out.partition("Commands:\n")[2].splitlines() if line.startswith("  ") and line[2] != " "] == list(
        COMMANDS
    )


def test_a_misspelt_command(taugen, tmp_path):
    ran = taugen("chekc", cwd=tmp_path)
    assert ran.code == 2
    assert "did you mean check?" in ran.err


def test_outside_of_a_repository_commands_say_how_to_get_one(taugen, tmp_path):
    for name in ("check", "publish", "lock"):
        ran = taugen(name, cwd=tmp_path)
        assert ran.code == 2, name
        assert "taugen init" in ran.err


def test_the_version(taugen, tmp_path):
    from taugen import __version__

    assert taugen("--version", cwd=tmp_path).out == f"taugen {__version__}\n"
