"""Which documents a change touches, told by `check --changed-since` on real repositories."""

import os
import shutil

import pytest

from taugen.load.root import find_place
from taugen.load.since import Since
from taugen.pipeline.check import judge
from tests.gitkit import commit, git, make_repo, write
from tests.policykit import FIXTURE

FOLD, GRID, TUNE = (f"workspaces/{name}/tau.yaml" for name in ("protein/fold", "climate/downscale", "speech/finetune"))
ALL = {FOLD, GRID, TUNE}


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "acme"
    shutil.copytree(FIXTURE, folder)
    make_repo(folder)
    commit(folder)
    return folder


def judged(repo, ref=None, base="main"):
    _, report = judge(find_place(repo), ref, since=Since(repo, base, ref))
    return {one.doc.file for one in report.compiled}


def sibling(repo, text, name="workspaces/climate/other/tau.yaml"):
    """Another run of the workspace climate, with code elsewhere."""
    write(
        repo,
        {"workspaces/climate/lib/main.py": "print()\n", name: (repo / GRID).read_text().replace("name: downscale", "name: other") + text},
    )
    commit(repo)


def test_nothing(repo):
    assert judged(repo) == set()
    write(repo, {"README.md": "x\n", "policies/x.yaml": "x: 1\n"})
    assert judged(repo) == set()


def test_a_document(repo):
    write(repo, {FOLD: (repo / FOLD).read_text() + "# x\n", "workspaces/speech/new/tau.yaml": "name: new\n"})
    assert judged(repo) == {FOLD, "workspaces/speech/new/tau.yaml"}
    commit(repo)
    assert judged(repo, "HEAD", "HEAD~1") == {FOLD, "workspaces/speech/new/tau.yaml"}


def test_a_folder_by_a_documents_name(repo):
    write(repo, {"workspaces/speech/new/tau.yaml/x": "1"})
    _, report = judge(find_place(repo), since=Since(repo, "main"))
    assert [d.rule for d in report.findings if "new/tau.yaml" in d.span.file] == ["document-unreadable"]


def test_code_beside_and_below(repo):
    write(repo, {"workspaces/climate/downscale/deep/er.py": "1\n", "workspaces/speech/finetune/train.py": None})
    assert judged(repo) == {GRID, TUNE}


def test_code_that_a_document_names(repo):
    sibling(repo, "code: {path: ../lib}\n")
    commit(repo, {"workspaces/climate/lib/main.py": "print(1)\n"})
    assert judged(repo, base="HEAD~1") == {"workspaces/climate/other/tau.yaml"}


@pytest.mark.parametrize(
    "module", ["workspaces/climate/grids.py", "workspaces/climate/grids/__init__.py", "workspaces/climate/shared/grids.py"]
)
@pytest.mark.parametrize("tracked", [True, False])
def test_a_new_module_that_an_untouched_run_imports(repo, module, tracked):
    """The run took it from its image so far; from now on it stands in the workspace and is not delivered."""
    commit(repo, {"workspaces/climate/downscale/train.py": "import grids\n"})
    base = git(repo, "rev-parse", "HEAD")
    write(repo, {module: "1\n", "workspaces/climate/new-run/other.py": "1\n"})
    if tracked:
        commit(repo)
    elif "shared" in module:
        pytest.skip("no folder is looked into that holds nothing tracked")
    _, whole = judge(find_place(repo))
    _, report = judge(find_place(repo), since=Since(repo, base))
    assert "import-not-delivered" in {d.rule for d in whole.findings}
    assert "import-not-delivered" in {d.rule for d in report.findings}
    assert {one.doc.file for one in report.compiled} == {GRID}
    assert judged(repo, "HEAD", base) == ({GRID} if tracked else set())


def test_code_beside_a_document_that_left(repo):
    sibling(repo, "")
    write(repo, {"workspaces/climate/other/grids.py": "1\n", "workspaces/climate/downscale/train.py": "import grids\n"})
    commit(repo)
    assert judged(repo, base="HEAD") == set()
    commit(repo, {"workspaces/climate/other/tau.yaml": None})
    assert judged(repo, base="HEAD~1") == {GRID}


def test_a_new_module_that_nobody_imports(repo):
    write(repo, {"workspaces/climate/os.py": "1\n", "workspaces/climate/my-words.py": "1\n", "workspaces/climate/unused.py": "1\n"})
    assert judged(repo) == set()


