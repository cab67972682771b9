"""Durations: Go's notation and days, whole seconds, one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.words import durations
from taugen.words.durations import DurationError


@pytest.mark.parametrize(
    ("text", "seconds", "spelling"),
    [
        ("60s", 60, "1m"),
        ("90s", 90, "1m30s"),
        ("90m", 5400, "1h30m"),
        ("1h30m", 5400, "1h30m"),
        ("1.5h", 5400, "1h30m"),
        (".5h", 1800, "30m"),
        ("72h", 259200, "72h"),
        ("3d", 259200, "72h"),
        ("1d12h", 129600, "36h"),
        ("3605s", 3605, "1h5s"),
        ("1000ms", 1, "1s"),
        ("0s", 0, "0s"),
        (" 30m ", 1800, "30m"),
    ],
)
def test_spellings(text, seconds, spelling):
    assert durations.parse(text) == seconds
    assert durations.canonical(text) == spelling


@given(st.integers(0, durations.MOST_SECONDS))
def test_every_spelling_is_read_back(seconds):
    assert durations.parse(durations.write(seconds)) == seconds
    assert durations.parse(durations.write_go(seconds)) == seconds
    assert durations.canonical(durations.write(seconds)) == durations.write(seconds)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (59, "59s"), (600, "10m0s"), (3600, "1h0m0s"), (5405, "1h30m5s")])
def test_as_go_prints_it(seconds, text):
    assert durations.write_go(seconds) == text


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("90", '"90" has no unit', "write 90s, 90m or 90h"),
        (90, '"90" has no unit', "write 90s, 90m or 90h"),
        (1.5, '"1.5" has no unit', "write 1.5s"),
        ("500ms", '"500ms" is not in whole seconds', "write 1s"),
        ("1ns", "is not in whole seconds", "write 1s"),
        ("-5m", '"-5m" is negative', "90m"),
        ("", '"" is not a duration', "1h30m"),
        ("1h30", '"1h30" is not a duration', "1h30m"),
        ("1 h", '"1 h" is not a duration', "1h30m"),
        (True, '"True" is not a duration', "1h30m"),
        ("PT1H", '"PT1H" is not a duration', "1h30m"),
        ("٣h", "is not a duration", "1h30m"),
        ("9" * 400 + "h", "is not a duration", "1h30m"),
        ("9" * 60 + "h", "is longer than", "72h"),
        ("1w", '"1w" has the unknown unit "w"', "1h30m"),
        ("90M", '"90M" has the unknown unit "M"', "write 90m"),
        ("5min", '"5min" has the unknown unit "min"', "1h30m"),
    ],
)
def test_refused(text, message, hint):
    with pytest.raises(DurationError) as caught:
        durations.parse(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
