"""The summary of a cluster: who writes it when, who believes it, and what becomes of one that lies."""

import gzip
from datetime import UTC, datetime

import pytest
from msgspec import structs

from taugen.evidence import index, summarize, summary
from taugen.evidence.cache import Cache
from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import RunKey
from taugen.evidence.sink import Sink
from taugen.evidence.store import Branch
from taugen.evidence.verify import verify
from taugen.load import fastimport
from taugen.load import git as door
from taugen.load.partial import Objects
from taugen.pipeline import runs, view
from tests.evidence.test_index import key, listed, write
from tests.gitkit import git, make_repo
from tests.readers.kit import Evidence


def packed(text: bytes) -> bytes:
    """The same bytes at any time: tests are named after them."""
    return gzip.compress(text, mtime=0)


@pytest.fixture
def evidence(tmp_path):
    return Evidence(make_repo(tmp_path / "r", {"x": "x"}))


def summarized(repo, cluster, lines=None):
    """Write a summary of a cluster of a repository as it is; `lines` changes it first."""
    ref, tip = f"refs/heads/{summary.branch_of('evidence', cluster)}", git(repo, "rev-parse", "evidence")
    old = door.find(repo, ref)
    with Objects(repo) as objects:
        folders = summarize.runs_in(objects, index.buckets(objects, tip, [cluster]))
        changes = list(summarize.changed(objects, folders, old))
    if lines is not None:
        changes = [(path, summary.packed(map(lines, summary.lines(content)))) for path, content in changes if content is not None]
    if changes:
        who = b"taugen collector x <c@example.org> 1788220800 +0000"
        new = fastimport.commit_tree(
            repo, parents=[old] if old else [], message=b"x\n", author=who, committer=who, changes=changes, base=old
        )
        fastimport.update_ref(repo, ref, new, old)
    return {cluster: door.find(repo, ref)}


def told(repo, cluster, commit):
    tip = git(repo, "rev-parse", "evidence")
    with Objects(repo) as objects:
        return summary.read(objects, commit, cluster, summarize.runs_in(objects, index.buckets(objects, tip, [cluster])))


def test_a_summary_says_what_names_say(evidence, monkeypatch):
    write(evidence, range(120), count=9)
    plain = listed(evidence)
    every = summarized(evidence.repo, "fjord") | summarized(evidence.repo, "mesa")
    assert {cluster: len(told(evidence.repo, cluster, commit)) for cluster, commit in every.items()} == {
        cluster: sum(one.cluster == cluster and bool(attempts) for one, attempts in plain.items()) for cluster in every
    }
    assert listed(evidence, summaries=every) == plain
    assert list(listed(evidence, summaries=every)) == list(plain), "in the order of their paths"
    one = {"clusters": ["fjord"], "workspaces": ["climate"]}
    assert listed(evidence, summaries=every, **one) == listed(evidence, **one)

    write(evidence, range(90, 140), count=7, seed=1)
    after = listed(evidence)
    assert after != plain
    assert listed(evidence, summaries=every) == after, "what changed since is read"
    cache = Cache(evidence.repo / "cache.sqlite")
    for _ in range(2):
        assert listed(evidence, cache, summaries=every) == after
    monkeypatch.setattr(index, "_MANY", 3)
    assert listed(evidence, summaries=every) == after, "so much changed that all is read"


def test_only_days_on_which_something_happened_are_written_anew(evidence):
    write(evidence, range(40))
    first = summarized(evidence.repo, "fjord")["fjord"]
    assert summarized(evidence.repo, "fjord")["fjord"] == first, "no news, no commit"
    late = Event(EventType.SUBMITTED, "2026-05-06T10:00:00Z", "late")
    evidence.commit("fjord", {late.path(key(200).attempt(1)): late.content()})
    second = summarized(evidence.repo, "fjord")["fjord"]
    assert git(evidence.repo, "diff", "--name-only", first, second).split() == ["2026-05/06.jsonl.gz"]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"no gzip", packed(b"another form\n"), packed(summary.FORM + b"[1,2"), packed(summary.FORM + b"[]\n"),
        packed(summary.FORM + b'["w","r-00000000","t",[]]\n'), packed(summary.FORM + b"[" * 100_000),
        packed(summary.FORM + b'["w","r-00000000","t",[[1,"succeeded","yesterday","","","","",0,true]]]\n'),
        packed(summary.FORM + b'["w","r-00000000","t",[[1,"marvellous","","","","","",0,true]]]\n'),
        packed(b"\0" * 200_000_000),
    ],
)  # fmt: skip
def test_what_is_no_summary_is_passed_over(content):
    assert summary.lines(content) == []


