"""A published fleet to start from, made once and copied for each test; a home without a past."""

import pytest

from tests.cli.kit import Taugen
from tests.publish.kit import Fleet


@pytest.fixture(scope="session")
def published_once(tmp_path_factory):
    fleet = Fleet.make(tmp_path_factory.mktemp("published") / "repo")
    assert fleet.publish().code == 0
    return fleet


@pytest.fixture
def fleet(published_once, tmp_path):
    """Acme, published once."""
    return published_once.copy(tmp_path / "repo")


@pytest.fixture
def new(tmp_path):
    """Acme, not published yet."""
    return Fleet.make(tmp_path / "repo")


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
    return folder
