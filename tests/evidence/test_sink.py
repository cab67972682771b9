"""Writing a branch: races, a remote that is away or rewritten, a disk that is full or small, signatures."""

import contextlib
import os
import resource
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from taugen.evidence import sink as sinks
from taugen.evidence import trailers
from taugen.evidence.budget import Budget
from taugen.evidence.paths import RunKey
from taugen.evidence.sink import Conflict, Full, Rewritten, Sink, Unreachable
from taugen.load import fastimport, git, messages, partial
from tests import evidencekit, gitkit

RUN = evidencekit.RUN
OTHER = RunKey("alps", "robots", "walk-00c0ffee")
TIME = "2026-05-04T10:02:00Z"
EXTRA = [("Tau-Collector", "fjord taugen 0.1"), ("Tau-Resume", "pods=17")]


@pytest.fixture
def remote(tmp_path):
    bare = gitkit.make_bare(tmp_path / "remote.git")
    gitkit.git(bare, "config", "uploadpack.allowFilter", "true")
    return bare


def sink(tmp_path, remote, name="fjord", **more):
    return Sink(tmp_path / name, f"file://{remote}", "evidence", f"taugen collector {name}", **more)


def append(one, files, time=TIME, **more):
    return one.append(files, "3 events", EXTRA, time, **more)


def log(remote, form="%H"):
    return gitkit.git(remote, "log", f"--format={form}", "evidence").splitlines()


def test_a_batch_is_one_commit_that_says_what_is_in_it(tmp_path, remote):
    one = sink(tmp_path, remote)
    files = {
        **evidencekit.files(),
        RUN.attempt(1).record: b"{}\n",
        RUN.intent: b"run: x\nintent:\n  commit: 0123456789\n  digest: abcdef0123\n",
    }
    made = append(one, files)
    assert log(remote) == [made]
    info = git.commit_info(remote, made)
    assert (info.author_name, info.author_date, info.committer_date) == ("taugen collector fjord", "1777888920 +0000", "1777888920 +0000")
    said = messages.trailers(info.message)
    assert said["Tau-Run"] == ["speech/quickstart-a87f5b3c"]
    assert said["Tau-Attempt"] == ["speech/quickstart-a87f5b3c 1"]
    assert len(said["Tau-Event"]) == 3
    assert said["Tau-Record-Digest"] == [f"{RUN.attempt(1).record} ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"]
    assert said["Tau-Source-Commit"] == ["speech/quickstart-a87f5b3c 0123456789"]
    assert said["Tau-Resume"] == ["pods=17"]
    assert one.branch().read_many(sorted(files)) == [files[path] for path in sorted(files)]


def test_what_is_there_is_not_written_again_and_never_changed(tmp_path, remote):
    one = sink(tmp_path, remote)
    append(one, evidencekit.files())
    assert append(one, evidencekit.files()) == ""
    assert append(sink(tmp_path, remote, "again"), evidencekit.files()) == ""
    path = next(iter(evidencekit.files()))
    with pytest.raises(Conflict, match=path):
        append(one, {path: b"{}\n", RUN.intent: b"x\n"})
    assert len(log(remote)) == 1


def test_the_same_evidence_gives_the_same_tree_and_date_however_it_is_cut(tmp_path, remote):
    files = evidencekit.files()
    append(sink(tmp_path, remote), files)
    other = gitkit.make_bare(tmp_path / "other.git")
    cut = sink(tmp_path, other, "cut")
    for path, content in sorted(files.items()):
        append(cut, {path: content}, "")
    assert gitkit.git(remote, "rev-parse", "evidence^{tree}") == gitkit.git(other, "rev-parse", "evidence^{tree}")
    assert log(other, "%at") == ["0"] * 3


def test_collectors_that_race_lose_nothing(tmp_path, remote):
    def collect(name):
        one = sink(tmp_path, remote, name)
        for number in range(1, 6):
            for _ in range(20):
                with contextlib.suppress(Unreachable):
                    append(one, evidencekit.files(RunKey(name, "speech", "quickstart-a87f5b3c"), number))
                    break

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(collect, ["fjord", "alps"]))
    assert len(log(remote)) == 10
    assert len(gitkit.git(remote, "ls-tree", "-r", "--name-only", "evidence").splitlines()) == 30


def test_a_collector_finds_its_own_newest_commit_among_those_of_others(tmp_path, remote, monkeypatch):
    monkeypatch.setattr(sinks, "_STEP", 3)
    append(sink(tmp_path, remote), evidencekit.files())
    other = sink(tmp_path, remote, "fjord-2")
    for number in range(1, 8):
        other.append(evidencekit.files(OTHER, number), "x", [("Tau-Resume", "pods=99")], TIME)
    fresh = sink(tmp_path, remote, "later")
    assert gitkit.git(fresh.repo, "rev-list", "--all", "--count") == "0"
    assert fresh.tip_trailers("fjord")["Tau-Resume"] == ["pods=17"]
    assert fresh.tip_trailers("fjord-2")["Tau-Resume"] == ["pods=99"]
    assert fresh.tip_trailers("fjord-3") == {}


