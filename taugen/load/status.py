"""What of a working tree is not committed.

In: a folder of a repository. Out: paths. `git status` looks at every file, so it runs beside whatever else is done until its answer
is asked for. What must never happen: a write to the index, a filter started that .gitattributes names, an error that stops the command
that only wanted to mention it.
"""

import subprocess
from pathlib import Path
from typing import IO, Self

from taugen.load import git
from taugen.load.filters import disarmed


class Uncommitted:
    """A `git status` that runs until `paths` asks for its answer, or the block that it is made for ends."""

    def __init__(self, folder: Path) -> None:
        args = ["status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules", "--", "."]
        self._out: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._out = git.spool(args)
            env = git.environment(extra=disarmed(folder))
            self._process = git.start(args, cwd=folder, stdin=subprocess.DEVNULL, stdout=self._out, env=env)
        except git.GitError:
            return  # whatever comes next meets the same and says it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            git.stop(self._process)
        if self._out is not None:
            self._out.close()

    def paths(self, prefix: str = "") -> list[str]:
        """Changed, deleted and untracked paths relative to the folder, sorted; a folder of untracked files with a slash at its end.

        `prefix` is the folder's own path in the repository.
        """
        cut = len(prefix) + 1 if prefix else 0
        if self._process is None or self._out is None:
            return []
        self._process.wait()
        self._out.seek(0)
        lines = self._out.read().decode("utf-8", "surrogateescape").split("\0")
        return sorted(line[3:][cut:] for line in lines if len(line) > 3)
