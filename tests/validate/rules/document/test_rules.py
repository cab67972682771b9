"""Each rule on documents: the smallest file that breaks it, the one edit that mends it, nothing else found on the way."""

import difflib
from functools import lru_cache
from pathlib import Path

import pytest

from taugen.diag import Diagnostic, Severity
from taugen.policy.load import load_policy
from taugen.policy.set import Policy
from taugen.spec.read import read_file
from taugen.validate.engine import check_document
from taugen.validate.rules import document
from tests.policykit import fixture_with

HERE = Path(__file__).parent
NAMES = [rule.__name__.rpartition(".")[2] for rule in document.RULES]


@lru_cache(maxsize=1)
def fixture_policy() -> Policy:
    policy, found = load_policy(fixture_with())
    assert policy is not None
    assert not found
    return policy


def findings(text: str, policy: Policy | None = None, workspace: str = "speech") -> list[Diagnostic]:
    """What reading and every registered rule find in a document of the workspace."""
    docs, found = read_file(f"workspaces/{workspace}/asr/tau.yaml", text.encode(), workspace)
    assert not found
    return [*docs[0].findings, *check_document(docs[0], policy or fixture_policy())]


def test_registered_in_order_with_a_case_each() -> None:
    assert sorted(NAMES) == NAMES
    assert {p.name for p in HERE.iterdir() if p.is_dir() and p.name != "__pycache__"} == set(NAMES)
    modules = {p.stem for p in Path(document.__file__).parent.glob("*.py") if not p.name.startswith("_")}
    assert modules == set(NAMES)


def test_ids_are_unique() -> None:
    assert len({rule.ID for rule in document.RULES}) == len(document.RULES)


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_break_is_found(name: str) -> None:
    rule = next(r for r in document.RULES if r.__name__.endswith(f".{name}"))
    found = findings((HERE / name / "breaks.yaml").read_text())
    assert {d.rule for d in found} == {rule.ID}, found
    for d in found:
        assert d.hint
        assert d.path
        assert not d.message.endswith(".")
        assert d.severity is not Severity.NOTE


@pytest.mark.parametrize("name", NAMES)
def test_the_mend_is_clean_and_small(name: str) -> None:
    broken, mended = ((HERE / name / f"{which}.yaml").read_text() for which in ("breaks", "mends"))
    assert findings(mended) == []
    changed = [line for line in difflib.ndiff(broken.splitlines(), mended.splitlines()) if line[:1] in "+-"]
    assert 1 <= len(changed) <= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_explains_itself(name: str) -> None:
    text = next(r for r in document.RULES if r.__name__.endswith(f".{name}")).__doc__ or ""
    assert text.split("\n\n")[0].endswith(".")
    assert all(part in text for part in ("Breaks:", "Mends:", "Source:"))
