"""Plays every case of `tests/cases` on the real command."""

import pytest

from tests import casekit
from tests.casekit import Base, Case, cases, faults, finding_faults, object_faults, step_faults
from tests.cli.kit import Taugen

RUNS = [path for group in ("valid", "invalid", "policy") for path in cases(group)]


@pytest.fixture
def taugen(capfd, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TAUGEN_CACHE", "FORCE_COLOR", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    return Taugen(capfd)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return Base.of(casekit.process(), tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("folder", RUNS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_case(folder, base, taugen, tmp_path):
    assert faults(Case.read(folder), base, taugen, tmp_path) == []


@pytest.mark.parametrize("folder", cases("publish"), ids=lambda path: path.name)
def test_history(folder, taugen, tmp_path):
    assert list(step_faults(Case.read(folder), taugen, tmp_path)) == []


def test_every_folder_is_a_case():
    known = {path for group in casekit.KEYS for path in cases(group)}
    assert {path for path in casekit.FOLDER.glob("*/*") if path.is_dir()} == known


def test_every_kind_of_run_and_of_policy_is_in_some_case():
    text = "".join(path.read_text(errors="replace") for path in casekit.FOLDER.rglob("*.yaml"))
    kinds = ("Project", "Platform", "Cluster", "Flavor", "Topology", "Cohort", "Queue", "PriorityTier", "Profile", "Workspace", "Storage")
    assert [kind for kind in (*kinds, "HealthPolicy") if f"kind: {kind}\n" not in text] == []
    assert [word for word in ("job", "jobset", "rayjob") if f"workload_kind: {word}" not in text] == []
    assert [word for word in ("torchrun", "ray-train", "ray-tune") if f"launcher: {word}" not in text] == []


def test_a_difference_is_noticed():
    found = {"rule": "r", "file": "w/tau.yaml", "line": 2, "path": "a", "severity": "error", "message": "m", "hint": "h", "origin": None}
    want = {"rule": "r", "line": 2, "path": "a"}
    assert list(finding_faults([found], [want], "w")) == []
    for other in ({"line": 3}, {"rule": "s"}, {"path": "b"}, {"severity": "note"}, {"mentions": ["x"]}, {"origin": {"line": 1}}):
        assert len(list(finding_faults([found], [want | other], "w"))) == 2
    assert len(list(finding_faults([found, found], [want], "w"))) == 1
    env = [{"name": "A", "value": "1"}]
    obj = {"kind": "K", "metadata": {"name": "n"}, "spec": {"containers": [{"name": "c", "env": env}]}}
    right = {"kind": "K", "name": "n", "at": {"spec.containers[name=c].env[0].value": "1"}, "env": {"A": "1"}}
    assert list(object_faults(obj, right)) == []
    wrongs = ({"at": {"spec.x": 1}}, {"absent": ["spec.containers[0]"]}, {"contains": {"spec": "z"}}, {"env": {"A": "2"}}, {"name": "m"})
    for wrong in wrongs:
        assert len(list(object_faults(obj, {"kind": "K", **wrong}))) == 1
