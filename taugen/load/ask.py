"""Questions to git that are answered later.

In: arguments and a folder. Out: what git wrote, once it is asked for: several processes, and this one, work at the same time meanwhile.
What must never happen: a process that outlives the question.
"""

import subprocess
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from taugen.load import git


class Question:
    """A git process that runs until `answer` wants its output."""

    def __init__(self, args: Sequence[str], cwd: Path | str, env_extra: Mapping[str, str] | None = None) -> None:
        self._args = args
        self._out, self._said = git.spool(args), git.spool(args)
        env = git.environment(extra=env_extra)
        self._process = git.start(args, cwd=cwd, stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._said, env=env)
        self._end = weakref.finalize(self, _end, self._process, self._out, self._said)

    def answer(self) -> list[str]:
        """What git wrote, split at NUL; to be asked once. Raises `GitError`."""
        got = self.result()
        if got.code:
            raise git.GitError(self._args, got.code, got.err.decode("utf-8", "replace"))
        return got.out.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def result(self) -> git.GitResult:
        """What git left; to be asked once, in place of `answer`."""
        code = self._process.wait()
        try:
            self._out.seek(0)
            self._said.seek(0)
            return git.GitResult(code, self._out.read(), self._said.read())
        finally:
            self._end()


def begin(args: Sequence[str], cwd: Path | str) -> None:
    """Ask now what `git.run` will be asked with the same arguments in the same folder: the next one waits for this answer. Only for what
    can't change meanwhile, such as the contents of a commit."""
    git.begun[str(cwd), tuple(args)] = Question(args, cwd).result


def forget() -> None:
    """End what was begun and nobody wanted."""
    git.begun.clear()


def _end(process: "subprocess.Popen[bytes]", *files: IO[bytes]) -> None:
    git.stop(process)
    for file in files:
        file.close()
