"""A machine of somebody's: a home without a past."""

import pytest

from tests.cli.kit import Taugen


@pytest.fixture
def taugen(capfd):
    return Taugen(capfd)


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TAUGEN_CACHE", "FORCE_COLOR", "GIT_CONFIG_GLOBAL", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return folder
