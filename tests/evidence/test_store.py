"""Reading a branch: in a work tree's repository, a partial clone, a bare one, behind a URL."""

import json
from dataclasses import dataclass

import pytest

from taugen.diag import Refused
from taugen.evidence import history, store
from taugen.evidence.paths import RunKey
from taugen.evidence.store import Branch, Checkpoint
from taugen.load import git
from tests import evidencekit, gitkit

RUN = evidencekit.RUN
OTHER = RunKey("alps", "robots", "walk-00c0ffee")
SECOND = {
    RUN.attempt(1).record: b'{"id":{"attempt":1}}\n',
    RUN.attempt(1).series("checkpoints", 2): b"".join(
        json.dumps(Checkpoint(step, f"/data/{step}", None, 7, "done").line()).encode() + b"\n" for step in (20, 30)
    ),
    RUN.attempt(1).series("checkpoints", 1): json.dumps(Checkpoint(10, "/data/10").line()).encode() + b"\nno json\n{}\n",
    RUN.attempt(1).log("quickstart-0", "main", 10): b"b\n",
    RUN.attempt(1).log("quickstart-0", "main", 9): b"a\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    first = {RUN.intent: b"run: speech/quickstart/a87f5b3c\nattempt: 1\n", **evidencekit.files(), **evidencekit.files(OTHER)}
    return evidencekit.make(
        tmp_path_factory.mktemp("evidence") / "repo", first, SECOND, evidencekit.files(RUN, 2), evidencekit.files(RUN, 10), {"README": "x"}
    )


def opened(repo):
    return Branch(repo, gitkit.git(repo, "rev-parse", "evidence"))


@dataclass
class Where:
    url: str | None
    branch: str = "evidence"


def found(repo, url):
    return store.find(repo, Where(url))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TAUGEN_CACHE", str(tmp_path / "cache"))


@pytest.fixture(params=["clone", "partial", "url", "bare", "relative"])
def branch(request, repo, tmp_path):
    """The same branch, however it is reached."""
    gitkit.git(repo, "config", "uploadpack.allowFilter", "true")
    gitkit.git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    if request.param == "bare":
        gitkit.git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
        return found(tmp_path / "bare.git", None)
    if request.param == "partial":
        gitkit.git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo}", "partial")
        return found(tmp_path / "partial", None)
    if request.param == "url":
        return found(tmp_path, f"file://{repo}")
    if request.param == "relative":
        return found(repo.parent, "repo")
    gitkit.git(tmp_path, "clone", "-q", "--no-checkout", str(repo), "clone")
    return found(tmp_path / "clone", None)


def test_everything_is_read_wherever_the_branch_is(branch):
    assert branch.clusters() == ["alps", "fjord"]
    assert branch.runs() == [OTHER, RUN]
    assert (branch.runs(cluster="alps"), branch.runs(workspace="speech"), branch.runs("alps", "speech")) == ([OTHER], [RUN], [])
    assert [attempt.number for attempt in branch.attempts(RUN)] == [1, 2, 10]
    assert [str(event.type) for event in branch.events(RUN.attempt(1))] == ["submitted", "queued", "admitted"]
    assert branch.history(RUN.attempt(2)).state == "admitted"
    assert branch.record(RUN.attempt(1)) == {"id": {"attempt": 1}}
    assert (branch.record(RUN.attempt(2)), branch.history(RUN.attempt(3))) == (None, None)
    assert branch.attempts(RunKey("x", "y", "z-00000000")) == []
    assert branch.intent(RUN) == {"run": "speech/quickstart/a87f5b3c", "attempt": 1}
    assert branch.intent(OTHER) is None
    assert [checkpoint.step for checkpoint in branch.checkpoints(RUN.attempt(1))] == [10, 20, 30]
    assert [path[-9:] for path in branch.logs(RUN.attempt(1))] == ["ain.9.txt", "in.10.txt"]
    assert branch.read_many([RUN.attempt(1).record, "README", "nowhere/x", RUN.folder]) == [SECOND[RUN.attempt(1).record], b"x", None, None]
    assert branch.paths(OTHER.folder) == sorted(evidencekit.files(OTHER))


def test_only_what_is_read_is_fetched(repo, tmp_path):
    gitkit.git(repo, "config", "uploadpack.allowFilter", "true")
    branch = found(tmp_path, f"file://{repo}")
    record = gitkit.git(repo, "rev-parse", f"evidence:{RUN.attempt(1).record}")
    intent = gitkit.git(repo, "rev-parse", f"evidence:{RUN.intent}")
    assert branch.objects.named([record, intent]) == [None, None]
    assert branch.record(RUN.attempt(1)) is not None
    assert [content is not None for content in branch.objects.named([record, intent])] == [True, False]
    assert gitkit.git(branch.repo, "rev-list", "--count", branch.tip) == "1"


