"""Every policy rule: the file that breaks it, the one edit that mends it, and nothing else found on the way."""

import importlib
import pkgutil
import textwrap
from pathlib import Path

import pytest

from taugen.diag import Diagnostic, Severity
from taugen.policy import model
from taugen.policy.load import load_policy
from taugen.validate.rules import policy as stage
from tests.policykit import fixture_with

HERE = Path(__file__).parent
MODULES = sorted(m.name for m in pkgutil.iter_modules(stage.__path__) if not m.name.startswith("_"))


def findings(text: str) -> list[Diagnostic]:
    read, found = load_policy(fixture_with(text))
    assert read is not None, found
    return found + [d for rule in stage.RULES for d in rule.check(read)]


def ids(found: list[Diagnostic], least: Severity) -> set[str]:
    order = [Severity.NOTE, Severity.WARNING, Severity.ERROR]
    return {d.rule for d in found if order.index(d.severity) >= order.index(least)}


def test_the_fixture_is_clean() -> None:
    assert findings("") == []


def test_registered() -> None:
    assert [m.__name__.rpartition(".")[2] for m in stage.RULES] == MODULES
    assert sorted(p.name for p in HERE.iterdir() if p.is_dir() and not p.name.startswith("__")) == MODULES


@pytest.mark.parametrize("name", MODULES)
def test_breaks_and_mends(name: str) -> None:
    rule = importlib.import_module(f"{stage.__name__}.{name}")
    assert name.replace("_", "-") == rule.ID
    broken, mended = ((HERE / name / f"{which}.yaml").read_text() for which in ("breaks", "mends"))
    found = findings(broken)
    mine = [d for d in found if d.rule == rule.ID]
    assert mine, found
    for d in mine:
        first = d.message.split()[0]
        assert not first[0].isupper() or first in model.KINDS or first != first.capitalize()
        assert not d.message.endswith(".")
        assert d.hint
        assert d.path.startswith(("spec.", "metadata."))
    assert ids(found, Severity.ERROR) <= {rule.ID}, found
    assert rule.ID not in ids(findings(mended), Severity.NOTE), findings(mended)
    assert ids(findings(mended), Severity.ERROR) == set(), findings(mended)


@pytest.mark.parametrize("name", MODULES)
def test_its_documentation_shows_both(name: str) -> None:
    text = importlib.import_module(f"{stage.__name__}.{name}").__doc__ or ""
    title, _, rest = text.partition("\n\n")
    assert title.endswith(".")
    assert "\nSource: " in rest
    for which, word in (("breaks", "Breaks:\n\n"), ("mends", "Mends:\n\n")):
        shown = rest.partition(word)[2].replace("\n    ", "\n").removeprefix("    ")
        typed = (HERE / name / f"{which}.yaml").read_text().replace("apiVersion: taugen.dev/v1alpha1\n", "")
        if typed.count("\n") < 40:
            assert shown.startswith(textwrap.dedent(typed).rstrip("\n")), name


DOCUMENTS = sorted(path for path in fixture_with().files if path != "taugen.yaml")


@pytest.mark.parametrize("path", DOCUMENTS)
@pytest.mark.parametrize("damage", ["nonsense: 1\nspec:", "spec: 5\nwas:"])
def test_a_broken_document_is_one_finding(path: str, damage: str) -> None:
    """Whatever it would have said is not missed anywhere else."""
    tree = fixture_with()
    tree.files[path] = tree.files[path].replace(b"spec:", damage.encode(), 1)
    read, found = load_policy(tree)
    assert read is not None
    found += [d for rule in stage.RULES for d in rule.check(read)]
    assert {d.span.file for d in found} == {path}, found
    assert {d.rule for d in found} <= {"unknown-key", "value-type"}, found


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_missing_document_is_told_where_it_is_named(path: str) -> None:
    """Findings of `unknown-name`, and none that only follows from it."""
    tree = fixture_with()
    del tree.files[path]
    read, found = load_policy(tree)
    assert read is not None
    found += [d for rule in stage.RULES for d in rule.check(read)]
    assert {d.rule for d in found if d.severity is Severity.ERROR} <= {"unknown-name"}, found
