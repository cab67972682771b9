"""Runs a command as a user would and says how long it took and how much memory it held.

In: a command. Out: `Measured`: wall seconds of the whole process, start included, and the peak of memory over it and all its children.

Memory is sampled: every 50 ms the proportional set sizes (Pss of /proc/PID/smaps_rollup) of the process and its descendants are added up.
Pages that forked workers share count once; what git processes hold counts too. A peak shorter than 50 ms can be missed, so the largest
single process as the kernel accounts for it (ru_maxrss) stands beside it.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE = 0.05


@dataclass(frozen=True, slots=True)
class Measured:
    """`seconds` of wall time, `peak` MiB of the process tree and `largest` MiB of its largest process, both 0 where not asked for."""

    seconds: float
    code: int
    out: str
    err: str
    peak: float = 0
    largest: float = 0


def environment() -> dict[str, str]:
    """The environment of a user's machine: byte code is kept, git reads no settings of whoever measures."""
    kept = {k: v for k, v in os.environ.items() if k not in {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"} and not k.startswith("GIT_")}
    here = str(Path(__file__).parent.parent)
    return kept | {"PYTHONPATH": here, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def run(command: Sequence[str], cwd: Path, *, memory: bool = False) -> Measured:
    """Run a command to its end."""
    begin = time.perf_counter()
    pipe = subprocess.PIPE
    process = subprocess.Popen(list(command), cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
    watch = _Watch(process.pid) if memory else None
    out, err = process.communicate()
    seconds = time.perf_counter() - begin
    peak, largest = watch.end() if watch else (0.0, 0.0)
    return Measured(seconds, process.returncode, out, err, peak, largest)


class _Watch:
    """Samples a process tree in a thread."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak = 0
        self.largest = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(SAMPLE):
            members = tree(self.pid)
            self.peak = max(self.peak, sum(_field(pid, "smaps_rollup", "Pss:") for pid in members))
            self.largest = max(self.largest, *(_field(pid, "status", "VmHWM:") for pid in members), 0)

    def end(self) -> tuple[float, float]:
        self._stop.set()
        self._thread.join()
        return self.peak / 1024, self.largest / 1024


def tree(pid: int) -> list[int]:
    """A process and all its descendants that are alive."""
    found = [pid]
    for parent in found:
        try:
            tasks = list(Path(f"/proc/{parent}/task").iterdir())
        except OSError:
            continue
        for task in tasks:
            try:
                found += map(int, (task / "children").read_text().split())
            except OSError:
                continue
    return found


def _field(pid: int, file: str, name: str) -> int:
    """A line of a file in /proc/PID, in KiB; 0 once the process is gone."""
    try:
        with open(f"/proc/{pid}/{file}", encoding="ascii") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)
    except OSError:
        return 0


def best(times: int, once: Callable[[int], Measured]) -> Measured:
    """The quickest of several runs; `once` gets the number of the run and may prepare what it needs before it measures."""
    return min((once(number) for number in range(times)), key=lambda m: m.seconds)


def median(times: int, once: Callable[[int], Measured]) -> Measured:
    """The middle of several runs, after one that does not count."""
    once(-1)
    return sorted((once(number) for number in range(times)), key=lambda m: m.seconds)[times // 2]