def test_dots_that_are_escaped(repo):
    sibling(repo, 'code: {path: "\\x2e\\x2e/lib"}\n')
    commit(repo, {"workspaces/climate/lib/main.py": "print(1)\n"})
    assert judged(repo, base="HEAD~1") == {"workspaces/climate/other/tau.yaml"}


def test_code_behind_links(repo):
    write(repo, {"workspaces/climate/lib/main.py": "1\n"})
    os.symlink("../lib", repo / "workspaces/climate/downscale/lib")
    commit(repo)
    write(repo, {"workspaces/climate/lib/main.py": "2\n"})
    assert judged(repo) == {GRID}
    commit(repo)
    (repo / "workspaces/climate/downscale/lib").unlink()
    os.symlink("..", repo / "workspaces/climate/downscale/lib")
    assert judged(repo) == {GRID}


def test_attributes_count_for_all_below(repo):
    write(repo, {"workspaces/climate/.gitattributes": "*.py filter=lfs\n"})
    assert judged(repo) == {GRID}
    write(repo, {".gitattributes": "*.py filter=lfs\n"})
    assert judged(repo) == ALL


@pytest.mark.parametrize(
    "path", ["taugen.yaml", "policy/profiles.yaml", "overlays/mesa/registry.yaml", "taugen.lock", ".taugen/schemas/x.json"]
)
def test_policy_touches_everything(repo, path):
    write(repo, {path: ((repo / path).read_text() if (repo / path).exists() else "") + "\n"})
    assert judged(repo) == ALL


def test_policy_behind_a_link(repo):
    write(repo, {"shared/profiles.yaml": (repo / "policy/profiles.yaml").read_text(), "policy/profiles.yaml": None})
    os.symlink("../shared/profiles.yaml", repo / "policy/profiles.yaml")
    commit(repo)
    write(repo, {"shared/profiles.yaml": "kind: Nonsense\n"})
    assert judged(repo) == ALL


def test_runs_outside_of_workspaces(repo):
    text = (repo / "taugen.yaml").read_text() + "  runs: [workspaces/*/**/tau.yaml, jobs/**/tau.yaml]\n"
    write(repo, {"taugen.yaml": text, "jobs/a/tau.yaml": "name: a\n", "jobs/a/x.py": "1\n"})
    commit(repo)
    write(repo, {"jobs/a/x.py": "2\n"})
    assert judged(repo) == {"jobs/a/tau.yaml"}


def test_a_name_that_is_taken_by_an_untouched_document(repo):
    text = (repo / GRID).read_text()
    write(repo, {"workspaces/climate/copy/tau.yaml": text, "workspaces/climate/copy/train.py": "1\n"})
    _, report = judge(find_place(repo), since=Since(repo, "main"))
    assert {d.span.file for d in report.findings if d.rule == "run-name-twice"} == {GRID, "workspaces/climate/copy/tau.yaml"}


def test_a_file_that_no_pattern_matches_is_named(repo):
    write(repo, {"elsewhere/tau.yml": "name: x\n", "workspaces/climate/x/.tau.yaml": "name: x\n"})
    _, report = judge(find_place(repo), since=Since(repo, "main"))
    assert {d.span.file for d in report.findings if d.rule == "document-unmatched"} == {
        "elsewhere/tau.yml",
        "workspaces/climate/x/.tau.yaml",
    }


def test_random_changes_are_judged_as_by_a_full_check(repo):
    """Findings about touched documents are those of a full check, and no other document's findings differ from before."""
    import random

    dice = random.Random(7)
    files = git(repo, "ls-files", "workspaces").splitlines()
    for _ in range(12):
        path = dice.choice(files)
        text = (repo / path).read_text()
        lines = text.splitlines()
        del lines[dice.randrange(len(lines))]
        write(repo, {path: "\n".join(lines) + "\n"})
        _, full = judge(find_place(repo))
        _, part = judge(find_place(repo), since=Since(repo, "main"))
        touched = {one.doc.file for one in part.compiled} | {path}
        assert [d for d in full.findings if d.span.file in touched] == [d for d in part.findings if d.span.file in touched]
        git(repo, "checkout", "-q", ".")
