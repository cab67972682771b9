"""Every finding that the source can make is documented, and every documented one can be made."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from taugen.pipeline import catalog

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"[a-z]+(-[a-z0-9]+)+")
MAKERS = {
    "Diagnostic",
    "finding",
    "problem",
    "Obstacle",
    "Refusal",
    "Breach",
    "error",
    "warn",
    "note",
    "add",
    "_add",
    "_finding",
    "_fault",
    "_rows",
    "fault",
    "bad",
}
"""Functions whose early arguments name a finding."""
TABLES = ("taugen/policy/errors.py", "taugen/policy/documents.py", "taugen/spec/errors.py", "taugen/load/code.py")
"""Modules that choose a finding's id first, in a tuple, and make it later."""
COMPOSED = {"yaml-anchor", "yaml-alias"}
"""Ids that the source puts together from a word."""


def constants(node: ast.AST | None) -> Iterator[str]:
    """The ids that an argument can be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.fullmatch(node.value):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def made(path: Path) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in MAKERS:
                for argument in node.args[:3]:
                    yield from constants(argument)
        elif isinstance(node, ast.Tuple) and node.elts and name in TABLES:
            yield from constants(node.elts[0])
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in {"ID", "RULE", "_RULE"}:
            yield from constants(node.value)


def sources() -> list[Path]:
    return [p for p in sorted((ROOT / "taugen").rglob("*.py")) if not {"data", "scripts"} & set(p.relative_to(ROOT).parts)]


def every_id() -> dict[str, str]:
    """id -> a module that makes it."""
    return {rule: path.relative_to(ROOT).as_posix() for path in sources() for rule in made(path)}


def test_what_is_made_is_documented():
    known = catalog.entries()
    assert {rule: place for rule, place in every_id().items() if rule not in known} == {}


def test_what_is_documented_is_made():
    texts = "\n".join(path.read_text(encoding="utf-8") for path in sources())
    assert [rule for rule in catalog.entries() if f'"{rule}"' not in texts and rule not in COMPOSED] == []


def test_the_search_would_notice():
    assert len(every_id()) > 100
    assert {"yaml-tab", "profile-limit", "unknown-key", "run-vanished", "policy-kind"} <= set(every_id())


@pytest.mark.parametrize("entry", catalog.entries().values(), ids=lambda e: e.id)
def test_documentation_says_something(entry):
    assert len(entry.text) > 40
    assert set(entry.severity.split(" or ")) <= {"error", "warning", "note"}
    if entry.stage:
        for heading in ("Breaks", "Mends", "Source:"):
            assert heading in entry.text


def severities(path: Path) -> set[str]:
    """What the calls of a rule that make its finding pass as severity: the words in it, an error where they pass none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    words = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "Severity"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and getattr(node.args[0], "id", "") == "ID":
            words |= {"ERROR"} if not any(keyword.arg == "severity" for keyword in node.keywords) else set()
    return {word.lower() for word in words}


RULES = sorted(path for path in (ROOT / "taugen" / "validate" / "rules").rglob("*.py") if not path.name.startswith("_"))


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_the_severity_that_is_documented_is_the_one_that_is_found(path: Path) -> None:
    rule = next((node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)), None)
    assert rule is not None
    name = ast.literal_eval(rule.value)
    assert set(catalog.entries()[name].severity.split(" or ")) == severities(path)
