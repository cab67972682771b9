"""A training run that is really executed: a process stands for the pod that kwok only pretends to run.

In: a run's objects as the deploy branch has them, the folder that is its claim. Out: a process that computes step by step, as far as the
test lets it, saves a checkpoint after each and takes up where the launch script tells it to. What it ends with depends on every step.
"""

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

from tests.e2e.kube import Object
from tests.render.kubelet import Node

CLAIM, STEPS = "/ckpt", 12
STORAGE = f"""apiVersion: taugen.dev/v1alpha1
kind: Storage
metadata: {{name: ckpt}}
spec:
  claim: {{storageClass: fast, size: 1Gi, accessModes: [ReadWriteMany]}}
  path: {CLAIM}
  workspaces: [red]
"""
PROGRAM = """import json, os, pathlib, time
import tau_checkpoint

folder = pathlib.Path(os.environ["TAU_CHECKPOINT_DIR"])
start, value = 0, 1
if os.environ["TAU_RESUME_FROM"]:
    start, value = json.loads(pathlib.Path(os.environ["TAU_RESUME_FROM"], "state.json").read_text())
print("began after", start, flush=True)
for step in range(start + 1, int(os.environ["STEPS"]) + 1):
    while int((folder / "may").read_text() or 0) < step:
        time.sleep(0.02)
    value = (value * 6364136223846793005 + step) % 2**64
    place = folder / f"step-{step:04d}"
    place.mkdir(exist_ok=True)
    (place / "state.json").write_text(json.dumps([step, value]))
    tau_checkpoint.complete(str(place), step)
    print("step", step, flush=True)
print("result", value, flush=True)
"""


BEGAN = "began after "


def undisturbed() -> str:
    """What a run that nobody disturbs ends with."""
    value = 1
    for step in range(1, STEPS + 1):
        value = (value * 6364136223846793005 + step) % 2**64
    return str(value)


class Process:
    """One start of the program, below a folder of its own."""

    def __init__(self, folder: Path, objects: Iterable[Object], claim: Path, run: str) -> None:
        folder.mkdir(parents=True)
        (folder / CLAIM.lstrip("/")).symlink_to(claim)
        ordered = sorted(objects, key=lambda item: item["kind"] == "Job")
        found = [SimpleNamespace(kind=item["kind"], obj=item) for item in ordered]
        python = str(Path(sys.executable).parent)
        node = Node(folder, found, f"{python}:/usr/bin:/bin")  # type: ignore[arg-type]
        node.mount()
        self.gate = claim / run / "may"
        self._log = (folder / "log").open("w+", encoding="utf-8")
        container = node.run["spec"]["template"]["spec"]["containers"][0]
        env = node.environment(container)
        argv = [node.moved(word) for word in [*container["command"], *container.get("args", [])]]
        self.process = subprocess.Popen(argv, env=env, cwd=folder, stdout=self._log, stderr=self._log, start_new_session=True)

    def said(self) -> str:
        """Everything that it has printed."""
        self._log.flush()
        return Path(self._log.name).read_text(encoding="utf-8")

    def until(self, step: int, seconds: float = 60) -> None:
        """Let it go on to a step and wait until it has saved that."""
        part = self.gate.with_suffix(".part")
        part.write_text(str(step), encoding="utf-8")
        part.replace(self.gate)
        self._wait(lambda: f"step {step}\n" in self.said(), f"step {step}", seconds)

    def began(self, seconds: float = 60) -> int:
        """The step after which it went on, once it said so."""
        self._wait(lambda: BEGAN in self.said(), "its start", seconds)
        return int(self.said().partition(BEGAN)[2].split()[0])

    def kill(self) -> None:
        """As a node that loses its power."""
        self.process.kill()
        self.process.wait(30)
        self._log.close()

    def result(self, seconds: float = 60) -> str:
        """What it ended with."""
        assert self.process.wait(seconds) == 0, self.said()
        found = self.said().partition("result ")[2].split()[0]
        self._log.close()
        return found

    def _wait(self, holds, what: str, seconds: float) -> None:  # type: ignore[no-untyped-def]
        end = time.monotonic() + seconds
        while not holds():
            assert self.process.poll() is None or holds(), f"it ended before {what}:\n{self.said()}"
            assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}:\n{self.said()}"
            time.sleep(0.05)
