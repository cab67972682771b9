"""Stages look only downwards, and each thing outside has one door."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def modules() -> list[Path]:
    return [path for path in (ROOT / "taugen").rglob("*.py") if not {"data", "scripts"} & set(path.relative_to(ROOT).parts)]


def importers(module: str) -> set[str]:
    """The modules of taugen that import `module`, at whatever depth of their code."""
    found = set()
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            if any(name == module or name.startswith(module + ".") for name in names):
                found.add(path.relative_to(ROOT / "taugen").with_suffix("").as_posix())
    return found


def test_stages_look_only_downwards():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-500:]


def callers(pattern: str) -> set[str]:
    """The modules of taugen whose code has `pattern`."""
    return {
        path.relative_to(ROOT / "taugen").with_suffix("").as_posix()
        for path in modules()
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_programs_are_started_by_two_modules():
    """git by one; `taugen doctor` asks kubectl for its version."""
    assert callers(r"\bsubprocess\.(Popen|run|call|check_\w+|get\w+)\(") == {"load/git", "pipeline/doctor"}
    assert callers(r"\bos\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*)\(|\bfrom subprocess import") == set()


def test_each_library_for_the_outside_has_one_place():
    assert importers("git") == {"load/history"}
    assert importers("kubernetes") == {"collect/api", "pipeline/doctor"}
    assert importers("urllib3") == {"collect/api", "collect/metrics", "pipeline/doctor"}
    assert importers("cryptography") == {"evidence/sshsig"}
    assert importers("urllib.request") == set()
    assert importers("socket") == set()


def test_nothing_reads_the_clock_or_rolls_dice():
    """Waiting, and choosing how long, is the collector's clock's; nothing of it is ever written."""
    assert importers("time") | importers("random") | importers("uuid") | importers("secrets") == {"collect/clock"}