def test_no_branch_yet(tmp_path, remote):
    one = sink(tmp_path, remote)
    assert (one.branch().tip, one.tip_trailers("fjord"), one.branch().runs()) == (None, {}, [])


def test_a_remote_that_is_away_is_said_and_nothing_is_lost(tmp_path, remote):
    one = sink(tmp_path, remote)
    append(one, evidencekit.files())
    away = remote.rename(tmp_path / "away.git")
    with pytest.raises(Unreachable):
        append(one, evidencekit.files(OTHER))
    away.rename(remote)
    assert append(one, evidencekit.files(OTHER)) == log(remote)[0]


def test_a_remote_that_takes_no_push_is_said(tmp_path, remote):
    one = sink(tmp_path, remote)
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho frozen by the auditors >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(Unreachable, match="frozen by the auditors"):
        append(one, evidencekit.files())


@pytest.mark.parametrize("how", ["set back", "other root", "deleted"])
def test_a_rewritten_branch_is_never_written_over(tmp_path, remote, how):
    one = sink(tmp_path, remote)
    append(one, evidencekit.files())
    append(one, evidencekit.files(OTHER))
    if how == "set back":
        gitkit.git(remote, "update-ref", "refs/heads/evidence", "evidence~1")
    elif how == "deleted":
        gitkit.git(remote, "update-ref", "-d", "refs/heads/evidence")
    else:
        tree = gitkit.git(remote, "rev-parse", "evidence^{tree}")
        gitkit.git(remote, "update-ref", "refs/heads/evidence", gitkit.git(remote, "commit-tree", tree, "-m", "anew"))
    before = gitkit.git(remote, "for-each-ref")
    for again in (one, Sink(tmp_path / "fjord", f"file://{remote}", "evidence", "taugen collector fjord")):
        with pytest.raises(Rewritten):
            append(again, evidencekit.files(RUN, 2))
        with pytest.raises(Rewritten):
            again.branch()
    assert gitkit.git(remote, "for-each-ref") == before


def test_a_rotated_branch_names_the_one_before(tmp_path, remote):
    one = sink(tmp_path, remote)
    append(one, evidencekit.files())
    old = log(remote)[0]
    root = gitkit.git(remote, "commit-tree", gitkit.git(remote, "mktree", stdin=b""), "-m", f"Evidence of 2027\n\nTau-Previous: {old}\n")
    gitkit.git(remote, "update-ref", "refs/heads/evidence", root)
    append(one, evidencekit.files(RUN, 2))
    assert log(remote)[1] == root


