"""A seeded part of the mutants in every run of the tests; `python -m tests.robustness.fuzz --count N --seed S` plays as many as one likes."""

import pytest

from taugen.diag import Diagnostic, Span
from tests.robustness import fuzz, play, seeds
from tests.robustness.mutate import Raw, write

SEED = 1
PARTS, EACH = 8, 40


@pytest.mark.parametrize("part", range(PARTS))
def test_mutants(part: int) -> None:
    assert list(fuzz.search(SEED, range(part * EACH, (part + 1) * EACH))) == []


@pytest.mark.parametrize("seed", seeds.runs(), ids=lambda run: str(run.data["name"]))
def test_what_mutants_are_made_of_is_accepted(seed: seeds.Run) -> None:
    for flow in (False, True):
        found = play.run(seed.workspace, write(seed.data, flow=flow).encode())
        assert (found, found.rules) == ([], ()), found


@pytest.mark.parametrize(("seed", "number"), [(77, 1845)])
def test_mutants_that_once_had_a_fault(seed: int, number: int) -> None:
    """1845: a Workspace without its podSecurity is told at the Workspace, not at the objects of its runs too."""
    found, made, _ = fuzz.faults(seed, number)
    assert list(found) == [], made.done


def test_a_mutant_depends_on_its_number_alone() -> None:
    assert fuzz.make(SEED, 11) == fuzz.make(SEED, 11) != fuzz.make(SEED + 1, 11)


@pytest.mark.parametrize(
    "finding",
    [
        Diagnostic("r", "said", Span("f", 3), hint="do"),
        Diagnostic("r", "said", Span("f", 1, 9), hint="do"),
        Diagnostic("r", "said", Span("g"), hint="do"),
        Diagnostic("r", "said", Span("f")),
        Diagnostic("r", "", Span("f"), hint="do"),
        Diagnostic("r", "said hunter2hunter2", Span("f"), hint="do"),
    ],
)
def test_a_bad_finding_is_noticed(finding: Diagnostic) -> None:
    assert len(list(play._bad_findings([finding], {"f": b"a: 1\nb: 2"}))) == 1


def test_findings_out_of_order_or_twice_are_noticed() -> None:
    first, second = (Diagnostic("r", "said", Span("f", line), hint="do") for line in (1, 2))
    for found in ([second, first], [first, first]):
        assert list(play._bad_findings(found, {"f": b"a: 1\nb: 2"})) == ["out of order, or there twice"]


def test_the_writer_writes_what_was_meant() -> None:
    data = {"a": [1, {"b": "no", "c d": None}, []], "e": Raw("0x10"), "f": "x: y\u202e"}
    assert write(data) == 'a:\n  - 1\n  -\n    b: "no"\n    "c d": null\n  - []\ne: 0x10\nf: "x: y\\u202e"\n'
