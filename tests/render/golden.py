"""The shapes whose manifests are kept byte for byte under `golden/`. `python -m tests.render.golden` writes them anew: read the diff before
committing it."""

from pathlib import Path
from typing import Any

from taugen.render.run import render_run
from taugen.render.types import Rendered
from taugen.resolve.run import Checkpoint, Code, EnvVar, ImageCopy, Placement, Resources, VolumeMount
from taugen.words.emit import emit
from tests.render import build

FOLDER = Path(__file__).parent / "golden"
MODELS = "https://git.acme.example/vision/models.git"
RAY_IMAGE = "mcr.microsoft.com/aks/ai-runtime/ray:py3.12-ray2.56.0-cuda13.0"
H100 = Resources("192", "1760Gi", None, "1760Gi", extended={"nvidia.com/gpu": 8, "rdma/ib": 8})
RACK = Placement("training", "training", "priority", ("h100-80gb",), (build.TOLERATION,), ("required", "acme.example/rack"), None)
ZONE = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["1"]}]}
]}}}  # fmt: skip
DATA = VolumeMount("data", "nlp-corpora", "/data", True, "nlp-data")
CKPT = VolumeMount("ckpt", "checkpoints", "/checkpoints", False, "checkpoints")
AUTO = Checkpoint("/checkpoints/pretrain", "30m", 3, "auto")
RAY: dict[str, Any] = {
    "kind": "rayjob", "image": RAY_IMAGE, "ray_version": "2.56.0", "head": Resources("2", "8Gi", None, "8Gi"),
    "worker": Resources("16", "64Gi", None, "64Gi", extended={"nvidia.com/gpu": 1}), "shm": None,
}  # fmt: skip
PYTHON: dict[str, Any] = {"launcher": "ray", "python": "python"}
SHELL = {"run.sh": b'#!/usr/bin/env bash\nset -euo pipefail\necho "${1:-none}" $((1 + 1))\n', "lib/util.sh": b"x=1\n"}

SHAPES: dict[str, dict[str, Any]] = {
    "job-gpu": {
        "env": (EnvVar("LR", "0.001"), EnvVar("WANDB_API_KEY", secret="wandb", key="api-key")),
        "program": {"args": ("--out", "${OUT:-/data}/x", "$(HOME)", "a b")},
        "labels": {"owner": "lab"}, "max_duration": 7200,
    },
    "job-cpu-shell": {
        "files": SHELL, "worker": build.CPU, "placement": build.CPU_PLACE, "shm": None, "profile": "cpu-small",
        "program": {"launcher": "shell", "file": "run.sh", "setup": "export A=1\n"},
    },
    "job-command-from-image": {
        "code": Code("image", "says so", root=""), "worker": build.CPU, "placement": build.CPU_PLACE, "shm": None, "profile": None,
        "program": {"launcher": "command", "file": None, "argv": ("python", "-m", "grasp.eval")}, "working_dir": "/app", "token": True,
    },
    "job-gang-restricted": {
        "files": {"train.py": b"print(1)\n", "model.py": b"", "config.json": b"{}"},
        "nodes": 4, "processes": 8, "worker": H100, "placement": RACK, "restricted": True, "shm": "128Gi", "profile": "h100-node",
        "program": {"launcher": "torchrun", "args": ("--config", "config.json"), "flags": ("--max-restarts=0",)},
        "mounts": (DATA, CKPT), "data_dir": "/data", "output": "/checkpoints/pretrain", "checkpoint": AUTO, "grace_period": 300,
        "resilience": {"max_retries": 5, "retry_on": ["Preempted", "NodeFailure"], "fatal_exit_codes": [3, 4]},
        "experiment": {"project": "7b", "hyperparameters": {"lr": 0.1}, "seed": 7}, "env": (EnvVar("NCCL_IB_HCA", "mlx5"),),
    },
    "job-checkout-and-copies": {
        "code": Code("git", "says so", base="exp", url=MODELS, commit="c0ffee" + "0" * 34, secret=("deploy", "token")),
        "copies": (ImageCopy("weights", "registry.acme.example/weights@sha256:" + "0" * 64, "/weights", "/models/base"),),
        "program": {"pip": ("evaluate==0.4.3",)},
        "placement": Placement("training", "training", None, ("a100-80gb",), (build.TOLERATION,), None, ZONE),
    },
    "jobset-gang-rdma": {
        "kind": "jobset", "nodes": 2, "processes": 8, "worker": H100, "rdma": True, "placement": RACK, "env": (EnvVar("EMPTY", ""),),
        "program": {"launcher": "torchrun"}, "managed_by": "kueue.x-k8s.io/multikueue",
    },
    "rayjob-launch": {**RAY, "program": {**PYTHON, "pip": ("torch>=2.4.0",)}},
    "rayjob-train": {
        **RAY, "nodes": 2, "placement": RACK, "mounts": (CKPT,), "checkpoint": AUTO, "output": "/checkpoints/pretrain",
        "program": {
            **PYTHON, "launcher": "ray-train", "args": ("--epochs", "3"), "configs": {"torch_config": {"backend": "nccl"}},
            "setup": "export A=1\n",
        },
    },
    "rayjob-tune": {
        **RAY, "nodes": 4, "program": {
            **PYTHON, "launcher": "ray-tune", "configs": {"lr": {"loguniform": [0.0001, 0.1]}},
            "tune": {"metric": "loss", "mode": "min", "num_samples": 8, "max_concurrent_trials": 4},
        },
    },
    "rayjob-cpu-restricted": {
        **RAY, "nodes": 3, "worker": Resources("8", "32Gi", "16", "32Gi", disk="20Gi"), "placement": build.CPU_PLACE, "restricted": True,
        "program": PYTHON,
    },
}  # fmt: skip


def rendered(shape: str) -> list[Rendered]:
    """The objects of a shape."""
    changes = dict(SHAPES[shape])
    files = changes.pop("files", build.TRAIN)
    code = changes.pop("code", build.code(files))
    return render_run(build.run(shape, code=code, **changes), build.reader(files))


def texts(shape: str) -> dict[str, str]:
    """File name -> text."""
    return {item.path.rpartition("/")[2]: emit(item.obj) for item in rendered(shape)}


if __name__ == "__main__":
    for name in SHAPES:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for old in (FOLDER / name).iterdir():
            old.unlink()
        for file, text in texts(name).items():
            (FOLDER / name / file).write_text(text)
