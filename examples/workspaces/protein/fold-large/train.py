"""Trains with checkpoints that survive a killed pod: a step counts once its marker stands beside it."""

import argparse
import json
import math
import os
import pathlib
import sys

import torch
import torch.distributed as dist

from model import Folder


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crop", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    args = parser.parse_args()

    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    model = torch.nn.parallel.DistributedDataParallel(Folder(args.crop).cuda(), device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    start = 0
    if resume := os.environ.get("TAU_RESUME_FROM"):
        saved = torch.load(pathlib.Path(resume) / "state.pt", map_location="cpu")
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        start = saved["step"] + 1

    metrics = pathlib.Path(os.environ["TAU_OUTPUT_DIR"], "metrics")
    for step in range(start, args.steps):
        loss = model(torch.randn(1, args.crop, 64, device="cuda"))
        if not math.isfinite(loss.item()):
            return 42
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 1000 == 0 and dist.get_rank() == 0:
            metrics.mkdir(parents=True, exist_ok=True)
            with (metrics / "rank0.jsonl").open("a") as file:
                file.write(json.dumps({"step": step, "loss": loss.item()}) + "\n")
            save(step, model.module, optimizer)
    return 0


def save(step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    import tau_checkpoint  # delivered with the run: writes the marker that makes a checkpoint count

    folder = pathlib.Path(os.environ["TAU_CHECKPOINT_DIR"], f"step-{step:08d}")
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "state.pt")
    tau_checkpoint.complete(folder, step=step)


if __name__ == "__main__":
    sys.exit(main())
