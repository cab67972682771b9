"""`taugen lock`: policy of other repositories, pinned."""

import pytest

from tests.gitkit import commit, git, make_repo

TIERS = "apiVersion: taugen.dev/v1alpha1\nkind: PriorityTier\nmetadata: {name: night}\nspec: {value: 50}\n"


@pytest.fixture
def fleet(taugen, tmp_path):
    """A project whose policy has a second place: a repository of the platform team."""
    make_repo(tmp_path / "policy", {"tiers/night.yaml": TIERS})
    taugen("init", "acme", cwd=tmp_path)
    project = tmp_path / "acme" / "taugen.yaml"
    source = f"    - git: {{url: {tmp_path / 'policy'}, ref: main, path: tiers}}\n"
    project.write_text(project.read_text().replace("    - path: policy\n", f"    - path: policy\n{source}"))
    return tmp_path / "acme"


def test_it_pins_moves_and_shows_subjects(taugen, fleet, tmp_path):
    assert taugen("check", cwd=fleet).code == 1
    first = taugen("lock", cwd=fleet)
    assert first.code == 0
    assert first.out.startswith("added    ")
    assert first.out.splitlines()[1].endswith(" first")
    assert taugen("check", "--strict", cwd=fleet).code == 0
    assert "1 unchanged" in taugen("lock", cwd=fleet).err

    old = git(tmp_path / "policy", "rev-parse", "HEAD")
    new = commit(tmp_path / "policy", {"tiers/night.yaml": TIERS.replace("50", "60")}, "Night work waits less")
    assert "kept" in taugen("lock", cwd=fleet).out
    moved = taugen("lock", "--update", cwd=fleet).out.splitlines()
    assert moved[0].startswith("moved")
    assert moved[1] == f"  - {old[:12]} first"
    assert moved[2] == f"  + {new[:12]} Night work waits less"
    assert new in (fleet / "taugen.lock").read_text()


def test_a_source_that_left_taugen_yaml_leaves_the_lock(taugen, fleet):
    taugen("lock", cwd=fleet)
    git(fleet, "checkout", "-q", "--", "taugen.yaml")
    ran = taugen("lock", cwd=fleet)
    assert ran.out.startswith("removed")
    assert not (fleet / "taugen.lock").exists()


def test_without_other_repositories_there_is_nothing_to_pin(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    ran = taugen("lock", cwd=tmp_path / "acme")
    assert (ran.code, ran.out) == (0, "")
    assert "nothing to pin" in ran.err
    assert not (tmp_path / "acme" / "taugen.lock").exists()


def test_a_repository_that_is_gone_is_one_sentence(taugen, fleet, tmp_path):
    (tmp_path / "policy").rename(tmp_path / "elsewhere")
    ran = taugen("lock", cwd=fleet)
    assert ran.code == 1
    assert "can't be fetched" in ran.err
    assert not (fleet / "taugen.lock").exists()


def test_a_broken_lock_says_how_to_mend_it(taugen, fleet):
    (fleet / "taugen.lock").write_text("repositories: 7\n")
    ran = taugen("lock", cwd=fleet)
    assert ran.code == 1
    assert "--update" in ran.err
    assert taugen("lock", "--update", cwd=fleet).code == 0
