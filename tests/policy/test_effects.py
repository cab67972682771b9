"""Every accepted field of every kind of policy has an effect: two policies that differ only there differ in an object, a run or a
finding."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from taugen.pipeline import schemas
from taugen.policy import model
from tools import effects, policy_effects
from tools.policy_probes import ELSEWHERE, NUMBERS, PROBES, REFUSED, Probe

ROOT = Path(__file__).parent.parent.parent
MEASURED = [(kind, field) for kind, probes in PROBES.items() for field in probes]


def every_field(kind: str) -> Iterator[str]:
    """The fields of the kind's schema; the bounds of a profile by the field that they bound, those without an order without min and max."""
    definitions = schemas.schema(kind)["$defs"]
    assert isinstance(definitions, dict)
    for field in effects.fields(definitions[f"{kind}.spec"], definitions):
        head, name, side = field.partition(".NAME.")
        if kind == "Profile" and name:
            yield from (f"{head}.{bound}.{side}" for bound in model.OVERRIDES if side == "oneOf" or bound in NUMBERS)
        else:
            yield field


@pytest.mark.parametrize("kind", model.KINDS)
def test_the_tables_have_every_field_and_no_other(kind: str) -> None:
    listed = [*PROBES[kind], *ELSEWHERE.get(kind, {}), *(field for of, field in REFUSED if of == kind)]
    assert sorted(listed) == sorted(every_field(kind))


@pytest.mark.parametrize(("kind", "field"), MEASURED)
def test_a_field_changes_something(kind: str, field: str) -> None:
    assert policy_effects.found(kind, field)


@pytest.mark.parametrize(("kind", "field"), REFUSED)
def test_a_field_that_is_always_refused(kind: str, field: str) -> None:
    assert f"finding `{REFUSED[kind, field]}`" in policy_effects.refusal(kind, field)


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, fields in ELSEWHERE.items() for field in fields])
def test_what_acts_elsewhere_is_tested_there(kind: str, field: str) -> None:
    file, _, test = ELSEWHERE[kind][field][1].partition("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8")


def test_what_differs_nowhere_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROBES["Queue"], "stop", Probe("pooled", None, "None"))
    assert policy_effects.found("Queue", "stop") == []


def test_a_policy_that_can_t_be_read_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt value must not pass for an effect: its finding differs, and what it would have made is missing."""
    monkeypatch.setitem(PROBES["Queue"], "stop", Probe("pooled", "None", "Hodl"))
    with pytest.raises(ValueError, match="value-choice"):
        policy_effects.found("Queue", "stop")