def test_an_id_that_the_server_lacks_does_not_hide_the_others(repo, tmp_path):
    gitkit.git(repo, "config", "uploadpack.allowFilter", "true")
    branch = found(tmp_path, f"file://{repo}")
    record = gitkit.git(repo, "rev-parse", f"evidence:{RUN.attempt(1).record}")
    assert [content is None for content in branch.objects.read(["1" * 40, record, "2" * 40])] == [True, False, True]


def test_later_commits_are_fetched_into_the_same_place(tmp_path):
    repo = evidencekit.make(tmp_path / "repo", evidencekit.files())
    gitkit.git(repo, "config", "uploadpack.allowFilter", "true")
    assert len(found(tmp_path, f"file://{repo}").runs()) == 1
    gitkit.commit(repo, evidencekit.files(OTHER))
    assert len(found(tmp_path, f"file://{repo}").runs()) == 2


def test_no_branch_is_an_empty_one(tmp_path):
    repo = gitkit.make_repo(tmp_path / "repo", {"a": "b"})
    for url in (None, f"file://{repo}", "."):
        branch = found(repo, url)
        assert (branch.tip, branch.runs(), branch.paths(), branch.added_by(["a"])) == (None, [], [], {})
        assert branch.events(RUN.attempt(1)) == []


def test_a_remote_that_is_away_is_refused(tmp_path):
    with pytest.raises(Refused, match="branch evidence of file:///nowhere") as refused:
        found(tmp_path, "file:///nowhere")
    assert refused.value.code == 4


def test_of_a_branch_and_what_was_fetched_of_it_the_newer_counts(repo, tmp_path):
    gitkit.git(tmp_path, "clone", "-q", "--bare", str(repo), "clone")
    clone = tmp_path / "clone"
    newest = gitkit.git(clone, "rev-parse", "evidence")
    gitkit.git(clone, "update-ref", "refs/remotes/origin/evidence", newest)
    gitkit.git(clone, "update-ref", "refs/heads/evidence", f"{newest}~2")
    assert found(clone, None).tip == newest
    gitkit.git(clone, "update-ref", "refs/heads/evidence", newest)
    gitkit.git(clone, "update-ref", "refs/remotes/origin/evidence", f"{newest}~2")
    assert found(clone, None).tip == newest


def test_added_by_is_the_commit_that_made_the_file_as_it_is(tmp_path):
    record = RUN.attempt(1).record
    repo = evidencekit.make(tmp_path / "repo", evidencekit.files(), {record: b"{}\n"})
    first, second = gitkit.git(repo, "rev-list", "--reverse", "evidence").split()
    path = next(iter(evidencekit.files()))
    assert opened(repo).added_by([path, record, "nowhere"]) == {path: first, record: second}
    third = gitkit.commit(repo, {record: b'{"forged":1}\n'})
    assert opened(repo).added_by([record]) == {record: third}
    assert opened(repo).added_by([f"x{n}" for n in range(500)] + [record]) == {record: third}


def test_a_message_can_not_pass_for_a_change(tmp_path):
    repo = evidencekit.make(tmp_path / "repo", {"a": "1"})
    tricky = gitkit.commit(repo, {"b": "1"}, f"x\n\n\x01{'0' * 40}\n:000000 100644 {'0' * 40} {'1' * 40} A\tc\n")
    assert opened(repo).added_by(["a", "b", "c"]) == {"a": gitkit.git(repo, "rev-parse", "evidence~1"), "b": tricky}


def test_a_damaged_repository_is_an_error(repo, tmp_path):
    with pytest.raises(git.GitError):
        Branch(tmp_path, "0" * 40).runs()


def test_a_file_that_holds_no_event_decides_nothing(tmp_path):
    """Where only those that decide are read, the one before it is found all the same."""
    attempt = RUN.attempt(1)
    last = evidencekit.event("evicted", 5, reason="Preempted", message="for another")
    broken = {f"{attempt.folder}/events/20260601T000000Z-failed-0123456789abcdef.json": b"{}\n"}
    files = {**evidencekit.files(), last.path(attempt): last.content(), **broken}
    branch = opened(evidencekit.make(tmp_path / "repo", files))
    whole, part = (history.fold(found[attempt]) for found in (branch.events_of([attempt]), branch.deciding_of([attempt])))
    assert whole is not None
    assert part is not None
    assert (part.state, part.reason, part.message) == (whole.state, "Preempted", "for another")
