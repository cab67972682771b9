"""Runs every sample in turn and keeps what was asked of it; a stored search is a file `stored` with the metric reports of its trials."""

import json
import os
import sys
from typing import Any

reports: list[dict[str, Any]] = []


def loguniform(lower: float, upper: float) -> list[Any]:
    return ["loguniform", lower, upper]


def choice(values: list[Any]) -> list[Any]:
    return ["choice", values]


def report(values: dict[str, Any]) -> None:
    reports.append(values)


def with_resources(trainable: Any, resources: Any) -> Any:
    trainable.resources = resources
    return trainable


class TuneConfig:
    def __init__(self, **settings: Any) -> None:
        self.settings = settings


class RunConfig(TuneConfig):
    pass


class Best:
    def __init__(self, config: Any, metrics: Any) -> None:
        self.config, self.metrics = config, metrics


class Results:
    def __init__(self, trials: list[Best], errors: list[Exception]) -> None:
        self.trials, self.errors = trials, errors

    def __len__(self) -> int:
        return len(self.trials) + len(self.errors)

    def get_best_result(self, metric: str, mode: str) -> Best:
        if not self.trials:
            raise RuntimeError("no trial")
        return sorted(self.trials, key=lambda t: t.metrics[metric], reverse=mode == "max")[0]


def drawn(value: Any, sample: int) -> Any:
    if isinstance(value, list) and value[:1] == ["loguniform"]:
        return value[1] * 10**sample
    return value[1][sample % len(value[1])] if isinstance(value, list) and value[:1] == ["choice"] else value


class Tuner:
    def __init__(self, trainable: Any, *, param_space: Any, tune_config: TuneConfig, run_config: RunConfig) -> None:
        self.trainable, self.space, self.tune, self.run = trainable, param_space, tune_config, run_config

    @staticmethod
    def can_restore(path: str) -> bool:
        return os.path.exists(path)

    @classmethod
    def restore(cls, path: str, *, trainable: Any, resume_errored: bool) -> "Tuner":
        assert resume_errored
        settings = {"metric": "loss", "mode": "min", "num_samples": 1}
        run = RunConfig(name="", storage_path=path)
        return cls(trainable, param_space={"lr": "restored"}, tune_config=TuneConfig(**settings), run_config=run)

    def fit(self) -> Results:
        trials, errors = [], []
        for sample in range(self.tune.settings["num_samples"]):
            config = {name: drawn(value, sample) for name, value in self.space.items()}
            before = len(reports)
            try:
                last = self.trainable(config)
            except Exception as error:
                errors.append(error)
                continue
            seen = reports[before:]
            if last or seen:
                trials.append(Best(config, last or seen[-1]))
        asked = json.dumps([self.tune.settings, self.run.settings, self.trainable.resources], sort_keys=True)
        sys.stdout.write(f"asked {asked}\n")
        return Results(trials, errors)
