"""What a check's answer means.

In: exit code and text of a check's script, the samples before. Out: ok, problem or unknown, with a sentence. Pure: time is an argument.
What must never happen: an answer that is not understood taken for ok or for a problem.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .config import Check

OK, PROBLEM, UNKNOWN = "ok", "problem", "unknown"
LONGEST = 200
_LINE = re.compile(r"([A-Za-z0-9_.:/-]{1,80}) (\?|[0-9]{1,18}(?:\.[0-9]{1,6})?)(?: (.*))?")
MOST_DEVICES = 256


@dataclass(frozen=True)
class Answer:
    """What a script said; `code` None: it had to be ended, or could not be started, and `text` says why."""

    code: int | None
    text: str


@dataclass(frozen=True)
class Reading:
    """A device and its value; None: that device could not be judged."""

    device: str
    value: float | None
    words: str = ""


@dataclass(frozen=True)
class Result:
    """The verdict of a check: `value` is the worst device's, None where there is none."""

    state: str
    message: str
    value: float | None = None


Samples = Mapping[str, Sequence[tuple[float, float]]]
"""Device -> (time, counter), oldest first."""


def judge(check: Check, answer: Answer, before: Samples, now: float) -> tuple[Result, Samples]:
    """The verdict, and the samples to remember."""
    if answer.code is None or answer.code not in (0, 1, 2):
        reason = answer.text if answer.code is None else f"the check ended with {answer.code}"
        return Result(UNKNOWN, short(reason)), before
    if answer.code:
        lines = answer.text.strip().splitlines()
        said = short(lines[-1]) if lines else ""
        if answer.code == 1:
            return (Result(PROBLEM, said), before) if said else (Result(UNKNOWN, "the check gave no reason"), before)
        return Result(UNKNOWN, said or "the check could not tell"), before
    found = readings(answer.text)
    if found is None:
        return Result(UNKNOWN, "the check printed something else than values"), before
    if check.measure != "increase":
        return _verdict(check, found), before
    grown, samples = _increases(found, before, check.window, now)
    return _verdict(check, grown), samples


def readings(text: str) -> list[Reading] | None:
    """The values of a script's output, the worst of each device; None where a line is not one."""
    found: dict[str, Reading] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None or len(found) > MOST_DEVICES:
            return None
        value = None if match[2] == "?" else float(match[2])
        reading = Reading(match[1], value, short(match[3] or ""))
        earlier = found.get(reading.device)
        if earlier is None or _rank(reading) > _rank(earlier):
            found[reading.device] = reading
    return list(found.values())


def _rank(reading: Reading) -> float:
    return -1.0 if reading.value is None else reading.value


def _increases(found: Sequence[Reading], before: Samples, window: int, now: float) -> tuple[list[Reading], Samples]:
    """How much each counter grew within the window. A counter that fell was reset: what it shows now has come since."""
    out, samples = [], dict(before)
    for reading in found:
        if reading.value is None:
            out.append(reading)
            continue
        kept = [(at, value) for at, value in samples.get(reading.device, ()) if now - at <= window]
        grown = 0.0
        last = kept[0][1] if kept else reading.value
        for value in [*(value for _, value in kept[1:]), reading.value]:
            grown += value - last if value >= last else value
            last = value
        samples[reading.device] = [*kept, (now, reading.value)]
        out.append(Reading(reading.device, grown, reading.words))
    return out, samples


def _verdict(check: Check, found: Sequence[Reading]) -> Result:
    known = [reading for reading in found if reading.value is not None]
    worst = max(known, key=lambda reading: (_rank(reading), reading.device), default=None)
    if worst is not None and worst.value is not None and worst.value > check.threshold:
        over = sorted(r.device for r in known if r.value is not None and r.value > check.threshold)
        more = f" and {len(over) - 1} more" if len(over) > 1 else ""
        words = f" ({worst.words})" if worst.words else ""
        limit = f", more than {number(check.threshold)}" if check.threshold else ""
        return Result(PROBLEM, short(f"{worst.device}{more}: {number(worst.value)} {check.unit}{limit}{words}"), worst.value)
    open_ = [reading for reading in found if reading.value is None]
    if open_:
        return Result(UNKNOWN, short(f"{open_[0].device}: {open_[0].words or 'no value'}"), worst.value if worst else None)
    if worst is None:
        return Result(UNKNOWN, "the check printed no values")
    return Result(OK, f"at most {number(worst.value or 0)} {check.unit}", worst.value)


def worst(results: Sequence[Result]) -> Result:
    """The verdict of several checks of one condition: a problem before what could not be told, and that before what is well."""
    for state in (PROBLEM, UNKNOWN):
        for result in results:
            if result.state == state:
                return result
    return results[0]


def number(value: float) -> str:
    """A number as people write it."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else f"{value:g}"


def short(text: str) -> str:
    """A text that can stand in a condition, an event and a log: printable, cut."""
    clean = "".join(char if char.isprintable() else " " for char in text).strip()
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 3] + "..."
