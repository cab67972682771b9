"""Launchers, flags, processes, images and variables."""

import pytest

from taugen.resolve.images import ray_version
from taugen.resolve.program import is_python
from taugen.resolve.run import EnvVar
from tests.resolve.kit import IMAGE, PYTHON, job, play, rayjob

ENTRY = "entrypoint: train.py"


@pytest.mark.parametrize(
    ("entry", "lines", "launcher"),
    [
        ("train.py", "", "python"),
        ("train.py", "execution: {launcher: python}", "python"),
        ("train.py", "execution: {launcher: torchrun}", "torchrun"),
        ("[python, -m, x]", "", "command"),
        ("go", "", "shell"),
        ("gopy", "", "python"),
    ],
)
def test_what_starts_a_job(entry: str, lines: str, launcher: str) -> None:
    files = {"train.py": PYTHON, "go": "#!/bin/bash\n", "gopy": "#!/usr/bin/env python3\n"}
    run = play(job(lines).replace(ENTRY, f"entrypoint: {entry}"), files=files).decided
    assert run.program.launcher == launcher
    assert (run.program.file, run.program.argv) == ((None, ("python", "-m", "x")) if launcher == "command" else (entry, ()))


@pytest.mark.parametrize(
    ("entry", "lines", "launcher"),
    [
        ("train.py", "", "ray"),
        ("train.py", "execution: {launcher: ray-train}", "ray-train"),
        ("go", "", "shell"),
        ("[bash, -c, x]", "", "command"),
    ],
)
def test_what_starts_on_ray(entry: str, lines: str, launcher: str) -> None:
    files = {"train.py": PYTHON, "go": "#!/bin/bash\n"}
    run = play(rayjob("compute: {gpus: 1}", lines).replace(ENTRY, f"entrypoint: {entry}"), files=files).decided
    assert (run.program.launcher, run.program.python) == (launcher, "python")


def test_flags_are_as_typed_and_sorted() -> None:
    text = job("execution: {launcher: python, configs: {lr: 7e-2, debug: '', Amp: true, steps: 1_000}}")
    assert play(text).decided.program.flags == ("--Amp=true", "--debug", "--lr=7e-2", "--steps=1_000")
    torchrun = job("execution: {launcher: torchrun, configs: {max_restarts: 0, log-dir: /tmp/x}}")
    assert play(torchrun).decided.program.flags == ("--log-dir=/tmp/x", "--max-restarts=0")


def test_ray_tune_gets_its_search_space() -> None:
    lines = "execution: {launcher: ray-tune, metric: loss, num_samples: 8, configs: {lr: {uniform: [0.1, 1]}}}"
    program = play(rayjob("compute: {gpus: 1}", lines)).decided.program
    assert program.tune == {"metric": "loss", "mode": "min", "num_samples": 8, "max_concurrent_trials": 1}
    assert program.configs == {"lr": {"uniform": [0.1, 1]}}
    assert program.flags == ()


def test_torchrun_starts_a_process_for_each_gpu() -> None:
    assert play(job("execution: {launcher: torchrun}", gpus=4)).decided.processes == 4
    two = play(job("execution: {launcher: torchrun, nodes: 2, processes_per_node: 3}", gpus=3)).decided
    assert (two.nodes, two.processes, two.world_size) == (2, 3, 6)
    cpu = play(job("execution: {launcher: torchrun}", gpus=0)).decided
    assert (cpu.processes, cpu.world_size) == (1, 1)


def test_the_workers_of_a_torchrun_gang_are_its_nodes() -> None:
    assert play(job("compute: {gpus: 2, workers: 2}", "execution: {launcher: torchrun}", gpus=None)).decided.nodes == 2


def test_a_profile_with_nodes_needs_somebody_who_makes_them_a_gang() -> None:
    profile = "apiVersion: taugen.dev/v1alpha1\nkind: Profile\nmetadata:\n  name: l40s-small\nspec:\n"
    profile += "  gpus: 1\n  workers: 2\n  queue: research\n"
    text = job(gpus=None, profile="l40s-small")
    found = play(text, policy=profile).one("nodes-need-torchrun")
    assert found.origin is not None
    assert play(text + "execution: {launcher: torchrun}\n", policy=profile).decided.nodes == 2
    assert play(text.replace("workload_kind: job", "workload_kind: jobset"), policy=profile).decided.nodes == 2


def test_interpreter_setup_packages_and_arguments() -> None:
    text = job().replace(f"runtime: {{image: '{IMAGE}'}}", f"runtime: {{image: '{IMAGE}', python: python3.12, pip: [einops]}}")
    text = text.replace(ENTRY, f"{ENTRY}, args: [--n, 3], setup: 'echo hi'")
    program = play(text).decided.program
    assert (program.python, program.pip, program.args, program.setup) == ("python3.12", ("einops",), ("--n", "3"), "echo hi")


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("mcr.microsoft.com/aks/ai-runtime/ray:py3.12-ray2.56.0-cuda13.0", "2.56.0"),
        ("rayproject/ray:2.56.0-py312", "2.56.0"),
        ("rayproject/ray-ml:2.9.3.abc-gpu", "2.9.3"),
        ("registry:5000/x/ray:2.56.0@sha256:" + "1" * 64, "2.56.0"),
        ("team/base:v3-ray-2.40.0", "2.40.0"),
        ("rayproject/ray@sha256:" + "1" * 64, None),
        ("rayproject/ray:latest", None),
        ("rayproject/ray", None),
        ("team/base:2.56.0", None),
        ("team/xray2.56.0:1", None),
    ],
)
def test_the_version_of_ray_stands_in_the_tag(image: str, version: str | None) -> None:
    assert ray_version(image) == version


@pytest.mark.parametrize(
    ("file", "shebang", "python"), [("a.py", None, True), ("a", "/usr/bin/env python3", True), ("a", "/bin/sh", False), ("a", None, False)]
)
def test_what_python_is(file: str, shebang: str | None, python: bool) -> None:
    assert is_python(file, shebang) is python


def test_variables_by_layer() -> None:
    text = job().replace(
        f"runtime: {{image: '{IMAGE}'}}",
        f"runtime: {{image: '{IMAGE}', env: {{HF_HUB_OFFLINE: 0, B: x}}, env_secret: {{A: 'tracker:key'}}}}",
    )
    assert play(text).decided.env == (EnvVar("A", "", "tracker", "key"), EnvVar("B", "x"), EnvVar("HF_HUB_OFFLINE", "0"))
    assert play(job()).decided.env == (EnvVar("HF_HUB_OFFLINE", "1"),)


def test_images_by_layer() -> None:
    platform = "apiVersion: taugen.dev/v1alpha1\nkind: Platform\nmetadata:\n  name: tern\nspec:\n"
    platform += "  defaults: {images: {job: registry.tern.example/job:1, rayjob: registry.tern.example/ray:ray2.51.0}}\n"
    bare = job().replace(f"runtime: {{image: '{IMAGE}'}}\n", "")
    assert play(bare, policy=platform).decided.image == "registry.tern.example/job:1"
    assert play(bare.replace("kind: job", "kind: rayjob"), policy=platform).decided.ray_version == "2.51.0"
    found = play(bare).one("missing-image")
    assert "neither profile l40s-small, workspace speech nor platform tern has a default for a job" in found.message
