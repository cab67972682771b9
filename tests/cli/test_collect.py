"""`taugen collect`, as a process."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collect import fakeapi, objects
from tests.collect.lab import CLUSTER, PROJECT, Lab, until
from tests.collect.objects import condition, job

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lab(tmp_path):
    store = fakeapi.Store(bookmark=0.1)
    with fakeapi.serving(store) as address:
        yield Lab(tmp_path, store, address)


def config(lab, **more) -> Path:
    """What is rendered into a cluster."""
    body = {
        "cluster": CLUSTER,
        "project": PROJECT,
        "evidence": {"url": str(lab.evidence), "branch": "evidence"},
        "deploy": {"url": str(lab.deploy), "branch": "deploy", "path": "clusters"},
        "namespaces": {objects.NAMESPACE: objects.WORKSPACE},
        "prometheus": None,
        "queries": {},
        "logs": {"every": 300, "store": None},
        "mounts": {},
        "prices": {"h100": 2.5},
        "signingKey": None,
        "interval": 0.2,
        **more,
    }
    path = lab.folder / "collector.json"
    path.write_text(json.dumps(body))
    return path


def arguments(lab, *args: str, cluster: str = CLUSTER) -> list[str]:
    state = str(lab.folder / "state")
    return [sys.executable, "-m", "taugen", "collect", "--cluster", cluster, "--kubeconfig", str(lab.kubeconfig), "--folder", state, *args]


def collect(lab, *args: str, cluster: str = CLUSTER):
    return subprocess.run(arguments(lab, *args, cluster=cluster), capture_output=True, text=True, cwd=ROOT, check=False)


def test_once_from_a_configuration(lab):
    lab.state()
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    done = collect(lab, "--once", "--config", str(config(lab)))
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, lab.branch().tip, "")
    again = collect(lab, "--once", "--config", str(config(lab)))
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "no news\n")


def test_it_follows_until_it_is_told_to_stop_and_commits_what_came(lab):
    with subprocess.Popen(arguments(lab, "--config", str(config(lab))), cwd=ROOT, stderr=subprocess.PIPE) as process:
        lab.store.put(job())
        until(lambda: lab.commits() == 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert lab.events() == ["submitted"]


def test_once_from_a_project(lab):
    """The shipped example: its policy says namespaces and branches."""
    example = lab.folder / "example"
    subprocess.run([sys.executable, "-m", "taugen", "init", str(example)], cwd=ROOT, check=True, capture_output=True)
    done = collect(lab, "--once", "-C", str(example), cluster="nowhere")
    assert done.returncode == 2
    assert "there is no cluster nowhere" in done.stderr
    (cluster,) = [line.split()[-1] for line in done.stderr.splitlines() if "clusters of this project" in line]
    done = collect(lab, "--once", "-C", str(example), cluster=cluster)
    assert (done.returncode, done.stderr) == (0, "no news\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"namespaces": ["team-speech"]}, "namespaces is not {NAMESPACE: WORKSPACE}"),
        ({"namespaces": {}}, "namespaces is not {NAMESPACE: WORKSPACE}"),
        ({"cluster": "mesa"}, "it is that of cluster mesa"),
        ({"evidence": {"url": 3, "branch": "x"}}, "evidence.url is not a text"),
        ({"interval": 0}, "interval is not a number of seconds"),
        ({"logs": {"every": "5m"}}, "logs.every is not a whole number of seconds"),
        ({"mounts": []}, "mounts is not an object"),
    ],
)
def test_a_configuration_that_is_wrong_is_refused(lab, change, said):
    done = collect(lab, "--once", "--config", str(config(lab, **change)))
    assert done.returncode == 2
    assert said in done.stderr


def test_what_is_not_there_is_refused(lab):
    for args, said in [
        (("--config", str(lab.folder / "none")), "can't be read"),
        (("--config", str(config(lab)), "--kubeconfig", str(lab.folder / "none")), "no access to a cluster"),
        (("--config", str(config(lab)), "--mount", "claim"), "is not CLAIM=PATH"),
    ]:
        done = collect(lab, "--once", *args)
        assert done.returncode == 2
        assert said in done.stderr


def test_a_server_that_is_away_is_refused_once(lab):
    fakeapi.kubeconfig(lab.kubeconfig, "http://127.0.0.1:1")
    done = collect(lab, "--once", "--config", str(config(lab)))
    assert done.returncode == 1
    assert "can't be listed" in done.stderr
