"""Fits a line to noisy points by gradient descent. Needs nothing but Python, so it runs anywhere: python train.py."""

import argparse
import json
import os
import pathlib
import random


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps

    rng = random.Random(7)
    points = [(x := rng.uniform(-1, 1), 3 * x + 2 + rng.gauss(0, 0.1)) for _ in range(200)]
    weight = bias = 0.0
    history = []
    for step in range(1, steps + 1):
        errors = [(weight * x + bias - y, x) for x, y in points]
        weight -= 0.2 * sum(e * x for e, x in errors) / len(points)
        bias -= 0.2 * sum(e for e, _ in errors) / len(points)
        loss = sum(e * e for e, _ in errors) / len(points)
        history.append({"step": step, "loss": loss})
        if step % 100 == 0:
            print(f"step {step}  loss {loss:.4f}  weight {weight:.3f}  bias {bias:.3f}", flush=True)

    # Where results go is taugen's to say; on a laptop nothing is set and nothing is written.
    output = os.environ.get("TAU_OUTPUT_DIR")
    if output:
        folder = pathlib.Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in history))
        (folder / "model.json").write_text(json.dumps({"weight": weight, "bias": bias}) + "\n")


if __name__ == "__main__":
    main()
