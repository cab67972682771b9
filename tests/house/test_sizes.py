"""Small by numbers: the limits of docs/architecture, counted."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for path in (ROOT / "taugen").rglob("*.py") if "data" not in path.relative_to(ROOT).parts)


def functions() -> Iterator[tuple[str, int]]:
    """(place, lines) of every function and method, nested ones too, without decorators."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_function_is_longer_than_80_lines():
    assert [f"{place}: {length}" for place, length in functions() if length > 80] == []


def test_nine_of_ten_functions_have_at_most_30_lines():
    assert quantiles([length for _, length in functions()], n=10)[-1] <= 30


def test_no_module_is_longer_than_500_lines():
    assert [f"{path.relative_to(ROOT)}: {lines(path)}" for path in MODULES if lines(path) > 500] == []


def test_half_of_the_modules_have_at_most_150_lines():
    assert median(lines(path) for path in MODULES if path.name != "__init__.py") <= 150


def test_every_module_says_what_comes_in_and_what_leaves():
    """A docstring at the head; those of stages (more than 60 lines) say it in the words In and Out, a rule says what it breaks."""
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path


def test_no_work_is_left_for_later_in_comments():
    words = ("TO" + "DO", "FIX" + "ME", "X" + "XX")
    assert [f"{path}: {word}" for path in MODULES for word in words if word in path.read_text(encoding="utf-8")] == []
