"""Every accepted field of tau.yaml has an effect: two documents that differ only there differ in an object, the environment or the
state."""

import pytest

from taugen.pipeline import schemas
from tools import effects


def every_leaf():
    schema = schemas.canonical_run()
    return set(effects.fields({k: v for k, v in schema.items() if k != "$defs"}, schema["$defs"]))


def test_the_table_has_every_field_and_no_other():
    assert every_leaf() == set(effects.PROBES) | set(effects.ELSEWHERE)
    assert not set(effects.PROBES) & set(effects.ELSEWHERE)


@pytest.mark.parametrize("field", effects.PROBES)
def test_a_field_changes_something(field):
    assert effects.effects(field)


def test_what_differs_nowhere_is_noticed(monkeypatch):
    monkeypatch.setitem(effects.PROBES, "run.args", effects.Probe("job", {}, ["1"], ["1"]))
    assert effects.effects("run.args") == []


def test_a_document_with_an_error_is_noticed(monkeypatch):
    monkeypatch.setitem(effects.PROBES, "run.args", effects.Probe("job", {}, ["1"], 7))
    with pytest.raises(ValueError, match=r"run\.args"):
        effects.effects("run.args")
