"""States from names of files alone, with and without what was kept from before."""

import random
import sqlite3

import pytest

from taugen.evidence import index, trees
from taugen.evidence.cache import Cache
from taugen.evidence.event import Event, EventType
from taugen.evidence.history import fold
from taugen.evidence.paths import RunKey
from taugen.load import git as door
from taugen.load import share
from tests.gitkit import git, make_repo
from tests.readers.kit import Evidence

TYPES = [*EventType]


@pytest.fixture
def evidence(tmp_path):
    return Evidence(make_repo(tmp_path / "r", {"x": "x"}))


def listed(evidence, cache=None, **asked):
    return dict(index.standings(evidence.repo, git(evidence.repo, "rev-parse", "evidence"), cache, **asked))


def lot(seed, count):
    """Random events, many of one second."""
    chance = random.Random(seed)
    for _ in range(count):
        time = f"2026-05-04T10:00:{chance.randrange(8):02}Z"
        yield Event(chance.choice(TYPES), time, f"u{chance.randrange(9)}", {}, str(chance.randrange(9)))


def key(number):
    digest = f"{number * 2654435761 % 2**32:08x}"
    return RunKey(("fjord", "mesa")[number % 2], ("speech", "climate")[number // 2 % 2], f"train-{digest}")


def write(evidence, numbers, count=6, seed=0):
    """Some runs with some random attempts; returns what the events of each come to."""
    files, expected = {}, {}
    for number in numbers:
        run = key(number)
        if number % 5:
            files[run.intent] = b"run: x\n"
        for attempt in range(1, 1 + number % 3):
            events = list(lot(f"{seed}.{number}.{attempt}", (number + attempt) % count))
            files |= {event.path(run.attempt(attempt)): event.content() for event in events}
            if attempt == 2:
                files[run.attempt(attempt).record] = b"{}\n"
                files[run.attempt(attempt).log("a-1-x", "main", 0)] = b"log\n"
            expected[run.attempt(attempt)] = events
    evidence.commit("fjord", files)
    return expected


def test_names_say_what_contents_say(evidence):
    expected = write(evidence, range(120), count=9)
    found = listed(evidence)
    seen = 0
    for attempt, events in expected.items():
        history = fold(events)
        standing = next((one for one in found[attempt.of] if one.number == attempt.number), None)
        if history is None:
            assert standing is None or standing.state is None
            continue
        spelled = [index.spelled(time) or None for time in (standing.since, standing.submitted, standing.started, standing.ended)]
        assert (standing.state, *spelled) == (history.state, history.since, history.submitted, history.started, history.ended), events
        assert standing.interruptions == len(history.interruptions)
        assert standing.recorded == (attempt.number == 2)
        seen += 1
    assert seen > 80


def test_several_processes_find_the_same(evidence, monkeypatch):
    write(evidence, range(60))
    alone = listed(evidence)
    for size, enough in ((7, 100), (7, 2), (1, 2)):
        monkeypatch.setattr(index, "_AT_ONCE", size)
        monkeypatch.setattr(index, "_ENOUGH", enough)
        for count in (1, 3):
            monkeypatch.setattr(share, "processors", lambda count=count: count)
            assert listed(evidence) == alone
            assert listed(evidence, workspaces=["speech"]) == {run: found for run, found in alone.items() if run.workspace == "speech"}


def test_a_cache_never_changes_an_answer(evidence):
    cache = Cache.of(evidence.repo)
    for step in range(6):
        write(evidence, range(step * 10, step * 10 + 25), seed=step)
        plain = listed(evidence)
        assert listed(evidence, cache) == plain
        assert listed(evidence, cache) == plain
        assert listed(evidence, cache, clusters=["mesa"]) == {run: found for run, found in plain.items() if run.cluster == "mesa"}
        some = listed(evidence, cache, workspaces=["speech"])
        assert some == {run: found for run, found in plain.items() if run.workspace == "speech"}


def test_unchanged_folders_are_not_read_again(evidence, monkeypatch):
    write(evidence, range(40))
    cache = Cache.of(evidence.repo)
    listed(evidence, cache)
    read = []
    whole = index._read
    monkeypatch.setattr(index, "_read", lambda repo, tip, folders: read.append(folders) or whole(repo, tip, folders))
    listed(evidence, cache)
    write(evidence, [8], seed=9)
    run = key(8)
    assert listed(evidence, cache) == listed(evidence)
    assert read[:2] == [[], [run.folder.rpartition("/")[0]]]


@pytest.mark.parametrize("harm", ["junk", "texts", "table", "folder"])
def test_a_damaged_cache_is_none(evidence, harm):
    write(evidence, range(30))
    plain = listed(evidence)
    cache = Cache.of(evidence.repo)
    assert listed(evidence, cache) == plain
    file = evidence.repo / ".git" / "taugen" / "evidence.sqlite"
    if harm == "junk":
        file.write_bytes(b"no database at all" * 1000)
    elif harm == "texts":
        with sqlite3.connect(file) as store:
            store.execute("UPDATE kept SET text = '[]'")
        store.close()
    elif harm == "table":
        file.unlink()
        with sqlite3.connect(file) as store:
            store.execute("CREATE TABLE kept (id TEXT)")
        store.close()
    else:
        file.unlink()
        file.parent.rmdir()
        file.parent.write_text("a file")
    for _ in range(2):
        assert listed(evidence, cache) == plain


def test_old_entries_leave(tmp_path):
    cache = Cache(tmp_path / "c.sqlite")
    for n in range(30):
        cache.put("f", {f"{n}-{m}": "x" for m in range(100)}, keep=[f"{n}-{m}" for m in range(100)])
    assert len(cache.get("f", [f"{n}-{m}" for n in range(30) for m in range(100)])) <= 1500
    assert cache.get("f", ["29-1"]) == {"29-1": "x"}
    assert cache.get("g", ["29-1"]) == {}


def test_a_listing_of_some_lets_nothing_leave(evidence, monkeypatch):
    monkeypatch.setattr("taugen.evidence.cache._MOST", 0)
    monkeypatch.setattr("taugen.evidence.cache._SPARE", 0)
    write(evidence, range(40))
    cache = Cache.of(evidence.repo)
    listed(evidence, cache)
    write(evidence, [8], seed=9)
    read = []
    whole = index._read
    monkeypatch.setattr(index, "_read", lambda repo, tip, folders: read.append(len(folders)) or whole(repo, tip, folders))
    listed(evidence, cache, clusters=[key(8).cluster], workspaces=[key(8).workspace])
    listed(evidence, cache)
    assert read == [1, 0]


def test_names_that_are_no_evidence_are_passed_over(evidence):
    write(evidence, range(20))
    plain = listed(evidence)
    run = key(7)
    junk = {
        "README.md": b"x",
        f"{run.folder}/attempts/0/record.json": b"x",
        f"{run.folder}/attempts/1/events/20990101T000000Z-failed-XYZ.json": b"x",
        f"{run.folder}/attempts/1/events/20990101T000000Z-exploded-0123456789abcdef.json": b"x",
        "fjord/runs/speech/00/UPPER-00abcdef/run.yaml": b"x",
        "fjord/runs/speech/00/train-11abcdef/run.yaml": b"x",
    }
    evidence.commit("fjord", junk)
    assert listed(evidence) == plain


def test_a_folder_that_is_none_is_an_error():
    entry = b"100644 a\0" + bytes(20)
    assert list(trees.entries(entry + b"0040000 b c\0" + bytes(20) + b"100644 a\0" + bytes(range(20)), 20).items()) == [
        ("a", trees.Child("00" * 20, False)),
        ("b c", trees.Child("00" * 20, True)),
    ]
    assert trees.entries(b"100644 a\0" + bytes(32), 32) == {"a": trees.Child("00" * 32, False)}
    for content in (entry[:-1], entry + b"x", b"x" + bytes(20), b"\0" + entry):
        with pytest.raises(door.GitError):
            trees.entries(content, 20)
