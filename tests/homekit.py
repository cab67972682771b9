"""What tests of commands stand on: the command itself, a home without a past, a published fleet. A folder's conftest.py
imports what it needs.
"""

import pytest

from tests.cli.kit import Taugen
from tests.publish.kit import Fleet

_SETTINGS = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TAUGEN_CACHE", "FORCE_COLOR", "GIT_CONFIG_GLOBAL", "KUBECONFIG")


@pytest.fixture
def taugen(capfd):
    """The command, in this process."""
    return Taugen(capfd)


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A home without a past: nothing of the machine's settings reaches a test."""
    folder = tmp_path_factory.mktemp("home")
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    return folder


@pytest.fixture(autouse=True)
def ada(home):
    """The home is a person's, whom git knows."""
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")


@pytest.fixture(scope="session")
def published_once(tmp_path_factory):
    """Made once for all tests, and copied for each."""
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
