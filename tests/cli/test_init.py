"""`taugen init`: a repository that works at once, or nothing at all."""

import os
import subprocess
import sys

import pytest
import yaml

from tests.gitkit import git

IDENTITY = "Ada <ada@example.org>"


def author(repo):
    return git(repo, "log", "-1", "--format=%an <%ae>")


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_what_it_makes_checks_and_publishes_without_a_finding(taugen, tmp_path, engine):
    assert taugen("init", "acme", "--engine", engine, cwd=tmp_path).code == 0
    acme = tmp_path / "acme"
    checked = taugen("check", "--strict", cwd=acme)
    assert (checked.code, checked.out) == (0, "No problems in 1 run, 12 documents.\n")
    assert taugen("publish", cwd=acme).code == 0
    published = git(acme, "ls-tree", "-r", "--name-only", "deploy").splitlines()
    assert any(path.startswith("clusters/main/runs/research/") and path.endswith("/job.yaml") for path in published)
    assert git(acme, "status", "--porcelain") == ""


def test_it_is_a_first_commit_on_main_by_the_person_that_git_knows(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    assert git(tmp_path / "acme", "rev-list", "--count", "main") == "1"
    assert author(tmp_path / "acme") == IDENTITY


def test_without_a_name_in_git_the_commit_has_a_fixed_one_and_the_command_says_so(taugen, tmp_path, home):
    (home / ".gitconfig").unlink()
    ran = taugen("init", "acme", cwd=tmp_path)
    assert author(tmp_path / "acme") == "taugen <taugen@localhost>"
    assert "git knows no name here" in ran.err
    assert "git config --global user.name" in ran.err


def test_a_name_in_the_environment_counts(taugen, tmp_path, home, monkeypatch):
    (home / ".gitconfig").unlink()
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Grace")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "grace@example.org")
    assert "git knows no name" not in taugen("init", "acme", cwd=tmp_path).err
    assert author(tmp_path / "acme") == "Grace <grace@example.org>"


def test_a_folder_with_something_in_it_is_left_alone(taugen, tmp_path):
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "notes.txt").write_text("mine")
    ran = taugen("init", "acme", cwd=tmp_path)
    assert ran.code == 2
    assert "acme is not empty" in ran.err
    assert os.listdir(tmp_path / "acme") == ["notes.txt"]
    assert os.listdir(tmp_path) == ["acme"]


def test_a_file_in_its_place_is_left_alone(taugen, tmp_path):
    (tmp_path / "acme").write_text("mine")
    assert taugen("init", "acme", cwd=tmp_path).code == 2
    assert (tmp_path / "acme").read_text() == "mine"


def test_the_current_folder_keeps_its_place(taugen, tmp_path):
    """An empty folder is filled, not replaced: a shell may stand in it."""
    place = tmp_path.stat().st_ino
    assert taugen("init", ".", "--name", "acme", cwd=tmp_path).code == 0
    assert tmp_path.stat().st_ino == place
    assert (tmp_path / "taugen.yaml").is_file()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".taugen-")]


def test_nothing_is_left_when_it_fails_half_way(taugen, tmp_path, monkeypatch):
    from taugen.load import git as door

    def broken(args, **options):
        if "commit" in args:
            raise door.GitError(args, 128, "no space left on device")
        return real(args, **options)

    real = door.run
    monkeypatch.setattr(door, "run", broken)
    assert taugen("init", "acme", cwd=tmp_path).code != 0
    assert os.listdir(tmp_path) == []


def test_the_name_becomes_one_that_kubernetes_takes(taugen, tmp_path):
    taugen("init", "My Fleet", cwd=tmp_path)
    project = yaml.safe_load((tmp_path / "My Fleet" / "taugen.yaml").read_text())
    assert project["metadata"]["name"].startswith("my-fleet-")
    assert taugen("check", "--strict", cwd=tmp_path / "My Fleet").code == 0


@pytest.mark.parametrize("url", ["a b", "https://x/'; rm -rf ~", "{a: b}"])
def test_a_url_that_could_change_the_files_is_refused(taugen, tmp_path, url):
    ran = taugen("init", "acme", "--url", url, cwd=tmp_path)
    assert ran.code == 2
    assert "is no URL" in ran.err
    assert os.listdir(tmp_path) == []


def test_every_yaml_file_names_its_schema_and_the_schema_takes_it(taugen, tmp_path):
    import json

    import jsonschema

    taugen("init", "acme", cwd=tmp_path)
    acme = tmp_path / "acme"
    files = [acme / "taugen.yaml", *acme.glob("policy/*.yaml"), *acme.glob("workspaces/**/tau.yaml")]
    for path in files:
        first = path.read_text().partition("\n")[0]
        assert first.startswith("# yaml-language-server: $schema="), path
        schema = json.loads((path.parent / first.partition("=")[2]).read_text())
        for document in yaml.safe_load_all(path.read_text()):
            jsonschema.validate(document, schema)


def test_its_workflows_are_yaml_and_publish_with_the_whole_history(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    workflow = yaml.safe_load((tmp_path / "acme/.github/workflows/taugen.yml").read_text())
    checkout = workflow["jobs"]["publish"]["steps"][0]
    assert checkout["with"]["fetch-depth"] == 0
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["check"]["permissions"] == {"contents": "read"}
    assert yaml.safe_load((tmp_path / "acme/.gitlab-ci.yml").read_text())["publish"]["resource_group"]


def test_its_program_runs(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    program = tmp_path / "acme/workspaces/research/first-run/train.py"
    env = {"PATH": os.environ["PATH"], "TAU_OUTPUT_DIR": str(tmp_path / "out")}
    done = subprocess.run([sys.executable, str(program), "--steps", "300"], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "step 300  loss 0.0101  weight 2.999  bias 1.997"
    assert len((tmp_path / "out" / "metrics.jsonl").read_text().splitlines()) == 300
