"""Suggestions: near enough to be meant, the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.words.suggest import closest, levenshtein

FIELDS = ["entrypoint", "args", "workload_kind", "setup", "source", "max_duration", "queue_timeout", "gpus", "gpu_type"]


@pytest.mark.parametrize(
    ("word", "choice"),
    [
        ("entrypiont", "entrypoint"),
        ("entry_point", "entrypoint"),
        ("workloadKind", "workload_kind"),
        ("ENTRYPOINT", "entrypoint"),
        ("gpu", "gpus"),
        ("maxDuration", "max_duration"),
        ("sourec", "source"),
        ("banana", None),
        ("", None),
        ("x", None),
    ],
)
def test_closest(word, choice):
    assert closest(word, FIELDS) == choice


def test_ties_go_to_the_first_and_case_wins():
    assert closest("bat", ["cat", "bar"]) == "cat"
    assert closest("bat", ["bar", "cat"]) == "bar"
    assert closest("Cat", ["bat", "cAT"]) == "cAT"
    assert closest("a", []) is None


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_distance(a, b, c):
    full = levenshtein(a, b, 99)
    assert full == levenshtein(b, a, 99)
    assert (full == 0) == (a == b)
    assert abs(len(a) - len(b)) <= full <= max(len(a), len(b))
    for most in range(1, 7):
        assert levenshtein(a, b, most) == min(full, most + 1)
    assert levenshtein(a + c, b + c, 99) <= full
