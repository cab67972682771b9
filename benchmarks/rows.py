"""The rows of the table, each measured by a function of its own.

In: how many runs. Out: `Row`. Every figure is of whole processes, as a user starts them. A row whose command fails says so in place of a
number and is not met.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import floor, kustomize, measure, parsers, repository
from benchmarks.measure import Measured

TAUGEN = [sys.executable, "-m", "taugen"]
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """`met` is None where there is no target or nothing was measured."""

    name: str
    measured: str
    target: str = ""
    ratio: str = ""
    met: bool | None = None


@dataclass(slots=True)
class Bench:
    """What later rows need of earlier ones."""

    runs: int
    repo: Path
    rows: list[Row] = field(default_factory=list)
    cold: float | None = None

    def add(self, name: str, measured: str, target: str = "", ratio: str = "", met: bool | None = None) -> None:  # noqa: FBT001
        """Add a row."""
        self.rows.append(Row(name, measured, target, ratio, met))


def _failed(bench: Bench, name: str, target: str, got: Measured) -> None:
    line = next((text for text in reversed(got.err.splitlines()) if text.strip()), "")
    bench.add(name, f"failed ({got.code}): {line[:80]}", target, met=False)


def _publish(repo: Path, *, memory: bool = False) -> Measured:
    return measure.run([*TAUGEN, "publish"], repo, memory=memory)


def _fresh(repo: Path) -> Measured:
    repository.reset(repo)
    return _publish(repo)


def cold(bench: Bench, target: float = 0.6) -> None:
    """Publish everything to a branch that does not exist yet."""
    name, wanted = f"cold compile of {bench.runs:,} runs, committed", f"<= {target} ms a run"
    got = measure.best(3, lambda _: _fresh(bench.repo))
    if got.code:
        _failed(bench, name, wanted, got)
        return
    bench.cold = got.seconds
    each = got.seconds / bench.runs * 1000
    bench.add(name, f"{got.seconds:.2f} s, {each:.3f} ms a run", wanted, met=each <= target)


def against_floor(bench: Bench) -> None:
    """The same bytes read and written, with nothing decided in between. Stands after `memory`, which leaves the branch."""
    if bench.cold is None:
        return
    commands = repository.cache() / "floor.stream"
    with commands.open("wb") as out:
        size = sum(map(out.write, floor.stream(bench.repo, repository.git(bench.repo, "rev-parse", "deploy"))))

    def once(_: int) -> Measured:
        repository.reset(bench.repo)
        return measure.run([sys.executable, "-m", "benchmarks.floor", str(bench.repo), "main", str(commands)], bench.repo)

    got = measure.best(3, once)
    commands.unlink()
    ratio = bench.cold / got.seconds
    what = f"{got.seconds:.2f} s, {got.seconds / bench.runs * 1000:.3f} ms a run ({size / MIB:.0f} MiB out)"
    bench.add("floor: read, write, commit the same bytes", what, "<= 3 x the floor", f"cold is {ratio:.1f} x", ratio <= 3)


def against_kustomize(bench: Bench, overlays: int = 1000) -> None:
    """As many Jobs by `kubectl kustomize`. It takes longer for each the more there are (1.8 times as long for each of 1,000 as of 300), so
    that a number scaled up from few would be too kind to it, and from 1,000 still is."""
    got = kustomize.measure(overlays)
    name, target = "kubectl kustomize, a Job overlay a run", ">= 10 x cold"
    if got.per_run is None or bench.cold is None:
        bench.add(name, got.text, target)
        return
    ratio = got.per_run * bench.runs / bench.cold
    bench.add(name, f"{got.per_run * 1000:.1f} ms a run: {got.text}", target, f"{ratio:.1f} x cold", ratio >= 10)


def nothing_changed(bench: Bench) -> None:
    """Publish again what is published."""
    _small(bench, "nothing changed", measure.median(5, lambda _: _publish(bench.repo)))


def one_changed(bench: Bench) -> None:
    """Publish a commit that edits one document: its old run ends, its new one starts (on_edit: replace)."""
    def once(number: int) -> Measured:
        path = bench.repo / repository.folder(number + 21) / "tau.yaml"
        path.write_text(path.read_text() + f"generation: {number + 10}\n")
        repository.git(bench.repo, "commit", "--quiet", "--all", "--message=Once more")
        return _publish(bench.repo)

    _small(bench, "one changed run", measure.median(5, once))
    count = len(repository.git(bench.repo, "log", "--format=%h", "deploy").split())
    if count != 7:
        bench.add("  of which made a commit", f"{count - 1} of 6", "6 of 6", met=False)


def _small(bench: Bench, what: str, got: Measured, target: int = 300) -> None:
    name, wanted = f"{what} among {bench.runs:,}", f"<= {target} ms"
    if got.code:
        _failed(bench, name, wanted, got)
        return
    bench.add(name, f"{got.seconds * 1000:.0f} ms", wanted, met=got.seconds * 1000 <= target)


def memory(bench: Bench) -> None:
    """The peak of a cold compile and all its processes."""
    repository.reset(bench.repo)
    got = _publish(bench.repo, memory=True)
    name = f"memory of a cold compile of {bench.runs:,}"
    if got.code:
        _failed(bench, name, "<= 300 MiB", got)
        return
    shown = f"{got.peak:.0f} MiB all processes, {got.largest:.0f} MiB the largest"
    bench.add(name, shown, "<= 300 MiB", met=got.peak <= 300)


def growth(bench: Bench, sizes: list[int]) -> None:
    """The time of a run in repositories of different sizes. Bare ones: half a million files need not lie on a disk."""
    each = []
    for size in sizes:
        repo = repository.repository(size, checkout=False)
        got = measure.best(2, lambda _, repo=repo: _fresh(repo))  # type: ignore[misc]
        if got.code:
            _failed(bench, f"growth to {size:,}", "within 1.3 x", got)
            return
        each.append(got.seconds / size * 1000)
        repository.reset(repo)
    worst = max(each[1:]) / each[0]
    shown = ", ".join(f"{size:,}: {ms:.3f} ms" for size, ms in zip(sizes, each, strict=True))
    bench.add("time a run by size", shown, "within 1.3 x", f"{worst:.2f} x", worst <= 1.3)


def check_one(bench: Bench) -> None:
    """`taugen check` of one file, in a repository with all others."""
    path = f"{repository.folder(0)}/tau.yaml"
    got = measure.median(5, lambda _: measure.run([*TAUGEN, "check", path], bench.repo))
    _small(bench, "check of one file", got, 250)


def check_pull_request(bench: Bench) -> None:
    """`taugen check` of a commit that edits one run, as the shipped workflow does it: by the policy of its base."""
    path = bench.repo / repository.folder(7) / "tau.yaml"
    path.write_text(path.read_text() + "generation: 2\n")
    repository.git(bench.repo, "commit", "--quiet", "--all", "--message=Once more")
    args = ("check", "--format", "github", "--trusted", "HEAD~1", "--changed-since", "HEAD~1")
    got = measure.median(5, lambda _: measure.run([*TAUGEN, *args], bench.repo))
    _small(bench, "check of a pull request with one changed run", got, 400)
    repository.reset(bench.repo)


def help_text(bench: Bench) -> None:
    """`taugen --help`."""
    got = measure.median(7, lambda _: measure.run([*TAUGEN, "--help"], bench.repo))
    name, wanted = "taugen --help", "< 150 ms"
    if got.code:
        _failed(bench, name, wanted, got)
        return
    bench.add(name, f"{got.seconds * 1000:.0f} ms", wanted, met=got.seconds < 0.15)


def yaml_parsers(bench: Bench) -> None:
    """Why PyYAML reads the documents."""
    got = parsers.measure(300)
    ratio = got.ruamel / got.pyyaml
    shown = f"PyYAML {got.pyyaml * 1000:.3f} ms, ruamel.yaml {got.ruamel * 1000:.3f} ms a tau.yaml"
    bench.add("composing YAML with positions, both in C", shown, "", f"{ratio:.1f} x")
