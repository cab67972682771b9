"""Runs the checks' scripts, each for a bounded time.

In: a script with its arguments and environment. Out: an `Answer`. What must never happen: waiting for a program that can't be ended (one
that hangs in a driver ignores SIGKILL), an answer that fills memory or disk.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .judge import Answer

MOST = 256 * 1024
"""Bytes that are read of an answer."""
_BLOCKS = 2048
"""512-byte blocks that a file of a check may have."""
PATIENCE = 2.0
"""Seconds that a killed check has to go."""


class Scripts:
    """Runs scripts of a folder. A script whose earlier run could not be ended is not started again while that one lives."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = dict(env)
        self._stuck: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, name: str, script: str, arguments: Sequence[str], env: Mapping[str, str], timeout: float) -> Answer:
        """The answer of one script. Never raises; what can't be run can't tell."""
        stuck = self._stuck.get(name)
        if stuck is not None:
            if stuck.poll() is None:
                return Answer(None, f"an earlier run still hangs (process {stuck.pid})")
            del self._stuck[name]
        try:
            folder = tempfile.mkdtemp(prefix="check-")
        except OSError as error:
            return Answer(None, f"no place for answers: {error.strerror}")
        try:
            return self._run(name, [str(self.folder / script), *arguments], {**env, "GPUHEALTH_TMP": folder}, timeout)
        except OSError as error:
            return Answer(None, f"the check can't be started: {error.strerror}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, name: str, words: Sequence[str], env: Mapping[str, str], timeout: float) -> Answer:
        argv = ["/bin/sh", "-c", f'ulimit -f {_BLOCKS}; exec /bin/sh "$@"', "check", *words]
        said = Path(env["GPUHEALTH_TMP"]) / "said"
        with said.open("wb") as out:
            process = subprocess.Popen(
                argv, env={**self.env, **env}, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
            )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._end(name, process)
            return Answer(None, f"no answer within {timeout:g} s")
        if code < 0:
            return Answer(None, f"the check was ended by signal {-code}")
        with said.open("rb") as answer:
            return Answer(code, answer.read(MOST).decode("utf-8", "replace"))

    def _end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._stuck[name] = process
