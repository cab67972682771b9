"""A reader's machine, and a clock that stands still."""

from datetime import UTC, datetime

import pytest

from taugen.cli import clock
from tests.cli.kit import Taugen
from tests.readers import kit

NOW = datetime(2026, 5, 4, 13, 5, tzinfo=UTC)


@pytest.fixture
def taugen(capfd):
    return Taugen(capfd)


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TAUGEN_CACHE", "FORCE_COLOR", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return folder


@pytest.fixture
def lab(tmp_path):
    """(fleet, runs by workspace, evidence)."""
    fleet, runs = kit.fleet(tmp_path / "lab")
    return fleet, runs, kit.Evidence(fleet.path)
