"""The driver of a hyperparameter search with Ray Tune.

The entrypoint is either a Python file with a function `train(config)` (it reports with `ray.tune.report`, or returns a dict), or any
program: then each trial runs it with `--NAME=VALUE` for each hyperparameter, the whole configuration as JSON in TAU_TRIAL_CONFIG, and takes
every line of its output that is a JSON object with the metric as a report.

Environment: TAU_TUNE_TRAIN_PATH, _METRIC, _MODE, _NUM_SAMPLES, _MAX_CONCURRENT_TRIALS, _PARAM_SPACE (JSON), _TRIAL_RESOURCES (JSON). In the
search space `{"loguniform": [1e-4, 0.1]}` names a function of `ray.tune` and its arguments, a list under `choice` or `grid_search` its
values; anything else is a constant. The state of the search is under TAU_CHECKPOINT_DIR or TAU_OUTPUT_DIR, so that a later attempt goes on
with it; the best trial is in `tune-best.json` there.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

SAMPLERS = (
    "choice",
    "grid_search",
    "uniform",
    "quniform",
    "loguniform",
    "qloguniform",
    "randn",
    "qrandn",
    "randint",
    "qrandint",
    "lograndint",
    "qlograndint",
)
WHOLE = ("choice", "grid_search")
VARIABLE = "TAU_TUNE_"


def setting(name: str) -> str:
    """A setting of the search."""
    return os.environ[VARIABLE + name]


def space(tune: Any, typed: dict[str, Any]) -> dict[str, Any]:
    """The search space as Ray Tune takes it. Raises ValueError for a sampler with wrong arguments."""
    out: dict[str, Any] = {}
    for name, value in typed.items():
        if not isinstance(value, dict):
            out[name] = value
            continue
        sampler, arguments = next(iter(value.items()), ("", []))
        if len(value) != 1 or sampler not in SAMPLERS:
            out[name] = space(tune, value)
            continue
        make = getattr(tune, sampler)
        try:
            out[name] = make(arguments) if sampler in WHOLE else make(**arguments) if isinstance(arguments, dict) else make(*arguments)
        except TypeError as error:
            raise ValueError(f"{name}: {sampler}: {error}") from None
    return out


def defines_train(path: str) -> bool:
    """Whether the file is Python with a function `train`."""
    if not path.endswith(".py"):
        return False
    with open(path, "rb") as stream:
        tree = ast.parse(stream.read(), path)
    return any(isinstance(node, ast.FunctionDef) and node.name == "train" for node in tree.body)


def flags(config: dict[str, Any]) -> list[str]:
    """The hyperparameters as arguments of a program."""
    return [f"--{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in sorted(config.items())]


def command(path: str, arguments: list[str]) -> list[str]:
    """How a program is started."""
    return ([sys.executable, path] if path.endswith(".py") else [path]) + arguments


def run_program(config: dict[str, Any], path: str, arguments: list[str], metric: str, report: Callable[[dict[str, Any]], None]) -> None:
    """One trial of a program: `report` gets each line of its output that carries the metric."""
    environ = dict(os.environ, TAU_TRIAL_CONFIG=json.dumps(config, sort_keys=True), PYTHONUNBUFFERED="1")
    process = subprocess.Popen(
        command(path, arguments) + flags(config), env=environ, stdout=subprocess.PIPE, cwd=os.path.dirname(path) or None
    )
    assert process.stdout is not None
    for line in process.stdout:
        sys.stdout.write(line.decode("utf-8", "replace"))
        sys.stdout.flush()
        try:
            values = json.loads(line)
        except ValueError:
            continue
        if isinstance(values, dict) and metric in values:
            report(values)
    if process.wait():
        raise RuntimeError(f"{os.path.basename(path)} ended with {process.returncode}")


def run_function(config: dict[str, Any], path: str) -> Any:
    """One trial of a file with `train(config)`."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.train(config)


def trainable(tune: Any, path: str, arguments: list[str], metric: str) -> Callable[[dict[str, Any]], Any]:
    """What Ray Tune calls for each trial."""
    if defines_train(path):
        return lambda config: run_function(config, path)

    def program(config: dict[str, Any]) -> None:
        run_program(config, path, arguments, metric, tune.report)

    return program


def main(arguments: list[str]) -> int:
    """Run the search, or go on with it."""
    from ray import tune  # type: ignore[import-not-found]

    path, metric, mode = setting("TRAIN_PATH"), setting("METRIC"), setting("MODE")
    place = os.environ.get("TAU_CHECKPOINT_DIR") or os.environ.get("TAU_OUTPUT_DIR")
    name = os.environ["TAU_RUN_ID"].replace("/", "-")
    worker = tune.with_resources(trainable(tune, path, arguments, metric), json.loads(setting("TRIAL_RESOURCES")))
    stored = os.path.join(place, name) if place else None
    if stored and tune.Tuner.can_restore(stored):
        tuner = tune.Tuner.restore(stored, trainable=worker, resume_errored=True)
    else:
        config = tune.TuneConfig(
            metric=metric, mode=mode, num_samples=int(setting("NUM_SAMPLES")), max_concurrent_trials=int(setting("MAX_CONCURRENT_TRIALS"))
        )
        tuner = tune.Tuner(
            worker,
            param_space=space(tune, json.loads(setting("PARAM_SPACE"))),
            tune_config=config,
            run_config=run_config(tune, name, place),
        )
    results = tuner.fit()
    if results.errors:
        sys.stderr.write(f"{len(results.errors)} of {len(results)} trials failed; the first: {results.errors[0]}\n")
    try:
        best = results.get_best_result(metric=metric, mode=mode)
    except RuntimeError as error:
        sys.stderr.write(f"no trial reported {metric}: {error}\n")
        return 1
    record = {"config": best.config, "metric": metric, "mode": mode, "value": best.metrics[metric]}
    text = json.dumps(record, sort_keys=True, default=str)
    sys.stdout.write(text + "\n")
    if place:
        with open(os.path.join(place, "tune-best.json"), "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
    return 1 if len(results.errors) == len(results) else 0


def run_config(tune: Any, name: str, place: str | None) -> Any:
    """Where Ray keeps the search: `tune.RunConfig` from Ray 2.43 on, before that in `ray.train`."""
    if hasattr(tune, "RunConfig"):
        return tune.RunConfig(name=name, storage_path=place)
    from ray import train

    return train.RunConfig(name=name, storage_path=place)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
