"""What Git never writes, but somebody can push: the proof finds it, and readers see what Git sees."""

import os
import subprocess

import pytest

from taugen.evidence import index, trailers
from taugen.evidence.store import Branch
from tests import evidencekit, gitkit
from tests.evidence.test_verify import RECORD, RUN, found, good, key, record_of, repo, rules, tip  # noqa: F401

# ruff: noqa: F811


def written(repo, kind, body):
    args = ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
    return subprocess.run(args, cwd=repo, input=body, capture_output=True, check=True).stdout.decode().strip()


def raw(repo, folder):
    return subprocess.run(["git", "cat-file", "tree", f"{tip(repo)}:{folder}"], cwd=repo, capture_output=True, check=True).stdout


def pushed(repo, tree, message=b"x\n", headers=b""):
    """A commit with a tree, byte for byte."""
    who = b"taugen collector fjord <x@example.org> 1777888920 +0000"
    body = b"tree %b\nparent %b\nauthor %b\ncommitter %b\n%b\n%b" % (tree.encode(), tip(repo).encode(), who, who, headers, message)
    gitkit.git(repo, "update-ref", "refs/heads/evidence", written(repo, "commit", body))


def with_folder(repo, folder, body):
    """The tree of the tip with another folder at a path."""
    tree = written(repo, "tree", body)
    while folder:
        folder, _, name = folder.rpartition("/")
        old, mine = raw(repo, folder), b"40000 " + name.encode() + b"\0"
        at = old.index(mine) + len(mine)
        tree = written(repo, "tree", old[:at] + bytes.fromhex(tree) + old[at + 20 :])
    return tree


@pytest.fixture
def forged():
    """A record of the attempt that says something else."""
    name, content = next(iter(record_of(RUN).items()))
    return name, content.replace(b'"version":"0.1"', b'"version":"0.2"')


@pytest.mark.parametrize("last", [True, False])
def test_a_second_file_under_one_path_is_found_and_read_by_nobody(repo, forged, last):
    path, content = forged
    folder = path.rpartition("/")[0]
    old = raw(repo, folder)
    at = old.index(b"100644 record.json\0")
    end = at + len(b"100644 record.json\0") + 20
    entry = b"100644 record.json\0" + bytes.fromhex(written(repo, "blob", content))
    body = old[:end] + entry + old[end:] if last else old[:at] + entry + old[at:]
    before = Branch(repo, tip(repo)).read_many([path])
    pushed(repo, with_folder(repo, folder, body), trailers.message("x", trailers.of({path: content})))
    assert {("evidence-content", path)} <= {one[:2] for one in found(repo)}
    if last:
        assert Branch(repo, tip(repo)).read_many([path]) == before
    else:
        assert "evidence-changed" in rules(repo) or "evidence-content" in rules(repo)


def test_zeros_before_a_mode_hide_nothing(repo):
    before = dict(index.standings(repo, tip(repo)))
    assert before
    body = raw(repo, "").replace(b"40000 ", b"040000 ")
    pushed(repo, written(repo, "tree", body))
    assert dict(index.standings(repo, tip(repo))) == before
    assert Branch(repo, tip(repo)).clusters() == ["alps", "fjord"]


def test_folders_in_another_order_are_found(repo):
    body = raw(repo, "")
    at = body.index(b"40000 fjord")
    pushed(repo, written(repo, "tree", body[at:] + body[:at]))
    assert any("order in which Git writes" in one[2] for one in found(repo))


@pytest.mark.parametrize(
    ("headers", "behind"), [(b"encoding UTF-16\n", b""), (b"", b"\0Tau-Run: speech/other-00000000\n"), (b"mergetag object\n x\n", b"")]
)
def test_a_commit_that_says_more_than_git_shows_is_found(repo, headers, behind):
    files = evidencekit.files(RUN, 2)
    env = {**os.environ, "GIT_INDEX_FILE": str(repo / "index")}
    subprocess.run(["git", "read-tree", tip(repo)], cwd=repo, env=env, check=True)
    for path, content in files.items():
        subprocess.run(
            ["git", "update-index", "--add", "--cacheinfo", f"100644,{written(repo, 'blob', content)},{path}"],
            cwd=repo,
            env=env,
            check=True,
        )
    tree = subprocess.run(["git", "write-tree"], cwd=repo, env=env, capture_output=True, check=True).stdout.decode().strip()
    pushed(repo, tree, trailers.message("x", trailers.of(files)) + behind, headers)
    assert [(one[0], "no collector writes" in one[2]) for one in found(repo)] == [("evidence-trailer", True)]
