"""What `verify` finds: every tampering, and nothing in what collectors write."""

import json
import subprocess

import pytest

from taugen.evidence import record, trailers
from taugen.evidence import verify as verifying
from taugen.evidence.paths import RunKey
from taugen.evidence.record import Extras
from taugen.evidence.sink import Sink
from taugen.evidence.store import Branch
from taugen.evidence.verify import verify
from taugen.load import fastimport, git, share
from taugen.words.canonical import jcs
from tests import evidencekit, gitkit

RUN = evidencekit.RUN
ALPS = RunKey("alps", "robots", "walk-00c0ffee")
TIME = "2026-05-04T10:02:00Z"
LOG = RUN.attempt(1).log("quickstart-0", "main", 1)
NODE = "fjord/nodes/2026/05/04/20260504T100000Z-node-0123456789abcdef.json"


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """Keys of two clusters."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("fjord", "alps"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name)], check=True)
    return lambda name: folder / name


@pytest.fixture(scope="module")
def signers(key):
    return {name: [key(name).with_suffix(".pub").read_text()] for name in ("fjord", "alps")}


def record_of(run, number=1, **more):
    events = [evidencekit.event(kind, minute) for minute, kind in enumerate(("submitted", "queued", "admitted", "failed"))]
    extras = Extras(collector="0.1", logs=more.get("logs", ()))
    return {run.attempt(number).record: record.content(record.build(run.attempt(number), {}, events, extras))}


@pytest.fixture(scope="module")
def good(tmp_path_factory, key):
    """A branch as two collectors write it, a project's repository with the source commit beside it."""
    folder = tmp_path_factory.mktemp("good")
    source = gitkit.make_repo(folder / "source", {"a": "b"})
    remote = gitkit.make_bare(folder / "remote.git")
    fjord, alps = (Sink(folder / name, str(remote), "evidence", f"taugen collector {name}", sign=key(name)) for name in ("fjord", "alps"))
    intent = f"run: x\nintent:\n  commit: {gitkit.git(source, 'rev-parse', 'HEAD')}\n  digest: {'d' * 64}\n".encode()
    kinds = ("submitted", "queued", "admitted", "failed")
    log = b"step 1\n"
    logs = [{"path": LOG, "sha256": "0" * 64, "bytes": len(log), "redactions": 0}]
    logs[0]["sha256"] = subprocess.run(["sha256sum"], input=log, capture_output=True, check=True).stdout.decode().split()[0]
    resume = [("Tau-Collector", "fjord taugen 0.1"), ("Tau-Resume", "jobs=7")]
    fjord.append({RUN.intent: intent, **evidencekit.files(kinds=kinds)}, "5 events", resume, TIME)
    alps.append({ALPS.intent: intent, **evidencekit.files(ALPS, kinds=kinds)}, "5 events", [], TIME)
    fjord.append({LOG: log, NODE: jcs({"a": 1}) + b"\n", **record_of(RUN, logs=logs)}, "the record", resume, TIME)
    alps.append(record_of(ALPS), "the record", [], TIME)
    return remote, source


@pytest.fixture
def repo(good, tmp_path):
    gitkit.git(tmp_path, "clone", "-q", "--bare", str(good[0]), "copy.git")
    return tmp_path / "copy.git"


def tip(repo):
    return gitkit.git(repo, "rev-parse", "evidence")


def forge(repo, files, *, author="taugen collector fjord", parents=None, message=None, base=None, sign=None):
    """A commit on the branch as somebody with a right to push makes it."""
    parents = [tip(repo)] if parents is None else parents
    said = trailers.of({path: content for path, content in files.items() if content is not None})
    text = message if message is not None else trailers.message("forged", said)
    who = f"{author} <x@example.org> 1777888920 +0000".encode()
    base = base or (parents[0] if parents else None)
    new = fastimport.commit_tree(repo, parents=parents, message=text, author=who, committer=who, changes=list(files.items()), base=base)
    if sign is not None:
        env = {
            f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", author), ("EMAIL", "x@example.org"))
        }
        settings = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={sign}"]
        args = [*settings, "commit-tree", "-S", "-F", "-", "-p", parents[0], f"{new}^{{tree}}"]
        new = git.run(args, cwd=repo, stdin=text, env_extra=env).out.decode().strip()
    gitkit.git(repo, "update-ref", "refs/heads/evidence", new)
    return new


