"""Measures taugen: `python -m benchmarks [--quick] [--long]`.

Makes a GitOps repository of 10,000 runs in a temporary folder (once), measures, prints one table. Exits 0 whatever the figures are: a
busy machine is no bug. The targets stand in docs/architecture/speed.md.
"""

import argparse
import os
import platform
import subprocess
import sys
import time

from benchmarks import measure, repository, rows
from benchmarks.rows import Bench, Row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="1,000 runs instead of 10,000")
    parser.add_argument("--long", action="store_true", help="growth up to 100,000 runs: some minutes more")
    parser.add_argument("--runs", type=int, help="another number of runs")
    options = parser.parse_args()
    runs = options.runs or (1_000 if options.quick else 10_000)
    begin = time.perf_counter()
    _say(f"making a repository of {runs:,} runs in {repository.cache()}")
    bench = Bench(runs, repository.repository(runs))
    measure.run([*rows.TAUGEN, "check"], bench.repo)  # byte code and the file cache are there
    _all(bench, sizes=[1_000, 10_000, 100_000] if options.long else [runs // 10, runs])
    print(_table(bench.rows))
    print(f"\n{_machine()}; {time.perf_counter() - begin:.0f} s in all. Repositories are kept in {repository.cache()}.")


def _all(bench: Bench, sizes: list[int]) -> None:
    steps = (
        ("cold compile", rows.cold),
        ("nothing changed", rows.nothing_changed),
        ("one changed", rows.one_changed),
        ("check of one file", rows.check_one),
        ("check of a pull request", rows.check_pull_request),
        ("--help", rows.help_text),
        ("memory", rows.memory),
        ("floor", rows.against_floor),
        ("kubectl kustomize", rows.against_kustomize),
        ("YAML parsers", rows.yaml_parsers),
    )
    for name, step in steps:
        _say(f"measuring: {name}")
        step(bench)
    _say("measuring: growth")
    rows.growth(bench, sizes)
    repository.reset(bench.repo)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _machine() -> str:
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    processors, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    return f"{processors} processors, load {load:.1f} at the end, Python {platform.python_version()}, git {git}"


def _table(found: list[Row]) -> str:
    words = {True: "met", False: "MISSED", None: ""}
    lines = [("", "measured", "target", "ratio", ""), *((r.name, r.measured, r.target, r.ratio, words[r.met]) for r in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)


if __name__ == "__main__":
    main()
