"""What a command loads: help and completion start in under 150 ms because they load click and nothing else of weight."""

import subprocess
import sys
from pathlib import Path

import pytest

from taugen.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "pydantic",
    "jinja2",
    "git",
    "kubernetes",
    "ruamel",
    "jsonschema",
    "jsonschema_rs",
    "yaml",
    "pathspec",
    "asyncio",
    "multiprocessing",
}


def loaded(*args: str) -> set[str]:
    """Top-level modules that a run of the command line imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "taugen", *args], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    names = (line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("args", [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)], ids=" ".join)
def test_help_loads_nothing_heavy(args):
    assert loaded(*args) & HEAVY == set()


def test_the_measure_would_notice():
    assert "pydantic" in loaded("schema", "Cohort")