def found(repo, **more):
    alone = verify(Branch(repo, tip(repo)), **more)
    # Many processes, each of which looks at a part of the commits, find the same in the same order.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifying, "_FEWEST", 1)
        patch.setattr(share, "processors", lambda: 3)
        assert verify(Branch(repo, tip(repo)), **more) == alone
    return [(one.rule, one.span.file, one.message) for one in alone.findings]


def rules(repo, **more):
    return {rule for rule, _, _ in found(repo, **more)}


def test_what_collectors_write_has_no_findings(repo, good, signers):
    proof = verify(Branch(repo, tip(repo)), signers=signers, source=good[1])
    assert proof.findings == []
    assert (proof.commits, proof.files, proof.records, proof.signed) == (4, 14, 2, 4)


def test_a_partial_clone_proves_the_same(good, tmp_path, signers):
    gitkit.git(good[0], "config", "uploadpack.allowFilter", "true")
    gitkit.git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{good[0]}", "partial.git")
    assert found(tmp_path / "partial.git", signers=signers) == []


def test_an_empty_branch_is_proven_unless_it_was_not_empty_before(tmp_path):
    repo = gitkit.make_bare(tmp_path / "r.git")
    assert verify(Branch(repo, None)).findings == []
    assert [one.rule for one in verify(Branch(repo, None), since="1" * 40).findings] == ["evidence-history"]


EVENT = sorted(evidencekit.files())[1]
RECORD = RUN.attempt(1).record


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({EVENT: b"{}\n"}, ["it was changed"]),
        ({RECORD: b"{}\n"}, ["it was changed"]),
        ({EVENT: None}, ["it was deleted"]),
        ({RECORD: None, LOG: None}, ["it was deleted", "it was deleted"]),
        ({RUN.intent: b"run: y\n"}, ["it was changed"]),
    ],
    ids=["edit of an event", "edit of a record", "deletion", "deletions", "edit of the intent"],
)
def test_a_file_that_was_changed_is_named_with_the_commit(repo, files, said):
    made = forge(repo, files, message=b"tidy up\n", author="Mallory")
    got = [one for one in found(repo) if one[0] == "evidence-changed"]
    assert [one[1] for one in got] == sorted(files)
    assert [one[2] for one in got] == [f"{what} in commit {made} by Mallory" for what in said]


def test_a_change_that_was_taken_back_is_still_found(repo):
    before = tip(repo)
    forge(repo, {EVENT: b"{}\n"}, message=b"x\n")
    forge(repo, {}, base=before, message=b"back\n")
    assert gitkit.git(repo, "rev-parse", "evidence^{tree}") == gitkit.git(repo, "rev-parse", f"{before}^{{tree}}")
    assert [rule for rule, _, _ in found(repo)] == ["evidence-changed"] * 2


def test_a_renamed_file_is_named_with_its_new_name(repo):
    content = Branch(repo, tip(repo)).read_many([RECORD])[0]
    other = RUN.attempt(2).record
    forge(repo, {RECORD: None, other: content})
    got = found(repo)
    assert any(rule == "evidence-changed" and path == RECORD and f"renamed to {other}" in said for rule, path, said in got)
    assert any(rule == "evidence-content" and path == other and "attempt 1" in said for rule, path, said in got)


@pytest.mark.parametrize("mode", ["100755", "120000"])
def test_a_mode_that_was_changed_is_found(repo, mode):
    blob = gitkit.git(repo, "rev-parse", f"evidence:{EVENT}")
    listing = gitkit.git(repo, "ls-tree", "-r", "evidence").replace(f"100644 blob {blob}\t{EVENT}", f"{mode} blob {blob}\t{EVENT}")
    (repo / "index").unlink(missing_ok=True)
    gitkit.git(repo, "update-index", "--add", "--index-info", stdin=(listing + "\n").encode())
    new = gitkit.git(repo, "commit-tree", gitkit.git(repo, "write-tree"), "-p", "evidence", "-m", "mode")
    gitkit.git(repo, "update-ref", "refs/heads/evidence", new)
    assert rules(repo) == {"evidence-changed"}


