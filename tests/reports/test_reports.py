"""What users of other tools reported, played on the real command: README.md beside this file names the reports."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from taugen.render.attempt import next_attempt
from tests.casekit import at, containers, fixture, process, texts
from tests.gitkit import commit, git, make_repo

HERE = Path(__file__).parent
TAUGEN = process()


def repository(folder, report, document="tau.yaml", workspace="speech"):
    """The fixture with the files of a report as a run; `document` is its tau.yaml."""
    run = fixture(folder) / "workspaces" / workspace / "report"
    run.mkdir()
    for path in (HERE / report).iterdir():
        if path.suffix != ".yaml":
            (run / path.name).write_bytes(path.read_bytes())
    (run / "tau.yaml").write_bytes((HERE / report / document).read_bytes())
    commit(make_repo(folder))
    return folder


def found(repo, taugen=TAUGEN):
    """The findings at the report's own file."""
    said = json.loads(taugen("check", "--format", "json", cwd=repo).out)["findings"]
    return [one for one in said if "/report/" in one["file"]]


def rendered(repo, out, taugen=TAUGEN):
    """Path -> text of what is rendered for the report's run."""
    ran = taugen("render", "-o", str(out), cwd=repo)
    assert ran.code == 0, ran.err
    return {path: text for path, text in texts(out).items() if "/report/tau.yaml" in text.partition("\n")[0] and "/runs/" in path}


def objects(repo, out):
    """Kind -> object of the report's run."""
    return {obj["kind"]: obj for obj in map(yaml.safe_load, rendered(repo, out).values())}


def environment(obj):
    """Name -> value of the variables of an object's containers."""
    return {entry["name"]: entry.get("value", "") for one in containers(obj) for entry in one.get("env", ())}


def test_a_late_attempt_keeps_its_name_short(tmp_path):
    made = objects(repository(tmp_path / "r", "01-late-attempts"), tmp_path / "o")
    first = made["RayJob"]
    assert environment(first)["TAU_RETRY_MAX"] == "150"
    names = {1: first["metadata"]["name"]}
    current, attempt = [first], 1
    for wanted in (9, 10, 99, 100, 151):
        while attempt < wanted:
            attempt += 1
            current = next_attempt(current, attempt, "")
        names[wanted] = current[0]["metadata"]["name"]
    assert all(len(name) <= 47 and re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name) for name in names.values())
    run = made["ConfigMap"]["metadata"]["name"]
    assert names == {number: f"{run}-{number}" for number in names}


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_order_of_keys_is_no_news(tmp_path, seed):
    taugen = process(PYTHONHASHSEED=seed)
    one = repository(tmp_path / "one", "03-order-of-keys", "one.yaml")
    before = rendered(one, tmp_path / "a", taugen)
    assert taugen("publish", cwd=one).code == 0
    tip = git(one, "rev-parse", "deploy")
    text = (HERE / "03-order-of-keys" / "other.yaml").read_bytes()
    for again in (text, text.replace(b"\n", b"\r\n")):
        (one / "workspaces/speech/report/tau.yaml").write_bytes(again)
        commit(one)
        assert rendered(one, tmp_path / "b", taugen) == before != {}
        assert taugen("publish", cwd=one).code == 0
        assert git(one, "rev-parse", "deploy") == tip


def test_dollars_arrive_as_they_are_typed(tmp_path):
    repo = repository(tmp_path / "r", "05-dollars-in-scripts")
    made = objects(repo, tmp_path / "o")
    assert {at(obj, "metadata.annotations[kustomize.toolkit.fluxcd.io/substitute]") for obj in made.values()} == {"disabled"}
    script = (HERE / "05-dollars-in-scripts" / "run.sh").read_text()
    assert made["ConfigMap"]["data"]["run.sh"] == script
    assert environment(made["Job"])["PATTERN"] == "${OUT:-/data}/x"
    assert environment(made["Job"])["PRICE"] == "$5"
    assert at(made["Job"], "spec.template.spec.containers[0].args")[-2:] == ["--out", "${OUT:-/data}/x"]
    words = at(made["Job"], "spec.template.spec.containers[0].args")[-2:]
    (tmp_path / "run.sh").write_text(script)
    ran = subprocess.run(
        ["bash", str(tmp_path / "run.sh"), *words], env=os.environ | environment(made["Job"]), capture_output=True, text=True, check=True
    )
    assert ran.stdout == "--out 5 42 ${OUT:-/data}/x|$5\n${OUT:-/data}/x 15 42 ${OUT:-/data}/x|$5\n"


