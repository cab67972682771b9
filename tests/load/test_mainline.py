"""Who brought a document, as merges, messages and trailers say it."""

import os
import subprocess

import pytest

from taugen.load.mainline import Brought, Mainline
from tests import gitkit

DOC, OTHER = "workspaces/a/tau.yaml", "workspaces/b/tau.yaml"


class History:
    def __init__(self, folder):
        self.repo = gitkit.make_repo(folder, {"README.md": "x\n"})
        self.count = 0

    def git(self, *args, who="Ada Lovelace", stdin=None):
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMITTER_NAME": "GitHub"}
        env |= {"GIT_AUTHOR_NAME": who, "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_EMAIL": "noreply@example.org"}
        done = subprocess.run(["git", *args], cwd=self.repo, env=env, input=stdin, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def change(self, message, *paths, who="Ada Lovelace"):
        self.count += 1
        for path in paths:
            gitkit.write(self.repo, {path: f"name: run-{self.count}\n"})
        self.git("add", ".")
        self.git("commit", "-q", "-m", message, who=who)

    def merge(self, branch, message, who):
        self.git("merge", "-q", "--no-ff", "-m", message, branch, who=who)

    def brought(self, *paths, ref="HEAD"):
        return Mainline(self.repo, self.git("rev-parse", ref)).brought(paths or (DOC,))


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "repo")


def test_a_plain_commit(history):
    history.change("Add a run", DOC)
    history.change("Something else", "README.md", who="Grace Hopper")
    assert history.brought() == {DOC: Brought("Ada Lovelace")}


@pytest.mark.parametrize(
    ("message", "pull"),
    [
        ("Add a run (#12)\n\n* one\n* two", "#12"),  # GitHub, squashed
        ("Merged in ada/run (pull request #7)\n\nAdd a run", "#7"),  # Bitbucket
        ("Merged PR 345: Add a run", "#345"),  # Azure DevOps
        ("Add a run\n\nSee merge request research/jobs!9", "research/jobs!9"),  # GitLab
        ("Merge pull request 'Add a run' (#3) from ada/run into main", "#3"),  # Gitea
        ("Add a run\n\nfixes (#12) of others", ""),
        ("Add run #12", ""),
        ("Merge pull request of mine", ""),
    ],
)
def test_how_forges_name_a_pull_request(history, message, pull):
    history.change(message, DOC)
    assert history.brought() == {DOC: Brought("Ada Lovelace", "", pull)}


def test_a_merge_names_who_wrote_and_who_merged(history):
    history.git("checkout", "-q", "-b", "topic")
    history.change("Add a run", DOC)
    history.change("Add another", OTHER, who="Alan Turing")
    history.git("checkout", "-q", "main")
    history.change("Meanwhile", "README.md")
    history.merge("topic", "Merge pull request #5 from ada/topic\n\nTwo runs", "Grace Hopper")
    expected = {DOC: Brought("Ada Lovelace", "Grace Hopper", "#5"), OTHER: Brought("Alan Turing", "Grace Hopper", "#5")}
    assert history.brought(DOC, OTHER) == expected
    history.change("Meanwhile", "README.md")
    assert history.brought(DOC, OTHER) == expected


def test_who_merges_what_he_wrote_approved_nothing(history):
    history.git("checkout", "-q", "-b", "topic")
    history.change("Add a run", DOC)
    history.git("checkout", "-q", "main")
    history.merge("topic", "Merge branch 'topic'", "Ada Lovelace")
    assert history.brought() == {DOC: Brought("Ada Lovelace")}


@pytest.mark.parametrize(
    ("trailer", "approver"),
    [
        ("Reviewed-by: Grace Hopper <grace@example.org>", "Grace Hopper"),
        ("Approved-by: Grace Hopper\nApproved-by: Alan Turing <t@example.org>", "Grace Hopper, Alan Turing"),
        ("Reviewed-by: Alan Turing <t@example.org>\nApproved-by: Grace Hopper", "Grace Hopper"),
        ("Acked-by: grace@example.org", "grace"),
        ("Signed-off-by: Ada Lovelace <a@example.org>", ""),
        ("Reviewed-by: nobody\nthis is no trailer", ""),
    ],
)
def test_trailers_say_who_approved(history, trailer, approver):
    history.change(f"Add a run\n\n{trailer}", DOC)
    assert history.brought() == {DOC: Brought("Ada Lovelace", approver)}


def test_no_address_and_nothing_that_can_not_be_shown(history):
    history.change("Add a run", DOC, who="ada@example.org \x07\u202eevil")
    assert history.brought() == {DOC: Brought("ada evil")}
    history.change("Again", DOC, who="A" * 300)
    assert history.brought() == {DOC: Brought("A" * 100)}


def test_the_newest_change_counts(history):
    history.change("Add a run", DOC)
    history.change("Edit it", DOC, who="Alan Turing")
    assert history.brought() == {DOC: Brought("Alan Turing")}
    assert history.brought(ref="HEAD~1") == {DOC: Brought("Ada Lovelace")}
    assert history.brought("workspaces/none/tau.yaml") == {}


def test_what_one_step_changed_is_known_without_a_look(history, monkeypatch):
    history.change("Add a run", DOC)
    before, now = history.git("rev-parse", "HEAD~1"), history.git("rev-parse", "HEAD")
    line = Mainline(history.repo, now)
    line.knows(before, [DOC])
    monkeypatch.setattr("taugen.load.mainline._newest", lambda *_: pytest.fail("git was asked"))
    assert line.brought([DOC]) == {DOC: Brought("Ada Lovelace")}


def test_many_paths_at_once(history):
    paths = [f"workspaces/w{number}/tau.yaml" for number in range(150)]
    history.change("Some", *paths[:100])
    history.change("Others", *paths[100:], who="Alan Turing")
    found = history.brought(*paths)
    assert [found[path].author for path in paths] == ["Ada Lovelace"] * 100 + ["Alan Turing"] * 50


def test_a_history_that_was_cut_off_names_nobody_for_what_is_older(history, tmp_path):
    history.change("Add a run", DOC)
    history.change("Another", OTHER, who="Alan Turing")
    history.change("Meanwhile", "README.md")
    history.git("clone", "-q", "--depth", "2", history.repo.as_uri(), str(tmp_path / "clone"))
    history.repo = tmp_path / "clone"
    assert history.brought(DOC, OTHER) == {}
    history.git("fetch", "-q", "--deepen", "1")
    assert history.brought(DOC, OTHER) == {OTHER: Brought("Alan Turing")}
