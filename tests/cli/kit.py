"""Runs the real command line in this process, as `python -m taugen` would."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from taugen.__main__ import _run


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str


class Taugen:
    """`taugen(*args, cwd=…)`."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *args: str, cwd: Path) -> Ran:
        with _inside(cwd):
            self._capfd.readouterr()
            code = _run(list(args))
            out, err = self._capfd.readouterr()
        return Ran(code, out, err)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