def test_every_gpu_has_a_process_or_somebody_is_told(tmp_path):
    repo = repository(tmp_path / "r", "07-idle-gpus", "left-out.yaml")
    assert found(repo) == []
    job = objects(repo, tmp_path / "o")["Job"]
    assert at(job, "spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]") == "4"
    assert (environment(job)["PET_NPROC_PER_NODE"], environment(job)["TAU_WORLD_SIZE"]) == ("4", "4")


def test_one_process_on_four_gpus_is_taken_at_its_word(tmp_path):
    repo = repository(tmp_path / "r", "07-idle-gpus", "one.yaml")
    (note,) = found(repo)
    assert (note["severity"], note["path"]) == ("note", "execution.processes_per_node")
    assert {"1", "4"} <= set(re.findall(r"\d+", note["message"]))
    job = objects(repo, tmp_path / "o")["Job"]
    assert (environment(job)["PET_NPROC_PER_NODE"], environment(job)["TAU_WORLD_SIZE"]) == ("1", "1")


def test_a_publish_never_causes_the_next(tmp_path):
    repo = repository(tmp_path / "r", "13-commits-of-their-own-making")
    assert TAUGEN("publish", cwd=repo).code == 0
    tip = git(repo, "rev-parse", "deploy")
    trees = []
    for zone in ("Pacific/Kiritimati", "America/St_Johns", "UTC"):
        taugen = process(TZ=zone, LC_ALL="C.UTF-8", PYTHONHASHSEED="random", HOSTNAME=zone)
        assert taugen("publish", cwd=repo).code == 0
        trees.append(rendered(repo, tmp_path / zone.replace("/", "-"), taugen))
    assert trees[0] == trees[1] == trees[2] != {}
    commit(repo, {"NOTES.md": "of today\n"}, date="2026-03-04T05:06:07+00:00")
    assert TAUGEN("publish", cwd=repo).code == 0
    assert git(repo, "rev-parse", "deploy") == tip
    assert git(repo, "rev-list", "--count", "deploy") == "1"
    head = git(repo, "rev-parse", "HEAD~1")
    tree = "".join(
        git(repo, "show", f"deploy:{path}") for path in git(repo, "ls-tree", "-r", "--name-only", "deploy", "clusters").splitlines()
    )
    assert head not in tree
    assert head[:12] not in tree


def test_six_wrong_keys_are_six_findings(tmp_path):
    repo = repository(tmp_path / "r", "15-wrong-keys")
    said = {(one["line"], one["path"]): one for one in found(repo)}
    wanted = {
        (2, "num_workers"): "compute.workers",
        (3, "shm_size"): "compute.shm_size",
        (6, "run.entrypoin"): "entrypoint",
        (10, "policy.flux_settings"): "profile, queue, priority",
        (13, "runtime.gpu"): "compute.gpus",
        (17, "compute.memroy"): "memory",
    }
    assert said.keys() == wanted.keys()
    assert [place for place, word in wanted.items() if word not in said[place]["hint"]] == []
    assert "did you mean" not in said[10, "policy.flux_settings"]["hint"]
    ran = TAUGEN("check", cwd=repo)
    assert (ran.code, ran.out.count("[unknown-key]"), "Traceback" in ran.out + ran.err) == (1, 6, False)


def test_a_launcher_that_is_not_built_is_refused_at_its_line(tmp_path):
    repo = repository(tmp_path / "r", "17-processes-in-all", "accelerate.yaml", "climate")
    launcher, total = found(repo)
    assert (launcher["severity"], launcher["rule"], launcher["line"], launcher["path"]) == ("error", "not-yet", 6, "execution.launcher")
    assert (total["severity"], total["line"], total["path"]) == ("error", 9, "execution.configs.num_processes")
    assert {"8", "16"} <= set(re.findall(r"\d+", total["message"]))


def test_processes_in_all_are_computed(tmp_path):
    repo = repository(tmp_path / "r", "17-processes-in-all", "torchrun.yaml", "climate")
    job = objects(repo, tmp_path / "o")["Job"]
    assert (at(job, "spec.completions"), at(job, "spec.parallelism")) == (2, 2)
    said = environment(job)
    assert (said["PET_NNODES"], said["PET_NPROC_PER_NODE"], said["TAU_WORLD_SIZE"]) == ("2", "8", "16")


def test_a_flag_that_contradicts_them_is_an_error_at_its_line(tmp_path):
    repo = repository(tmp_path / "r", "17-processes-in-all", "clash.yaml", "climate")
    assert [(one["severity"], one["line"], one["path"]) for one in found(repo)] == [
        ("error", 9, "execution.configs.nproc_per_node"),
        ("error", 9, "execution.configs.nnodes"),
    ]
