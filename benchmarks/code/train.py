"""Trains the model of run @run@."""

import argparse
import json
import os
import pathlib

import torch
from data import batches

RUN = "@run@"
SEED = int("@number@")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--crop", type=int, default=256)
    parser.add_argument("--config", type=pathlib.Path)
    parser.add_argument("--rate", type=float, default=3e-4)
    return parser.parse_args()


def save(folder: pathlib.Path, step: int, state: dict) -> None:
    """Write a checkpoint in one piece: a half-written one never has its final name."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".step-{step}.json"
    partial.write_text(json.dumps(state))
    partial.rename(folder / f"step-{step}.json")


def resume(default: int) -> int:
    """The step to go on from."""
    found = os.environ.get("TAU_RESUME_FROM")
    return int(found.rsplit("-", 1)[-1].split(".")[0]) if found else default


def main() -> None:
    options = parse()
    folder = pathlib.Path(os.environ.get("TAU_OUTPUT_DIR", "/tmp")) / RUN
    torch.manual_seed(SEED)
    weight = 0.0
    for step in range(resume(0), options.steps):
        for features, target in batches(SEED + step, 8):
            guess = weight * sum(features)
            weight -= options.rate * (guess - target)
        if step % 100 == 0:
            print(json.dumps({"step": step, "weight": weight}), flush=True)
            save(folder, step, {"weight": weight, "seed": SEED})


if __name__ == "__main__":
    main()
