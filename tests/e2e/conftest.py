"""Fixtures: the plane that a module asks for in its constant WITH, and reports that end with the components' own words."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import build
from tests.e2e.kube import Kube
from tests.e2e.plane import Plane, default_folder
from tests.e2e.processes import say

KEEP = os.environ.get("TAUGEN_E2E_KEEP", "")
"""A folder that logs of planes are moved to."""


@pytest.fixture(scope="module")
def plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """The plane that is up already, if it has all that the module needs, else one of its own that goes down with the module."""
    parts: tuple[str, ...] = request.module.WITH
    standing = Plane(default_folder())
    if set(parts) <= set(standing.parts()) and os.environ.get("TAUGEN_E2E_SHARED"):
        yield standing
        return
    if reason := build.missing(parts):
        pytest.skip(reason)
    own = Plane(tmp_path_factory.mktemp(request.module.__name__.rpartition(".")[2]))
    say(f"starting {', '.join(('Kubernetes', *parts))} in {own.folder}")
    own.up(parts, owned=True, kueue=getattr(request.module, "KUEUE", None))
    try:
        yield own
    finally:
        own.down(keep=True)
        if KEEP:
            own.processes.logs.rename(Path(KEEP) / own.folder.name)


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
