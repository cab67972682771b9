"""Completion, in the real shells: what they offer after a press of the tab key."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.cli.test_check import repo  # noqa: F401 - a fixture
from tests.policykit import FIXTURE

ROOT = FIXTURE.parents[2]
RUNS = {"climate/": {"climate/downscale"}, "speech/w": {"speech/whisper-finetune"}, "prot": {"protein/fold-report"}}


@pytest.fixture
def shell(tmp_path):
    """Runs a script in a shell that finds the command, in a folder."""
    (tmp_path / "bin").mkdir()
    taugen = tmp_path / "bin" / "taugen"
    taugen.write_text(f"#!{sys.executable}\nfrom taugen.__main__ import main\nmain()\n")
    taugen.chmod(0o755)

    def run(name, script, cwd):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed: the system's package {name}")
        env = {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        flags = ["-f"] if name == "zsh" else ["--no-config"] if name == "fish" else ["--norc"]
        done = subprocess.run([name, *flags, "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout, done.stderr

    return run


def bash(shell, cwd, *words):
    """The words that bash offers for the last one."""
    listed = " ".join(shlex.quote(word) for word in words)
    script = f"""
        eval "$(taugen completion bash)" 2>/dev/null
        COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; COMPREPLY=()
        compopt() {{ :; }}
        _taugen_completion taugen
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    out, err = shell("bash", script, cwd)
    assert err == ""
    return set(out.split())


def fish(shell, cwd, *words):
    out, err = shell("fish", f"taugen completion fish | source; complete -C {shlex.quote(' '.join(words))}", cwd)
    assert err == ""
    return {line.partition("\t")[0] for line in out.splitlines()}


def zsh(shell, cwd, *words):
    """zsh itself, behind a terminal of its own: the line that it makes of what is typed and a tab."""
    typed = " ".join(words)
    script = f"""
        zmodload zsh/zpty
        zpty -b z zsh -f -i
        zpty -w z 'PROMPT=; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D; eval "$(taugen completion zsh)"'
        zpty -w z 'report() {{ print -r -- "<<$BUFFER>>"; zle send-break }}; zle -N report; bindkey "^X" report; print -r -- rea""dy'
        zpty -r -m z seen '*ready*'
        zpty -n -w z {shlex.quote(typed)}$'\\t'
        sleep ${{WAIT:-0}}
        zpty -n -w z $'\\x18'
        zpty -r -m z seen '*<<*>>*'
        print -r -- "$seen"
    """
    out, _ = shell("zsh", script, cwd)
    return out.rpartition("<<")[2].partition(">>")[0].removeprefix(words[0]).split()[-1:]


@pytest.mark.parametrize("typed", RUNS)
@pytest.mark.parametrize("complete", [bash, fish], ids=lambda f: f.__name__)
def test_runs(shell, repo, complete, typed):  # noqa: F811
    assert complete(shell, repo, "taugen", "explain", typed) == RUNS[typed]
    assert complete(shell, repo, "taugen", "render", "-o", "-", typed) == RUNS[typed]
    assert complete(shell, repo, "taugen", "publish", "--allow-cancel", typed) == RUNS[typed]


@pytest.mark.parametrize("complete", [bash, fish], ids=lambda f: f.__name__)
def test_commands_options_findings_workspaces(shell, repo, complete):  # noqa: F811
    assert complete(shell, repo, "taugen", "exp") == {"explain"}
    assert complete(shell, repo, "taugen", "check", "--ch") == {"--changed-since"}
    assert complete(shell, repo, "taugen", "check", "--format", "sar") == {"sarif"}
    assert complete(shell, repo, "taugen", "explain", "yaml-al") == {"yaml-alias"}
    assert complete(shell, repo, "taugen", "explain", "image-t") == {"image-tag"}
    assert {"climate/", "protein/", "speech/"} <= complete(shell, repo, "taugen", "explain", "")


def test_zsh(shell, repo):  # noqa: F811
    assert zsh(shell, repo, "taugen", "exp") == ["explain"]
    assert zsh(shell, repo, "taugen", "explain", "climate/") == ["climate/downscale"]
    assert zsh(shell, repo, "taugen", "explain", "yaml-al") == ["yaml-alias"]


def test_outside_of_a_project_nothing_is_said(shell, tmp_path):
    assert bash(shell, tmp_path, "taugen", "explain", "climate/") == set()


def test_findings_are_those_of_the_catalog():
    from taugen.cli import complete
    from taugen.pipeline import catalog

    assert complete.findings(None, None, "") == sorted(catalog.entries())


def test_the_script_of_each_shell(taugen, tmp_path):
    for name in ("bash", "zsh", "fish"):
        assert "_TAUGEN_COMPLETE" in taugen("completion", name, cwd=tmp_path).out
    assert "~/.bashrc" in taugen("completion", "--help", cwd=tmp_path).out
