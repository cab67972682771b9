"""`taugen doctor`: what is here, what is missing, how to get it."""

import shutil

import pytest

from taugen.cli.doctor import text
from taugen.pipeline import doctor
from tests.gitkit import git


def states(lines):
    return {line.name: line.state for line in lines}


def test_everything_necessary_is_here(taugen, tmp_path):
    ran = taugen("doctor", cwd=tmp_path)
    assert ran.code == 0
    assert "Everything necessary is here." in ran.out
    assert "no taugen.yaml" in ran.out


def test_without_git_it_says_how_to_get_it_and_fails(taugen, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = taugen("doctor", cwd=tmp_path)
    assert ran.code == 1
    assert "missing and necessary: git" in ran.out
    assert "https://git-scm.com" in ran.out


def test_an_old_git_is_missing(tmp_path, monkeypatch):
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\necho git version 2.25.1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = {line.name: line for line in doctor.machine()}["git"]
    assert (found.state, found.needed) == ("missing", True)


def test_a_machine_without_kubectl_is_fine(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    found = {line.name: line for line in doctor.machine()}["kubectl"]
    assert (found.state, found.needed) == ("missing", False)


def test_a_repository_before_and_after_its_first_publish(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    acme = tmp_path / "acme"
    assert states(doctor.repository(acme)) == {
        "taugen.yaml": "ok", "policy": "ok", "Kubernetes": "ok", "Kueue": "ok", "KubeRay": "ok", "JobSet": "ok", "branch deploy": "look",
    }  # fmt: skip
    taugen("publish", cwd=acme)
    assert states(doctor.repository(acme))["branch deploy"] == "ok"
    git(acme, "commit", "-q", "--allow-empty", "-m", "later")
    git(acme, "remote", "add", "origin", "https://ada:token@git.example.org/acme.git")
    shown = taugen("doctor", cwd=acme).out
    assert "1 commit behind HEAD" in shown
    assert "https://git.example.org/acme.git" in shown
    assert "token" not in shown


def test_a_branch_that_taugen_did_not_write_last(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    git(tmp_path / "acme", "branch", "deploy")
    assert states(doctor.repository(tmp_path / "acme"))["branch deploy"] == "look"


def test_versions_that_are_not_shipped(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    platform = tmp_path / "acme/policy/platform.yaml"
    platform.write_text(platform.read_text().replace('kueue: "0.19"', 'kueue: "0.42"').replace('    jobset: "0.12"\n', ""))
    found = {line.name: line for line in doctor.repository(tmp_path / "acme")}
    assert found["Kueue"].state == "look"
    assert "0.19" in found["Kueue"].said
    assert "schema import" in found["Kueue"].hint
    assert found["JobSet"].hint == 'write jobset: "0.12"'


def test_broken_policy(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    (tmp_path / "acme/taugen.yaml").write_text("nothing")
    found = states(doctor.repository(tmp_path / "acme"))
    assert found["policy"] == "missing"


def test_a_cluster_is_asked_only_when_somebody_says_so():
    lines = list(doctor.cluster("kind", lambda _context: ("v1.35.2", {"kueue.x-k8s.io"})))
    assert states(lines) == {"kind": "ok", "Kueue": "ok", "KubeRay": "missing", "JobSet": "missing"}
    assert [line.name for line in lines if line.needed and line.state == "missing"] == []


def test_a_cluster_that_does_not_answer_is_no_traceback(taugen, tmp_path, monkeypatch):
    config = tmp_path / "config"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncontexts: [{name: gone, context: {cluster: gone, user: gone}}]\n"
        "clusters: [{name: gone, cluster: {server: 'http://127.0.0.1:9'}}]\nusers: [{name: gone, user: {token: x}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
    for context, said in (("gone", "can't be reached"), ("other", "no access")):
        ran = taugen("doctor", "--cluster", context, cwd=tmp_path)
        assert ran.code == 1
        assert said in ran.out


@pytest.mark.parametrize("color", [True, False])
def test_hints_stand_below_their_line(color):
    lines = [
        doctor.Line("machine", "git", "missing", "2.25", "install git", needed=True),
        doctor.Line("repository", "policy", "ok", "fine"),
    ]
    shown = text(lines, color=color)
    assert "-> install git" in shown
    assert shown.endswith("missing and necessary: git")
    assert ("\x1b[31m" in shown) is color
