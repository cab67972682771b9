"""Load of the collector: many live attempts, a steady stream of changes, measured from outside.

    python -m tests.collect.load --attempts 5000 --rate 100 --seconds 60

The collector is a process of its own, the real command. Printed: its share of a core (git included), its largest memory, how long events
took from the write in the API to the push, pushes a minute. Nothing is judged here.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from taugen.collect.runs import Where, reduce
from tests import gitkit
from tests.collect import fakeapi, objects
from tests.collect.lab import CLUSTER, PROJECT, Lab, until
from tests.collect.objects import ADMISSION, changed, condition, note, running

ROOT = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")
FILES = 6
"""Of a live attempt: its intent, and that it was submitted, queued, reserved, admitted, and that its pod started."""
WHERE = Where(CLUSTER, {objects.NAMESPACE: objects.WORKSPACE})


class Live:
    """Attempts that live, and what happens to them next, `rate` times a second by the clock of the API server too: a day that goes by in a
    minute would make the collector do every few seconds what it does every hour."""

    def __init__(self, count: int, rate: float) -> None:
        # Digests are spread over the folders of the branch, as real ones are.
        self.names = [f"load{n}-{sha256(str(n).encode()).hexdigest()[:8]}" for n in range(count)]
        self.turn, self.rate = 0, rate

    def all(self):
        """Every attempt as it stands: submitted, admitted, with a pod that runs."""
        for name in self.names:
            job = objects.job(f"{name}-1", f"j-{name}", run=name)
            job["metadata"]["annotations"] = {"padding": "x" * 2000}
            admitted = [condition("QuotaReserved", "True", 2), condition("Admitted", "True", 3)]
            yield job
            yield objects.workload(f"job-{name}-1-1a2b3", f"w-{name}", f"{name}-1", f"j-{name}", conditions=admitted, admission=ADMISSION)
            yield self.pod(name, 0, 4)

    def pod(self, name: str, n: int, minute: float) -> dict:
        out = objects.pod(f"{name}-1-0-{n:05}", f"p-{name}-{n}", run=name, phase="Running", containerStatuses=[running(minute)])
        out["metadata"]["annotations"] = {"padding": "x" * 3000}
        return out

    def next(self) -> dict:
        """A change that makes an event: a note, a pod, a turn of the queue."""
        self.turn += 1
        minute = 5 + self.turn / self.rate / 60
        name = self.names[self.turn % len(self.names)]
        if self.turn % 3 == 0:
            return note(f"{name}.{self.turn}", f"j-{name}", about_name=f"{name}-1", minute=minute)
        if self.turn % 3 == 1:
            return self.pod(name, self.turn, minute)
        load = objects.workload(f"job-{name}-1-1a2b3", f"w-{name}", f"{name}-1", f"j-{name}")
        return changed(load, conditions=[condition("Evicted", "True", minute, "ClusterQueueStopped", "stopped")])


def spent(pid: int) -> tuple[float, int]:
    """(CPU seconds with ended children, largest resident memory in bytes) of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return sum(map(int, fields[11:15])) / TICK, memory * 1024


def arrivals(lab: Lab, written: dict, seconds: list, stop: threading.Event) -> None:
    """Note when each path arrives on the branch."""
    last = lab.branch().tip
    while not stop.wait(0.05):
        tip = lab.branch().tip
        if tip != last:
            now = time.monotonic()
            added = gitkit.git(lab.evidence, "diff", "--name-only", str(last), str(tip)).splitlines()
            seconds += [now - written.pop(path) for path in added if path in written]
            last = tip


@contextmanager
def ending(process: subprocess.Popen):
    """A failure ends the process too, which would otherwise be waited for."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()


def config(lab: Lab) -> Path:
    body = {
        "cluster": CLUSTER,
        "project": PROJECT,
        "evidence": {"url": str(lab.evidence), "branch": "evidence"},
        "deploy": {"url": str(lab.deploy), "branch": "deploy"},
        "namespaces": dict(WHERE.namespaces),
        "logs": {"every": 300},
    }
    path = lab.folder / "collector.json"
    path.write_text(json.dumps(body))
    return path


def measure(attempts: int, rate: float, seconds: float, folder: Path) -> dict[str, float]:
    """Run it; the figures."""
    store, live = fakeapi.Store(bookmark=5.0), Live(attempts, rate)
    with fakeapi.serving(store) as address:
        lab = Lab(folder, store, address)
        lab.states = {name: {} for name in live.names}
        lab.publish()
        for obj in live.all():
            store.put(obj)
        command = [sys.executable, "-m", "taugen", "collect", "--cluster", CLUSTER, "--kubeconfig", str(lab.kubeconfig)]
        command += ["--folder", str(folder / "state"), "--config", str(config(lab))]
        begun = time.monotonic()
        with subprocess.Popen(command, cwd=ROOT) as process, ending(process):
            # What was there before is committed, and every stream watches.
            until(lambda: lab.commits() > 0, 300)
            until(lambda: len(lab.branch().paths()) >= FILES * attempts, 300)
            first = time.monotonic() - begun
            written: dict[str, float] = {}
            late: list[float] = []
            stop = threading.Event()
            watcher = threading.Thread(target=arrivals, args=(lab, written, late, stop), daemon=True)
            watcher.start()
            cpu, _ = spent(process.pid)
            commits, start, count = lab.commits(), time.monotonic(), 0
            while time.monotonic() - start < seconds:
                obj = live.next()
                for event in reduce(obj, WHERE).events[-1:]:
                    attempt = reduce(obj, WHERE).attempt
                    if attempt is not None:
                        written[event.path(attempt)] = time.monotonic()
                store.put(obj)
                count += 1
                time.sleep(max(0.0, start + count / rate - time.monotonic()))
            wall = time.monotonic() - start
            used, memory = spent(process.pid)
            until(lambda: not written, 120)
            pushes = (lab.commits() - commits) / (time.monotonic() - start) * 60
            stop.set()
            watcher.join()
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    late.sort()
    return {
        "attempts": attempts,
        "writes a second": round(count / wall, 1),
        "first commit after s": round(first, 1),
        "cores": round((used - cpu) / wall, 3),
        "MiB": round(memory / 2**20, 1),
        "events": len(late),
        "within 10 s": round(sum(one <= 10 for one in late) / len(late), 4),
        "median s": round(late[len(late) // 2], 2),
        "p99 s": round(late[int(len(late) * 0.99)], 2),
        "longest s": round(late[-1], 2),
        "pushes a minute": round(pushes, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=100.0, help="writes a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="taugen-load-") as folder:
        found = measure(given.attempts, given.rate, given.seconds, Path(folder))
    sys.stdout.write("".join(f"{name:22} {value}\n" for name, value in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
