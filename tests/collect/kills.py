"""Kill test of the collector: it is ended with SIGKILL at random instants of a day while the API fails, and the evidence is the same.

    python -m tests.collect.kills --kills 1000 --runs 500 --seed 1

One collector sees the day undisturbed; another is killed again and again, each time a process of its own. Both branches must then hold the
same tree, byte for byte. Instants are drawn in processor time of the collector, and the day goes on with it: on a busy machine, where a
process gets little of it, lives are as long in work as on an idle one, and their number of commits is about the same.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from taugen.evidence.paths import RunKey
from tests import gitkit
from tests.collect import fakeapi
from tests.collect.day import Day, fields, make, play
from tests.collect.lab import CLUSTER, Lab, until
from tests.collect.objects import WORKSPACE

MODULES = ["taugen.collect.loop", "taugen.collect.finish", "kubernetes.client", "kubernetes.config", "urllib3", "yaml", "tests.collect.lab"]
TICK = os.sysconf("SC_CLK_TCK")
IDLE = 20
"""A collector that has nothing to do gets older by so many times less than its time by the clock."""
FAULTS = ["429", "500", "503", "drop", "garbage", "truncate", "cut", "duplicate", "reorder", "expired", "410"]


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def work(folder: str, address: str) -> None:
    """The body of a collector's process."""
    lab = Lab.existing(Path(folder), address)
    lab.collector(interval=0.3, watch=2, log_every=120).run()


class Faults:
    """Fails a share of the requests; never says twice in a row that it has forgotten what it remembers."""

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.dice, self.last, self.lock = share, random.Random(seed), {}, threading.Lock()
        self.count = 0

    def __call__(self, request: fakeapi.Request) -> str | None:
        with self.lock:
            if self.dice.random() >= self.share:
                self.last.pop(request.kind, None)
                return None
            fault = self.dice.choice(FAULTS)
            if fault == "410" and (self.last.get(request.kind) == "410" or request.what != "watch"):
                fault = "500"
            self.last[request.kind] = fault
            self.count += 1
            return fault


def written(lab: Lab, day: Day) -> bool:
    """Whether every attempt that ends has its record."""
    branch = lab.branch()
    wanted = [RunKey(CLUSTER, WORKSPACE, run).attempt(number) for run, number in day.ended]
    return branch.tip is not None and all(record is not None for record in branch.records(wanted).values())


def live(folder: Path, day: Day, kills: int, life: float, seed: int, faults: float) -> str:
    """Play the day to a collector that is killed after `life` seconds of work, on average; the evidence's tree."""
    store = fakeapi.Store(bookmark=0.1, fault=Faults(faults, seed) if faults else lambda request: None)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(MODULES)
    dice = random.Random(seed)
    with fakeapi.serving(store) as address:
        lab = Lab(folder, store, address)
        for run, (phase, attempt) in day.states.items():
            lab.states[run] = {"phase": phase, "attempt": attempt}
        lab.publish()
        process = processes.Process(target=work, args=(str(folder), address))
        process.start()
        # The first commit names the first resume point: what was over before it, nobody ever saw.
        play(store, day.steps[0])
        until(lambda: lab.commits() > 0, 120)
        steps = iter(day.steps[1:])
        rest = len(day.steps) - 1
        lives = [dice.expovariate(1 / life) for _ in range(kills)]
        done, commits = 0.0, set()
        for number, length in enumerate(lives, 1):
            # At random instants: most lives are short, a few long enough for several commits.
            for share in _ages(process, length):
                goal = min(rest, rest * (done + share * length) / sum(lives))
                while rest - _left(steps) < goal:
                    play(store, next(steps))
            done += length
            process.kill()
            process.join()
            commits.add(lab.commits())
            process = processes.Process(target=work, args=(str(folder), address))
            process.start()
            if number % 50 == 0:
                say(f"{number} kills, {lab.commits()} commits in {len(commits) - 1} lives, {rest - _left(steps)} of {rest} writes and logs")
        for number, step in enumerate(steps):
            play(store, step)
            if number % 100 == 0:
                time.sleep(0.3)
        until(lambda: written(lab, day), 600)
        process.terminate()
        process.join()
        if faults:
            say(f"{store.fault.count} faults in {len(store.requests)} requests")
        return lab.tree()


def _left(steps) -> int:
    return steps.__length_hint__()


def _ages(process, length: float):
    """How much of its life a process has behind it, from time to time until that is all."""
    began, age = time.monotonic(), 0.0
    while age < length and process.is_alive():
        time.sleep(0.005)
        age = max(_worked(process.pid), (time.monotonic() - began) / IDLE)
        yield min(1.0, age / length)


def _worked(pid: int) -> float:
    """Processor seconds of a process and of its children that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICK


def compare(kills: int, runs: int, seed: int, life: float, faults: float, folder: Path) -> str:
    """What differs; empty if nothing does."""
    day = make(runs, seed)
    say(fields(day))
    calm = live(folder / "calm", day, 0, life, seed, 0.0)
    hard = live(folder / "hard", day, kills, life, seed, faults)
    if calm == hard:
        say(f"{kills} kills, {runs} runs, seed {seed}: the same tree {calm}")
        return ""
    trees = [dict(_files(folder / name / "evidence.git")) for name in ("calm", "hard")]
    lines = [f"only undisturbed: {path}" for path in sorted(trees[0].keys() - trees[1].keys())]
    lines += [f"only killed: {path}" for path in sorted(trees[1].keys() - trees[0].keys())]
    lines += [f"different: {path}" for path in sorted(trees[0].keys() & trees[1].keys()) if trees[0][path] != trees[1][path]]
    return "\n".join(lines)


def _files(repo: Path):
    for line in gitkit.git(repo, "ls-tree", "-r", "evidence").splitlines():
        meta, _, path = line.partition("\t")
        yield path, meta.split()[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--life", type=float, default=0.2, help="seconds of work in a life, on average")
    parser.add_argument("--faults", type=float, default=0.1, help="share of the requests that fail")
    parser.add_argument("--keep", action="store_true", help="keep the folder where they differ")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="taugen-kills-"))
    said = compare(given.kills, given.runs, given.seed, given.life, given.faults, folder)
    if said:
        say(f"{said}\nin {folder}")
    if not (said and given.keep):
        shutil.rmtree(folder, ignore_errors=True)
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
