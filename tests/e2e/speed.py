"""`python -m tests.e2e.speed [--runs N]`: many runs compiled, applied, admitted and finished on a real control plane; where the time goes.

In: a number of runs, of connections that apply them, and of seconds that each runs. Out: on standard output objects a second for each
phase, processor seconds of each component, and the requests that the API server answered. Nothing is asserted: it is a measurement.
"""

import argparse
import http.client
import os
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e import build, fleet, lab, nodes, runs
from tests.e2e.kube import Kube, Object, holds
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane
from tests.e2e.processes import say

TICKS = os.sysconf("SC_CLK_TCK")
REQUEST = re.compile(r'apiserver_request_total\{.*resource="([^"]*)".*subresource="([^"]*)".*verb="([^"]*)".*\} (\S+)')
PATIENCE = 1800  # seconds for each phase


class Tally(threading.Thread):
    """Counts Workloads that are admitted and finished, by one watch; a poll would slow what it measures."""

    def __init__(self, kube: Kube) -> None:
        super().__init__(daemon=True)
        self.kube = kube
        self.admitted: set[str] = set()
        self.finished: set[str] = set()
        self.over = False
        self.version = str(kube.request("GET", "/apis/kueue.x-k8s.io/v1beta2/workloads")["metadata"]["resourceVersion"])

    def run(self) -> None:
        """Follow the watch until it is all over."""
        try:
            self._follow()
        except (OSError, http.client.HTTPException):
            if not self.over:  # the plane went down under it
                raise

    def _follow(self) -> None:
        while not self.over:
            for _, item in self.kube.changes(runs.WORKLOAD, version=self.version, seconds=300):
                self.version = item["metadata"]["resourceVersion"]
                for kind, names in (("Admitted", self.admitted), ("Finished", self.finished)):
                    if holds(item, kind):
                        names.add(item["metadata"]["uid"])

    def until(self, names: set[str], number: int) -> None:
        """Wait until so many are counted. Raises TimeoutError."""
        end = time.monotonic() + PATIENCE
        while len(names) < number:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(names)} of {number} Workloads after {PATIENCE} s")
            time.sleep(0.05)


def roomy(count: int):  # type: ignore[no-untyped-def]
    """The edit of policy that gives `count` runs room at once."""

    def edit(document: Object) -> None:
        if document["kind"] == "Queue":
            for entry in document["spec"]["quotas"]:
                if entry["flavor"] == "cpu":
                    entry["resources"] = {"cpu": {"nominal": count}, "memory": {"nominal": f"{2 * count}Gi"}}
        if document["kind"] == "Cluster":
            document["spec"]["nodePools"][0].update(count=count // 50 + 3, allocatable={"cpu": 128, "memory": "1Ti"})

    return edit


def write(made: Lab, count: int, seconds: float) -> list[list[Object]]:
    """Commit runs and compile them; the objects of each in the order in which they are applied."""
    files = {}
    for number in range(count):
        folder = f"workspaces/red/load-{number:05d}"
        text = lab.tau(f"load-{number:05d}", seconds=seconds, compute={"cpus": 1, "memory": "1Gi"})
        files |= {f"{folder}/tau.yaml": text, f"{folder}/hello.py": "print('hello')\n"}
    made.fleet.commit(files, "load")
    out = made.fleet.path.parent / "load"
    began = time.monotonic()
    made.fleet.taugen("render", "-o", str(out))
    took = time.monotonic() - began
    report("compiled (whole process)", count, took, "runs")
    found = [item for item in fleet.read(out / "clusters" / made.cluster / "runs") if "load-" in item["metadata"]["name"]]
    by_run: dict[str, list[Object]] = {}
    for item in found:
        by_run.setdefault(item["metadata"]["labels"]["taugen.dev/run"], []).append(item)
    return [fleet.ordered(items) for items in by_run.values()]


def apply(plane: Plane, objects: list[list[Object]], connections: int) -> float:
    """Apply all objects by several connections at once; returns seconds."""
    local = threading.local()

    def one(items: list[Object]) -> None:
        if not hasattr(local, "kube"):
            local.kube = plane.kube()
        for item in items:
            local.kube.apply(item, manager="kustomize-controller")

    began = time.monotonic()
    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(one, objects))
    return time.monotonic() - began


def processor(plane: Plane) -> dict[str, float]:
    """Processor seconds that each component has used."""
    used = {}
    for record in plane.processes.records():
        fields = Path(f"/proc/{record.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        used[record.name] = (int(fields[11]) + int(fields[12])) / TICKS
    return used


def requests(kube: Kube) -> Counter[str]:
    """Requests that the API server has answered, by verb and resource."""
    found: Counter[str] = Counter()
    for line in kube.request("GET", "/metrics").splitlines():
        if match := REQUEST.match(line):
            resource, part, verb, number = match.groups()
            found[f"{verb} {resource}{'/' if part else ''}{part}"] += int(float(number))
    return found


def report(what: str, count: int, seconds: float, unit: str) -> None:
    """A line of the table."""
    print(f"{what:34} {count:6d} {unit:8} {seconds:8.1f} s {count / seconds:8.1f} /s", flush=True)


def measure(plane: Plane, folder: Path, count: int, connections: int, seconds: float) -> None:
    """All phases, one after another."""
    with plane.kube() as kube:
        made = Lab(folder / "repo", kube)
        made.edit(roomy(count))
        nodes.create(kube, nodes.of_pools(fleet.pools(made.fleet.path / "policy", made.cluster)))
        objects = write(made, count, seconds)
        tally = Tally(plane.kube())
        tally.start()
        before, asked = processor(plane), requests(kube)
        number = sum(len(items) for items in objects)
        began = time.monotonic()
        report(f"applied ({connections} connections)", number, apply(plane, objects, connections), "objects")
        tally.until(tally.admitted, len(objects))
        report("admitted, from the first apply on", len(objects), time.monotonic() - began, "runs")
        tally.until(tally.finished, len(objects))
        report("finished, from the first apply on", len(objects), time.monotonic() - began, "runs")
        after, answered = processor(plane), requests(kube)
        tally.over = True
        report("applied again, unchanged", number, apply(plane, objects, connections), "objects")
    print("\nprocessor seconds from apply to finish")
    for name in sorted(after, key=lambda name: before[name] - after[name]):
        print(f"  {name:26} {after[name] - before[name]:8.1f}")
    print(f"\nrequests to the API server, {sum((answered - asked).values()) / len(objects):.1f} a run")
    for name, times in (answered - asked).most_common(12):
        print(f"  {name:44} {times:8d}")


def main(args: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.speed", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=4, help="how many apply at once (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=5, help="how long a run's pod runs (default: %(default)s)")
    chosen = parser.parse_args(args)
    if reason := build.missing(("kueue",)):
        say(reason)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        plane = Plane(Path(folder, "plane"))
        plane.up(("kueue",), owned=True)
        try:
            measure(plane, Path(folder), chosen.runs, chosen.connections, chosen.seconds)
        finally:
            plane.down(keep=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
