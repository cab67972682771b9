"""`make e2e`: builds what is missing, then plays the end-to-end tests; `make e2e T=name` plays those of that name.

In: perhaps parts of tests' names, perhaps the minutes that all may take. Out: pytest's exit code; 0 with one sentence where this machine
can't build a control plane, or not in the time. One name is played on the plane that `python -m tests.e2e.plane up` started, if there is
one with all that the test needs; else groups of files have planes of their own, as many side by side as there are cores.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

from tests.e2e import build
from tests.e2e.processes import ROOT, say

TESTS = 22 * 60
"""Seconds that all tests take on two cores, with some to spare."""
WORKERS = max(1, min(4, os.cpu_count() or 1))
"""Planes that stand side by side; each has about 2 GiB."""
FILE = 6 * 60
"""Seconds that the longest file of tests takes, with some to spare."""


def main(args: list[str]) -> int:
    """Build and play."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names of the tests to play (default: all)")
    parser.add_argument("--within", type=float, metavar="MINUTES", help="what can't be built or begun in time is skipped, saying so")
    chosen = parser.parse_args(args)
    began = time.monotonic()
    parts = tuple(part for part in build.PARTS if not (part == "argocd" and build.missing(("argocd",))))
    if reason := build.missing() or _unbuilt(parts, None if chosen.within is None else chosen.within * 60 - TESTS):
        say(reason)
        return 0
    if "argocd" not in parts:
        say(f"without Argo CD: {build.missing(('argocd',))}")
    if time.monotonic() - began > 5:
        say(f"built in {time.monotonic() - began:.0f} s, in {build.cache()}")
    code = _play(chosen.names, None if chosen.within is None else time.time() - (time.monotonic() - began) + chosen.within * 60)
    say(f"{time.monotonic() - began:.0f} s in all; logs of every component: {build.cache() / 'logs'}")
    return code


def _unbuilt(parts: tuple[str, ...], seconds: float | None) -> str:
    """Build; the sentence about what this machine can't do, if so. Exits with the compiler's words where a component is wrong."""
    try:
        build.build(build.needed(parts), seconds)
    except build.Unbuildable as error:
        return f"The end-to-end tests are skipped: {error}"
    except build.BuildError as error:
        say(str(error))
        sys.exit(1)
    return ""


def _play(names: list[str], until: float | None) -> int:
    """Run pytest; files that would begin too late for `until` (seconds since the epoch) skip themselves.

    Where time is limited the machine is a shared one: what fails is played once more, each file on a plane of its own, and counts then.
    """
    logs = build.cache() / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    env = os.environ | {"TAUGEN_E2E_KEEP": str(logs)} | ({"TAUGEN_E2E_SHARED": "1"} if names else {})
    chosen = ["-k", " or ".join(names)] if names else ["-n", str(WORKERS), "--dist", "loadscope"]
    code = _pytest(chosen, env if until is None else env | {"TAUGEN_E2E_LAST_START": str(until - FILE)})
    if code == 1 and until is not None and time.time() < until - FILE:
        say("what failed is played once more")
        again = logs / "again"
        again.mkdir()
        return _pytest(["--last-failed", *(chosen if names else ())], env | {"TAUGEN_E2E_KEEP": str(again)})
    return code


def _pytest(options: list[str], env: dict[str, str]) -> int:
    # No output is kept back: what is waited for is seen at once.
    own = ["-o", f"cache_dir={build.cache() / 'pytest'}", "-vv", "-s", "-rs", "--tb=short", "--durations=15"]
    return subprocess.run([sys.executable, "-m", "pytest", "tests/e2e", *own, *options], cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
