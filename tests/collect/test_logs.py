"""Pieces of logs: a function of the log alone."""

import random
from datetime import timedelta

import pytest

from taugen.collect import logs
from taugen.collect.api import Missing, Unreachable
from taugen.collect.logs import Wanted, look, moment, pieces
from taugen.evidence.paths import RunKey
from taugen.evidence.redact import Redactor

ATTEMPT = RunKey("fjord", "speech", "quickstart-a87f5b3c").attempt(1)
START = "2026-05-04T10:00:00Z"


def line(second: float, text: str = "x", zone: str = "Z") -> bytes:
    return f"2026-05-04T10:{int(second) // 60:02}:{int(second) % 60:02}.{int(second * 10) % 10}{zone} {text}".encode()


def cut(lines, first=0, *, over=True, every=60):
    return dict(pieces(lines, START, every, first, over=over))


def test_lines_go_by_their_own_times():
    lines = [line(1, "a"), line(59.9, "b"), line(60, "c"), line(250, "d")]
    assert cut(lines) == {0: lines[0] + b"\n" + lines[1] + b"\n", 1: lines[2] + b"\n", 4: lines[3] + b"\n"}


def test_the_last_stretch_waits_for_the_end():
    lines = [line(1), line(70)]
    assert list(cut(lines, over=False)) == [0]
    assert list(cut(lines)) == [0, 1]


def test_whenever_it_is_read_the_pieces_are_the_same():
    dice = random.Random(5)
    lines = [line(second / 10, f"step {second}") for second in sorted(dice.sample(range(6000), 300))]
    whole = cut(lines)
    for _ in range(50):
        got, at = {}, 0
        for upto in sorted(dice.sample(range(len(lines)), 4)):
            new = cut([found for found in lines[:upto] if logs.moment(found[:22].decode().split(" ")[0]) is not None], at, over=False)
            got |= new
            at = max(new, default=at - 1) + 1
        got |= cut(lines, at)
        assert got == whole


def test_a_piece_holds_the_last_256_kib_in_whole_lines():
    lines = [line(1, "y" * 1000) for _ in range(1000)]
    (piece,) = cut(lines).values()
    assert logs.MOST - 1100 < len(piece) <= logs.MOST
    assert piece.startswith(b"2026-")
    (one,) = cut([line(1, "z" * logs.MOST)]).values()
    assert len(one) <= logs.MOST + 1


def test_zones_and_rubbish():
    assert list(cut([line(61, zone="+00:00"), b"no time here", b""])) == [1]
    assert cut([b"2026-05-04T12:00:01.5+02:00 two hours east"]) == {0: b"2026-05-04T12:00:01.5+02:00 two hours east\n"}
    assert logs.later("2026-05-04T10:00:00Z", 90) == "2026-05-04T10:01:30Z"
    assert logs.later("rubbish", 90) == "rubbish"


def test_secrets_are_taken_out_and_the_size_holds():
    secret = "ghp_" + "a1B2" * 10
    content = logs.redacted(line(1, f"token={secret}") + b"\n\xff\n", Redactor())
    assert secret.encode() not in content
    assert b"[redacted]" in content
    assert len(logs.redacted(b"u=a@b.example\n" * 20000, Redactor())) <= logs.MOST


class Fake:
    """An API with one log."""

    def __init__(self, lines, error=None, date=""):
        self.lines, self.error, self.asked, self.date = lines, error, [], date

    def log(self, namespace, pod, container, since=""):
        self.asked.append(since)
        yield from (one for one in self.lines if one[:19].decode() >= since[:19])
        if self.error is not None:
            raise self.error


def wanted(first=0, finished="2026-05-04T10:09:00Z"):
    return Wanted(ATTEMPT, "u", "ns", "p", "main", START, finished, first)


def test_a_look_asks_for_no_more_than_is_new():
    api = Fake([line(1), line(130)])
    looked = look(wanted(2), api, 60, Redactor())
    assert api.asked == ["2026-05-04T10:02:00Z"]
    assert [path for path, _ in looked.files] == [ATTEMPT.log("p", "main", 2)]
    assert (looked.next, looked.done, looked.lost) == (3, True, "")


@pytest.mark.parametrize(("after", "count"), [(-logs.LATE, 0), (59, 0), (60, 1), (119, 1), (120, 2)])
def test_what_says_little_is_written_once_the_servers_clock_is_past_it(after, count):
    """The head of a Ray cluster says where it listens, and then nothing for days."""
    date = (moment(START) + timedelta(seconds=after + logs.LATE)).isoformat()
    looked = look(wanted(finished=""), Fake([line(1), line(70)][: 1 if count < 2 else 2], date=date), 60, Redactor())
    assert (len(looked.files), looked.done) == (count, False)
    assert dict(looked.files).get(ATTEMPT.log("p", "main", 0)) == (line(1) + b"\n" if count else None)


def test_a_long_log_is_looked_at_in_parts():
    looked = look(wanted(), Fake([line(second) for second in range(0, 3000, 30)]), 60, Redactor())
    assert (len(looked.files), looked.next, looked.done) == (logs.AT_ONCE, logs.AT_ONCE, False)


@pytest.mark.parametrize(
    ("api", "done", "lost", "count"),
    [
        (Fake([line(1), line(70)], Unreachable("x")), False, False, 1),
        (Fake([line(1), line(70)], Missing("x")), True, True, 1),
        (Fake([b"unable to retrieve container logs for containerd://abc"]), True, True, 0),
        (Fake([]), True, False, 0),
    ],
)
def test_what_can_not_be_read_is_lost_or_left_for_later(api, done, lost, count):
    looked = look(wanted(), api, 60, Redactor())
    assert (looked.done, bool(looked.lost), len(looked.files)) == (done, lost, count)


def test_a_log_that_can_not_be_redacted_is_not_kept(monkeypatch):
    def broken(self, text):
        raise RecursionError

    monkeypatch.setattr(Redactor, "text", broken)
    looked = look(wanted(), Fake([line(1)]), 60, Redactor())
    assert (looked.files, looked.done, looked.lost) == ((), True, "it can't be redacted")
