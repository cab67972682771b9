import argparse
import json
import os
import pathlib


def loop(settings: dict) -> None:
    import torch
    from ray import train

    model = train.torch.prepare_model(torch.nn.Linear(settings["width"], settings["width"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(1000):
        batch = torch.randn(32, settings["width"], device=train.torch.get_device())
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            train.report({"step": step, "loss": loss.item()})


def main() -> None:
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    settings = json.loads(pathlib.Path(parser.parse_args().config).read_text())
    workers = int(os.environ["TAU_WORLD_SIZE"])
    TorchTrainer(
        loop,
        train_loop_config=settings,
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=True),
        run_config=RunConfig(storage_path=os.environ["TAU_OUTPUT_DIR"]),
    ).fit()


if __name__ == "__main__":
    main()