def test_a_merge_hides_nothing(repo):
    """`merge -s ours` drops what the other side has; an evil merge changes a file that neither side touched, or adds one."""
    start = tip(repo)
    side = forge(repo, evidencekit.files(RUN, 2))
    gitkit.git(repo, "update-ref", "refs/heads/evidence", start)
    other = forge(repo, evidencekit.files(ALPS, 2), author="taugen collector alps")
    forge(repo, evidencekit.files(RUN, 2), parents=[other, side], message=b"an honest merge\n")
    assert found(repo) == []
    merged = tip(repo)
    forge(repo, {}, parents=[other, side], message=b"ours\n")
    assert {(rule, path) for rule, path, _ in found(repo)} == {("evidence-changed", path) for path in evidencekit.files(RUN, 2)}
    forge(repo, {**evidencekit.files(RUN, 2), EVENT: b"{}\n"}, parents=[other, side], message=b"evil\n")
    assert ("evidence-changed", EVENT) in {(rule, path) for rule, path, _ in found(repo)}
    forge(repo, {**evidencekit.files(RUN, 2), **evidencekit.files(RUN, 3)}, parents=[other, side], message=b"evil\n", author="Mallory")
    assert rules(repo) == {"evidence-trailer", "evidence-cluster"}
    gitkit.git(repo, "update-ref", "refs/heads/evidence", merged)


def test_a_rewritten_history_is_found_by_a_tip_known_from_before(repo):
    known = tip(repo)
    assert found(repo, since=known) == []
    forge(repo, evidencekit.files(RUN, 2), parents=[gitkit.git(repo, "rev-parse", f"{known}~1")])
    assert [one[0] for one in found(repo, since=known)] == ["evidence-history"]
    assert f"{known}, known from before" in found(repo, since=known)[0][2]
    assert [one[0] for one in found(repo, since="1" * 40)] == ["evidence-history"]


def test_since_looks_only_at_what_came_after(repo):
    forge(repo, {EVENT: None}, message=b"x\n")
    known = tip(repo)
    forge(repo, evidencekit.files(RUN, 2))
    assert rules(repo) == {"evidence-changed"}
    assert found(repo, since=known) == []


def test_a_branch_that_merges_another_beginning_is_found(repo):
    start = tip(repo)
    root = forge(repo, evidencekit.files(RUN, 2), parents=[])
    gitkit.git(repo, "update-ref", "refs/heads/evidence", start)
    forge(repo, evidencekit.files(RUN, 2), parents=[start, root], message=b"join\n")
    assert rules(repo) == {"evidence-history"}


def test_a_rotated_branch_goes_on_from_the_one_before(repo):
    old = tip(repo)
    root = forge(repo, {}, parents=[], message=f"Evidence of 2027\n\nTau-Previous: {old}\n".encode())
    forge(repo, evidencekit.files(RUN, 2))
    assert found(repo) == []
    assert found(repo, since=old) == []
    assert found(repo, since=gitkit.git(repo, "rev-parse", f"{old}~1")) == []
    assert root != old
    forge(repo, {}, parents=[], message=f"Evidence\n\nTau-Previous: {'1' * 40}\n".encode())
    assert rules(repo) == {"evidence-rotated"}
    assert rules(repo, since=old) == {"evidence-rotated", "evidence-history"}


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (lambda lines: [*lines, ("Tau-Record-Digest", f"{RECORD} {'0' * 64}")], "says Tau-Record-Digest"),
        (lambda lines: [*lines, ("Tau-Run", "speech/other-00000000")], "says Tau-Run"),
        (lambda lines: [*lines, ("Tau-Source-Commit", f"speech/x {'0' * 40}")], "says Tau-Source-Commit"),
        (lambda lines: lines[1:], "does not say Tau-Attempt"),
        (lambda lines: [(key, value[:-1] + "9") if key == "Tau-Attempt" else (key, value) for key, value in lines], "says Tau-Attempt"),
    ],
)
def test_a_forged_trailer_is_found(repo, said, what):
    files = evidencekit.files(RUN, 2)
    forge(repo, files, message=trailers.message("x", said(trailers.of(files))))
    assert any(rule == "evidence-trailer" and what in message for rule, _, message in found(repo))


def test_a_record_digest_that_is_not_the_files_is_found(repo):
    files = record_of(RUN, 2)
    wrong = [(key, value[:-64] + "0" * 64) if key == trailers.RECORD else (key, value) for key, value in trailers.of(files)]
    forge(repo, files, message=trailers.message("x", wrong))
    assert rules(repo) == {"evidence-trailer"}


def test_a_record_under_another_cluster_is_found(repo, key, signers):
    """Whoever holds the key of fjord can't speak for alps: neither openly, nor under the other's name."""
    files = record_of(ALPS, 2)
    forge(repo, files, sign=key("fjord"))
    assert rules(repo) == {"evidence-cluster"}
    assert rules(repo, signers=signers) == {"evidence-cluster", "evidence-signature"}
    gitkit.git(repo, "update-ref", "refs/heads/evidence", "evidence~1")
    forge(repo, files, author="taugen collector alps", sign=key("fjord"))
    assert rules(repo) == set()
    assert rules(repo, signers=signers) == {"evidence-signature"}
    gitkit.git(repo, "update-ref", "refs/heads/evidence", "evidence~1")
    forge(repo, files, author="taugen collector alps")
    assert rules(repo, signers=signers) == {"evidence-signature"}
    assert rules(repo, signers={"fjord": signers["fjord"]}) == set()


