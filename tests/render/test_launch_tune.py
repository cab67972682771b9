"""The search driver: functions, programs, the space, going on with a stored search."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from taugen.render.env import environment
from taugen.render.frame import frame
from taugen.render.run import render_run
from taugen.resolve.run import ResolvedRun, Resources
from tests.render import build
from tests.render.kubelet import Node

STUB = Path(__file__).parent / "stub"
TUNE = {"metric": "loss", "mode": "min", "num_samples": 3, "max_concurrent_trials": 4}
SPACE = {"lr": {"loguniform": [0.0001, 0.1]}, "opt": {"choice": ["sgd", "adam"]}, "depth": 4}


def tuned(files: dict[str, bytes], **changes: Any) -> ResolvedRun:
    program = {"launcher": "ray-tune", "python": sys.executable, "tune": TUNE, "configs": SPACE, **changes.pop("program", {})}
    return build.run(kind="rayjob", files=files, nodes=4, program=program, **changes)


def search(tmp_path: Path, files: dict[str, bytes], code: int = 0, **changes: Any) -> tuple[str, str]:
    found = Node(tmp_path, render_run(tuned(files, **changes), build.reader(files)))
    found.mount()
    path = found.environment(found.run["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0])["PYTHONPATH"]
    process = found.start(PYTHONPATH=f"{STUB}:{path}")
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    return out, err


def test_a_function_is_searched(tmp_path: Path) -> None:
    files = {
        "train.py": b"from lib import loss\n\ndef train(config):\n    return {'loss': loss(config)}\n",
        "lib.py": b"def loss(c):\n    return c['lr']\n",
    }
    (tmp_path / "data").mkdir()
    out, _ = search(tmp_path, files, output="/data")
    asked, best = out.splitlines()
    settings, kept, resources = json.loads(asked.removeprefix("asked "))
    assert settings == {"metric": "loss", "mode": "min", "num_samples": 3, "max_concurrent_trials": 4}
    assert kept == {"name": "vision-segment-cells-8258c35f", "storage_path": f"{tmp_path}/data"}
    assert resources == {"cpu": 12, "gpu": 1}
    assert json.loads(best) == {"config": {"lr": 0.0001, "opt": "sgd", "depth": 4}, "metric": "loss", "mode": "min", "value": 0.0001}
    assert json.loads((tmp_path / "data/tune-best.json").read_text()) == json.loads(best)


def test_a_program_is_searched_by_what_it_prints(tmp_path: Path) -> None:
    files = {
        "train.py": b"import json, sys, os\nprint(sys.argv[1:])\nprint('{broken')\nlr = json.loads(os.environ['TAU_TRIAL_CONFIG'])['lr']\n"
        b"print(json.dumps({'step': 1}))\nprint(json.dumps({'loss': -lr}))\n"
    }
    out, _ = search(tmp_path, files, program={"args": ("--data", "$x")})
    assert "['--data', '$x', '--depth=4', '--lr=0.0001', '--opt=sgd']" in out
    assert json.loads(out.splitlines()[-1])["config"]["lr"] == pytest.approx(0.01)


def test_a_search_whose_trials_fail_fails(tmp_path: Path) -> None:
    _, err = search(tmp_path, {"train.py": b"raise SystemExit(7)\n"}, code=1)
    assert "train.py ended with 7" in err
    assert "no trial reported loss" in err


def test_a_stored_search_goes_on(tmp_path: Path) -> None:
    (tmp_path / "data/vision-segment-cells-8258c35f").mkdir(parents=True)
    out, _ = search(tmp_path, {"train.py": b"def train(config):\n    return {'loss': 1}\n"}, output="/data")
    assert json.loads(out.splitlines()[-1])["config"] == {"lr": "restored"}


def test_wrong_arguments_of_a_sampler_are_named(tmp_path: Path) -> None:
    _, err = search(tmp_path, build.TRAIN, code=1, program={"configs": {"lr": {"loguniform": [1, 2, 3]}}})
    assert "lr: loguniform" in err


@pytest.mark.parametrize(
    ("gpus", "at_once", "nodes", "wanted"),
    [
        (1, 4, 4, {"cpu": 12, "gpu": 1}),
        (8, 5, 1, {"cpu": 2, "gpu": 1}),
        (8, 99, 1, {"cpu": 2, "gpu": 1}),  # five trials never share a worker among 99
        (8, 3, 1, {"cpu": 4, "gpu": 2}),
        (1, 2, 1, {"cpu": 6, "gpu": 0.5}),
        (0, 5, 2, {"cpu": 4}),
    ],
)
def test_trials_share_the_workers(gpus: int, at_once: int, nodes: int, wanted: dict[str, float]) -> None:
    worker = Resources("12", "1Gi", None, "1Gi", extended={"nvidia.com/gpu": gpus})
    tune = {**TUNE, "num_samples": 5, "max_concurrent_trials": at_once}
    run = build.run(kind="rayjob", nodes=nodes, worker=worker, program={"launcher": "ray-tune", "tune": tune})
    env = {e["name"]: e.get("value") for e in environment(frame(run, 1, "", "")) if isinstance(e, dict)}
    assert json.loads(str(env["TAU_TUNE_TRIAL_RESOURCES"])) == wanted