@contextlib.contextmanager
def small_files(limit):
    """Nothing above `limit` bytes can be written, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_said_and_leaves_nothing_half_written(tmp_path, remote):
    one = sink(tmp_path, remote)
    append(one, evidencekit.files())
    large = {RUN.attempt(1).log("pod-0", "main", 1): os.urandom(200_000), **evidencekit.files(OTHER)}
    with small_files(65_536), pytest.raises(Full):
        append(one, large)
    assert len(log(remote)) == 1
    assert not list(one.repo.glob("objects/**/tmp_*"))
    append(one, large)
    assert len(log(remote)) == 2
    gitkit.git(remote, "fsck", "--strict")


@pytest.mark.parametrize(
    "said",
    [
        "fatal: sha1 file 'objects/pack/tmp_pack_x' write error. Out of diskspace",
        "error: unable to write loose object file: No space left on device",
        "fatal: cannot copy x: Disk quota exceeded",
    ],
)
def test_a_full_disk_in_the_words_of_git(tmp_path, remote, monkeypatch, said):
    def full(*_, **__):
        raise git.GitError(["fast-import"], 128, said)

    one = sink(tmp_path, remote)
    monkeypatch.setattr(sinks.fastimport, "commit_tree", full)
    with pytest.raises(Full):
        append(one, evidencekit.files())


def test_a_broken_folder_is_begun_anew(tmp_path, remote):
    append(sink(tmp_path, remote), evidencekit.files())
    (tmp_path / "fjord" / "evidence.git" / "HEAD").write_text("")
    assert append(sink(tmp_path, remote), evidencekit.files(OTHER)) == log(remote)[0]


def test_what_the_sink_keeps_stays_small(tmp_path, remote, monkeypatch):
    monkeypatch.setattr(sinks, "_MANY", 5)
    one = sink(tmp_path, remote, room=200_000)
    sizes = []
    for number in range(1, 21):
        append(one, {RUN.attempt(number).log("pod-0", "main", 1): os.urandom(40_000)})
        sizes.append(sinks._weight(one.repo)[0])
    assert max(sizes) < 700_000 < 20 * 40_000
    assert len(one.branch().attempts(RUN)) == 20
    append(sink(tmp_path, remote, "alps"), evidencekit.files(OTHER))
    append(one, evidencekit.files(RUN, 21))


def test_many_small_files_are_packed(tmp_path, remote, monkeypatch):
    monkeypatch.setattr(sinks, "_MANY", 5)
    monkeypatch.setattr(sinks, "_LOOSE", 60)
    one = sink(tmp_path, remote)
    counts = []
    for number in range(1, 16):
        append(one, evidencekit.files(RUN, number))
        counts.append(sinks._weight(one.repo)[1])
    assert counts[-1] < counts[3]
    assert len(one.branch().attempts(RUN)) == 15


@pytest.fixture(scope="session")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True)
    return path


def test_commits_are_signed_and_the_same_each_time(tmp_path, remote, key):
    made = append(sink(tmp_path, remote, sign=key), evidencekit.files())
    other = gitkit.make_bare(tmp_path / "other.git")
    assert append(Sink(tmp_path / "o", str(other), "evidence", "taugen collector fjord", sign=key), evidencekit.files()) == made
    allowed = tmp_path / "allowed"
    allowed.write_text(f"collector@taugen.dev {key.with_suffix('.pub').read_text()}")
    said = gitkit.git(remote, "-c", f"gpg.ssh.allowedSignersFile={allowed}", "log", "-1", "--format=%G?", made)
    assert said == "G"
    assert len(messages.trailers(git.commit_info(remote, made).message)["Tau-Event"]) == 3


def test_a_key_that_is_none_writes_nothing(tmp_path, remote):
    with pytest.raises(Unreachable, match="nowhere"):
        append(sink(tmp_path, remote, sign=tmp_path / "nowhere"), evidencekit.files())
    assert gitkit.git(remote, "for-each-ref") == ""


def test_pushes_are_counted_with_those_of_others(tmp_path, remote):
    now = [100.0]
    one = sink(tmp_path, remote, clock=lambda: now[0])
    other = sink(tmp_path, remote, "alps")
    append(one, evidencekit.files())
    for number in range(1, 6):
        append(other, evidencekit.files(OTHER, number))
    assert one.wait() == 10.0
    one.branch()
    assert one.wait() == 60.0
    now[0] = 130.0
    assert one.wait() == 30.0


def test_a_push_counts_from_its_beginning(tmp_path, remote, monkeypatch):
    """Else each would come later by as long as the one before took: news would wait twice for the server."""
    now = [100.0]
    one = sink(tmp_path, remote, clock=lambda: now[0])

    def slow(*args, of=fastimport.push, **more):
        done = of(*args, **more)
        now[0] += 3
        return done

    monkeypatch.setattr(fastimport, "push", slow)
    append(one, evidencekit.files())
    assert one.wait() == 7.0


def test_a_branch_just_fetched_is_not_asked_for_again(tmp_path, remote, monkeypatch):
    one = sink(tmp_path, remote)
    append(one, evidencekit.files())
    branch = one.branch()
    asked = []
    monkeypatch.setattr(partial, "fetch", lambda *args, of=partial.fetch, **more: asked.append(args) or of(*args, **more))
    assert append(one, evidencekit.files(OTHER), on=branch)
    assert asked == []
    # It moved on all the same: then it is asked.
    other, branch = sink(tmp_path, remote, "alps"), one.branch()
    append(other, evidencekit.files(OTHER, 2))
    asked.clear()
    assert append(one, evidencekit.files(OTHER, 3), on=branch)
    assert len(asked) == 1


def test_the_budget_is_six_in_a_minute():
    budget = Budget()
    waits = []
    now = 0.0
    for _ in range(14):
        waits.append(budget.wait(now))
        now += waits[-1]
        budget.saw(now)
        now += 1
    assert waits == [0.0] + [9.0] * 13


def test_one_push_more_is_made_up_for_by_all_that_follow():
    """Not by one that waits twice as long."""
    budget, now, at = Budget(), 0.0, []
    for extra in (False, True, *[False] * 10):
        now += 0.0 if extra else budget.wait(now)
        budget.saw(now)
        at.append(now)
    assert at == pytest.approx([0, 0, 12, 24, 36, 48, 60, 66, 72, 84, 96, 108])
    assert all(sum(start <= one < start + 60 for one in at) <= 6 for start in at)


@pytest.mark.parametrize("bad", [("Tau-X", "a\nTau-Run: forged"), ("Tau X", "a"), ("Tau-X", "\x00")])
def test_a_trailer_is_one_line(bad):
    with pytest.raises(ValueError, match="no trailer"):
        trailers.message("subject", [bad])
