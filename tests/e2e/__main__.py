"""`make e2e`: builds what is missing, then plays the end-to-end tests; `make e2e T=name` plays those of that name.

In: perhaps a part of a test's name. Out: pytest's exit code; 0 with one sentence where this machine can't build a control plane. One
name is played on the plane that `python -m tests.e2e.plane up` started, if there is one with all that the test needs; else each file of
tests has a plane of its own.
"""

import os
import shutil
import subprocess
import sys
import time

from tests.e2e import build
from tests.e2e.processes import ROOT, say


def main(names: list[str]) -> int:
    """Build and play."""
    if reason := build.missing():
        say(reason)
        return 0
    parts = tuple(part for part in build.PARTS if not (part == "argocd" and build.missing(("argocd",))))
    if "argocd" not in parts:
        say(f"without Argo CD: {build.missing(('argocd',))}")
    began = time.monotonic()
    try:
        build.build(build.needed(parts))
    except build.BuildError as error:
        say(str(error))
        return 1
    if time.monotonic() - began > 5:
        say(f"built in {time.monotonic() - began:.0f} s, in {build.cache()}")
    logs = build.cache() / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    env = os.environ | {"TAUGEN_E2E_KEEP": str(logs)} | ({"TAUGEN_E2E_SHARED": "1"} if names else {})
    chosen = ["-k", " or ".join(names)] if names else []
    command = [sys.executable, "-m", "pytest", "tests/e2e", "-p", "no:cacheprovider", "-v", "-s", "--tb=short", "--durations=15", *chosen]
    code = subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
    say(f"{time.monotonic() - began:.0f} s in all; logs of every component: {logs}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
