"""A reader's machine, and a clock that stands still."""

from datetime import UTC, datetime

import pytest

from taugen.cli import clock
from tests.homekit import home, taugen
from tests.readers import kit

__all__ = ["home", "taugen"]

NOW = datetime(2026, 5, 4, 13, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def still(monkeypatch):
    """It is always the same moment."""
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.fixture
def lab(tmp_path):
    """(fleet, runs by workspace, evidence)."""
    fleet, runs = kit.fleet(tmp_path / "lab")
    return fleet, runs, kit.Evidence(fleet.path)