def lie(line):
    attempts = [structs.replace(one, state="failed", last="failed", ended="20260504T101010Z") for one in line.attempts]
    return structs.replace(line, attempts=attempts)


def test_a_listing_believes_no_summary_that_lies(tmp_path):
    branch = Evidence(make_repo(tmp_path / "r", {"taugen.yaml": "kind: Project\nmetadata: {name: p}\nspec: {}\n"}))
    write(branch, range(60), count=9)
    now = datetime(2026, 5, 4, 11, tzinfo=UTC)
    plain = runs.listing(view.of(branch.repo), runs.Wanted(limit=20), now)
    summarized(branch.repo, "fjord")
    honest = runs.listing(view.of(branch.repo), runs.Wanted(limit=20), now)
    assert (honest.rows, honest.total, honest.notes) == (plain.rows, plain.total, ())
    git(branch.repo, "branch", "-D", "evidence-summary/fjord")
    lies = summarized(branch.repo, "fjord", lie)
    found = runs.listing(view.of(branch.repo), runs.Wanted(limit=20), now)
    assert (found.rows, found.total) == (plain.rows, plain.total)
    assert "taugen evidence verify" in found.notes[0]
    proven = Branch(branch.repo, git(branch.repo, "rev-parse", "evidence"))
    findings = [one for one in verify(proven, summaries=lies).findings if one.rule == "evidence-summary"]
    assert findings
    assert all("fjord" in one.span.file for one in findings)
    honest = summarized(branch.repo, "mesa")
    assert not [one for one in verify(proven, summaries=honest).findings if one.rule == "evidence-summary"]


def test_a_summary_of_one_cluster_says_nothing_of_another(evidence):
    write(evidence, range(60), count=9)
    plain = listed(evidence)
    mesa = summarized(evidence.repo, "mesa", lie)["mesa"]
    assert listed(evidence, summaries={"fjord": mesa}) == plain


def batch(number, time):
    run = RunKey("fjord", "speech", f"train-{number:08x}")
    event = Event(EventType.SUBMITTED, time, f"u{number}")
    return {event.path(run.attempt(1)): event.content()}


