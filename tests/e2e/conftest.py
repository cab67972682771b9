"""Fixtures: the plane that a module asks for in its constant WITH, and reports that end with the components' own words."""

import os
import re
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.e2e import build
from tests.e2e.kube import Kube
from tests.e2e.loop import ArgoLoop, FluxLoop
from tests.e2e.plane import Plane, default_folder
from tests.e2e.processes import ROOT, say

KEEP = os.environ.get("TAUGEN_E2E_KEEP", "")
"""A folder that logs of planes are moved to."""
LAST_START = float(os.environ.get("TAUGEN_E2E_LAST_START", "inf"))
"""When, in seconds since the epoch, no file of tests begins any more."""


class Standing:
    """The one plane that is up: kept for the next module if that shares it, gone before another one comes."""

    def __init__(self) -> None:
        self.plane: Plane | None = None
        self.group = ""
        self.loop: FluxLoop | ArgoLoop | None = None
        self.given = Plane(default_folder())

    def take(self, module: ModuleType, folder: Callable[[str], Path]) -> Plane:
        """A plane with all that a module needs. Skips the module where there can be none."""
        parts: tuple[str, ...] = module.WITH
        group, kueue = getattr(module, "SHARES", ""), getattr(module, "KUEUE", None)
        if time.time() > LAST_START:
            pytest.skip("no time is left for this file")
        if self.plane and group and group == self.group and set(parts) <= set(self.plane.parts()):
            self.plane.configure(kueue)
            return self.plane
        self.leave()
        if reason := build.missing(parts):
            pytest.skip(reason)
        own = Plane(folder(module.__name__.rpartition(".")[2]))
        say(f"starting {', '.join(('Kubernetes', *parts))} in {own.folder}")
        began = time.monotonic()
        own.up(parts, owned=True, kueue=kueue)
        say(f"started in {time.monotonic() - began:.0f} s")
        self.plane, self.group = own, group
        return own

    def leave(self) -> None:
        """End the plane; its logs are kept, its data are not."""
        if own := self.plane:
            self.plane = self.loop = None
            own.down(keep=True)
            if KEEP:
                Path(KEEP).mkdir(parents=True, exist_ok=True)  # another play may have begun and thrown away what the last one left
                own.processes.logs.rename(Path(KEEP) / own.folder.name)
            shutil.rmtree(own.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def standing() -> Iterator[Standing]:
    """What stands between modules."""
    made = Standing()
    yield made
    made.leave()


@pytest.fixture(scope="module")
def plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, standing: Standing) -> Iterator[Plane]:
    """The plane that is up already, if it has all that the module needs, else one of its own or one that it shares."""
    given = standing.given
    if os.environ.get("TAUGEN_E2E_SHARED") and given.parts() and set(request.module.WITH) <= set(given.parts()):
        if "kueue" in given.parts():
            given.configure(getattr(request.module, "KUEUE", None))
        yield given
        return
    yield standing.take(request.module, tmp_path_factory.mktemp)
    if not getattr(request.module, "SHARES", ""):
        standing.leave()


@pytest.fixture(scope="module")
def loop(
    request: pytest.FixtureRequest, plane: Plane, kube: Kube, standing: Standing, tmp_path_factory: pytest.TempPathFactory
) -> FluxLoop | ArgoLoop:
    """The loop that a module asks for in its constant LOOP, in sync; modules that share a plane share it."""
    kind, cluster = request.module.LOOP
    made = standing.loop
    if made is None or made.plane is not plane:
        made = kind(tmp_path_factory.mktemp("loop"), plane, kube, cluster)
        made.bootstrap()
        standing.loop = made
    made.kube = kube
    return made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules that share a plane follow each other, the ones that need most of it first, those with a Kueue of their own last."""

    def place(item: pytest.Item) -> tuple[str, bool, int, str]:
        module = item.module  # type: ignore[attr-defined]
        return (_group(item), hasattr(module, "KUEUE"), -len(getattr(module, "WITH", ())), module.__name__)

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Several workers: what shares a plane stays with one of them."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPlane(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = ROOT / nodeid.partition("::")[0]
            shares = re.search(r'^SHARES = "(\w+)"$', file.read_text(encoding="utf-8"), re.MULTILINE)
            return shares[1] if shares else file.stem

    return ByPlane(config, log)


def _group(item: pytest.Item) -> str:
    module = item.module  # type: ignore[attr-defined]
    return getattr(module, "SHARES", "") or module.__name__.rpartition(".")[2]


@pytest.fixture(scope="module")
def kube(plane: Plane) -> Iterator[Kube]:
    """An administrator."""
    with plane.kube() as client:
        yield client


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what the components said last."""
    report = yield
    plane = getattr(item, "funcargs", {}).get("plane")
    if report.when == "call" and report.failed and plane:
        for name in plane.processes.running():
            if words := plane.processes.complaints(name):
                report.sections.append((f"{name} ({plane.processes.logs / name}.log)", words))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How long each file took, its plane's start and end among it."""
    seconds: Counter[str] = Counter()
    ended: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in ("passed", "failed", "error", "skipped", ""):
        for report in terminalreporter.stats.get(outcome, ()):
            file = report.nodeid.partition("::")[0]
            seconds[file] += report.duration
            if outcome:
                ended[file][outcome] += 1
    terminalreporter.section("files")
    for file, took in seconds.items():
        terminalreporter.line(f"{file:42} {took:6.0f} s  {', '.join(f'{number} {word}' for word, number in ended[file].items())}")