def test_that_a_collector_lives_is_said_with_its_key(repo, key, signers):
    """A commit without files keeps a cluster from being stale: nobody else may write it."""
    forge(repo, {}, author="taugen collector alps", sign=key("alps"))
    assert rules(repo, signers=signers) == set()
    forge(repo, {}, author="taugen collector alps", sign=key("fjord"))
    assert [(rule, "cluster alps" in said) for rule, _, said in found(repo, signers=signers)] == [("evidence-signature", True)]
    forge(repo, {}, author="taugen collector alps")
    assert len(found(repo, signers=signers)) == 2


def test_a_record_of_another_attempt_cluster_or_run_is_found(repo):
    content = record_of(RUN, 1)[RECORD]
    path = RunKey("fjord", "speech", "other-a87f5b3c").attempt(2).record
    forge(repo, {path: content})
    assert [one[2].split(",")[0] for one in found(repo)] == ["it says object 'quickstart-a87f5b3c-1'", "it says attempt 1"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}\n", "no event"),
        (b"\xff\x00", "no event"),
        (b"[" * 100_000, "no event"),
        (evidencekit.event("failed", 7).content(), "its content is the event"),
        (json.dumps(json.loads(evidencekit.event("queued", 1).content()), indent=1).encode(), "not the canonical JSON"),
        (evidencekit.event("queued", 1).content().rstrip(), "not the canonical JSON"),
        (evidencekit.event("queued", 1).content().replace(b'"data":{}', b'"data":{"x":1e400}'), "canonical"),
    ],
    ids=["empty", "bytes", "deep", "another event", "spaces", "no line end", "infinite"],
)
def test_an_event_that_is_not_what_its_name_says_is_found(repo, content, said):
    path = evidencekit.event("queued", 1).path(RUN.attempt(2))
    forge(repo, {path: content})
    got = found(repo)
    assert [one[:2] for one in got] == [("evidence-content", path)]
    assert said in got[0][2]


@pytest.mark.parametrize("content", [b"{}\n", b"\xff", b"[]\n", b'{"apiVersion": "taugen.dev/evidence.v1"}\n'])
def test_a_record_that_is_none_is_found(repo, content):
    forge(repo, {RUN.attempt(2).record: content})
    assert rules(repo) == {"evidence-content"}


def test_a_log_that_is_not_what_its_record_says_is_found(repo):
    path = RUN.attempt(2).log("quickstart-0", "main", 1)
    forge(repo, {path: b"step 2\n", **record_of(RUN, 2, logs=[{"path": path, "sha256": "0" * 64, "bytes": 7, "redactions": 0}])})
    assert [one[:2] for one in found(repo)] == [("evidence-content", path)]
    missing = RUN.attempt(3).log("quickstart-0", "main", 1)
    forge(repo, record_of(RUN, 3, logs=[{"path": missing, "sha256": "0" * 64, "bytes": 7, "redactions": 0}]))
    assert ("evidence-content", RUN.attempt(3).record) in [one[:2] for one in found(repo)]


def test_files_that_are_no_evidence_are_named(repo):
    forge(repo, {"README.md": b"hello\n", "fjord/nodes/2026/05/05/x.json": b"{}"}, author="Ada", message=b"docs\n")
    assert [one[:2] for one in found(repo)] == [("evidence-foreign", "README.md"), ("evidence-foreign", "fjord/nodes/2026/05/05/x.json")]


def test_a_source_commit_that_is_nowhere_is_found(repo, good):
    run = RunKey("fjord", "speech", "new-0badcafe")
    forge(repo, {run.intent: f"run: x\nintent:\n  commit: {'a' * 40}\n".encode()})
    assert found(repo) == []
    assert [one[:2] for one in found(repo, source=good[1])] == [("evidence-source", run.intent)]


def test_a_shallow_clone_proves_nothing(repo, tmp_path):
    gitkit.git(tmp_path, "clone", "-q", "--bare", "--depth=1", "--branch", "evidence", f"file://{repo}", "shallow.git")
    assert [one[0] for one in found(tmp_path / "shallow.git")] == ["evidence-history"]