def test_a_collector_writes_it_once_an_hour_from_some_runs_on(tmp_path):
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    git(remote, "config", "uploadpack.allowFilter", "true")
    git(remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    sink = Sink(tmp_path / "own", remote.as_uri(), "evidence", "taugen collector fjord", least=2)

    def wrote(number, time):
        sink.append(batch(number, time), "x", [], time)
        sink.flush()
        found = door.find(remote, "refs/heads/evidence-summary/fjord")
        return int(git(remote, "rev-list", "--count", found)) if found else 0

    assert wrote(1, "2026-05-04T10:00:00Z") == 0, "too few runs"
    assert wrote(2, "2026-05-04T10:10:00Z") == 0
    assert wrote(3, "2026-05-04T11:00:00Z") == 1
    assert wrote(4, "2026-05-04T11:59:00Z") == 1
    assert wrote(5, "2026-05-04T12:00:00Z") == 2
    assert len(told(remote, "fjord", door.find(remote, "refs/heads/evidence-summary/fjord"))) == 5
    anew = Sink(tmp_path / "another", remote.as_uri(), "evidence", "taugen collector fjord", least=2)
    sink = anew
    assert wrote(6, "2026-05-04T12:30:00Z") == 2, "whoever begins anew goes by the branch"
    assert wrote(7, "2026-05-04T13:00:00Z") == 3

    # Nobody may write it: the evidence goes on.
    git(remote, "update-ref", "-d", "refs/heads/evidence-summary/fjord")
    git(remote, "update-ref", "refs/heads/evidence-summary", "evidence")
    assert wrote(8, "2026-05-04T14:00:00Z") == 0
    assert git(remote, "rev-list", "--count", "evidence") == "8"


def test_it_goes_with_the_next_push_of_evidence(tmp_path):
    """A push of its own would be a seventh within some minutes."""
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    hook = remote / "hooks" / "post-receive"
    hook.write_text("#!/bin/sh\n{ cut -d' ' -f3; echo .; } >> pushes\n")
    hook.chmod(0o755)
    sink = Sink(tmp_path / "own", str(remote), "evidence", "taugen collector fjord", least=1)
    for number, time in enumerate(("10:00", "10:01", "10:02", "11:00", "11:01")):
        assert sink.append(batch(number, f"2026-05-04T{time}:00Z"), "x", [], f"2026-05-04T{time}:00Z")
    evidence, both = "refs/heads/evidence\n", "refs/heads/evidence\nrefs/heads/evidence-summary/fjord\n"
    assert (remote / "pushes").read_text() == ".\n".join([evidence, both, evidence, evidence, both, ""])

    # One that the server refuses holds nothing up.
    (remote / "hooks" / "update").write_text("#!/bin/sh\ncase $1 in *summary*) exit 1;; esac\n")
    (remote / "hooks" / "update").chmod(0o755)
    for number, time in enumerate(("12:00", "12:01", "12:02"), 5):
        assert sink.append(batch(number, f"2026-05-04T{time}:00Z"), "x", [], f"2026-05-04T{time}:00Z")
    assert git(remote, "rev-list", "--count", "evidence") == "8"
    # Nor does a server that refuses both for its sake.
    (remote / "hooks" / "update").rename(remote / "hooks" / "pre-receive")
    (remote / "hooks" / "pre-receive").write_text("#!/bin/sh\n! grep -q summary\n")
    for number, time in enumerate(("13:00", "13:01", "13:02"), 8):
        assert sink.append(batch(number, f"2026-05-04T{time}:00Z"), "x", [], f"2026-05-04T{time}:00Z")
    assert git(remote, "rev-list", "--count", "evidence") == "11"
    assert git(remote, "rev-list", "--count", "evidence-summary/fjord") == "2"


def test_from_a_url_only_the_upper_folders_are_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("TAUGEN_CACHE", str(tmp_path / "cache"))
    repo = make_repo(tmp_path / "r", {"taugen.yaml": "kind: Project\nmetadata: {name: p}\nspec: {}\n"})
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    written = Evidence(repo)
    write(written, range(60), count=9)
    summarized(repo, "fjord")
    summarized(repo, "mesa")
    now = datetime(2026, 5, 4, 11, tzinfo=UTC)
    wanted = runs.Wanted(limit=3)
    here = view.of(repo)
    there = view.of(tmp_path, repo.as_uri())
    assert there.evidence.repo.parent.name == "runs"
    assert runs.listing(there, wanted, now).rows == runs.listing(here, wanted, now).rows
    count = git(there.evidence.repo, "count-objects", "-v")
    assert int(count.split("in-pack: ")[1].split()[0]) < 400, count
    # Told of the evidence that is here, a server would read all of it to find out what a summary still needs.
    asked: list[list[str]] = []
    real = door.start
    monkeypatch.setattr(door, "start", lambda args, **more: asked.append(list(args)) or real(args, **more))
    view.of(tmp_path, repo.as_uri())
    fetched = [args for args in asked if args[0] == "fetch" and "evidence-summary" in args[-1]]
    assert [[word for word in args if "negotiation" in word] for args in fetched] == [["--negotiation-tip=refs/taugen/summary/evidence/*"]]
    # What is below is fetched when it is asked for.
    every = runs.Wanted()
    assert runs.listing(there, every, now).rows == runs.listing(here, every, now).rows
    write(written, range(50, 90), count=7, seed=2)
    here, there = view.of(repo), view.of(tmp_path, repo.as_uri())
    assert runs.listing(there, every, now).rows == runs.listing(here, every, now).rows
    for one in (key(7), key(61)):
        assert there.evidence.paths(one.folder) == here.evidence.paths(one.folder)
        assert there.evidence.events_of([one.attempt(1)]) == here.evidence.events_of([one.attempt(1)])
    assert there.evidence.paths() == here.evidence.paths()
    monkeypatch.setattr(index, "_MANY", 1)
    git(repo, "branch", "-D", "evidence-summary/mesa")
    assert runs.listing(view.of(tmp_path, repo.as_uri()), every, now).rows == runs.listing(here, every, now).rows
