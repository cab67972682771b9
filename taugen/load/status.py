"""What of a working tree is not committed.

In: a folder of a repository. Out: paths. `git status` looks at every file, so it runs beside whatever else is done until its answer
is asked for. What must never happen: a write to the index, an error that stops the command that only wanted to mention it.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Self

from taugen.load import git


class Uncommitted:
    """A `git status` that runs until `paths` asks for its answer, or the block that it is made for ends."""

    def __init__(self, folder: Path) -> None:
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the block
        args = ["status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules", "--", "."]
        self._process = git.start(args, cwd=folder, stdin=subprocess.DEVNULL, stdout=self._out)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        git.stop(self._process)
        self._out.close()

    def paths(self, prefix: str = "") -> list[str]:
        """Changed, deleted and untracked paths relative to the folder, sorted; a folder of untracked files with a slash at its end.

        `prefix` is the folder's own path in the repository.
        """
        cut = len(prefix) + 1 if prefix else 0
        self._process.wait()
        self._out.seek(0)
        lines = self._out.read().decode("utf-8", "surrogateescape").split("\0")
        return sorted(line[3:][cut:] for line in lines if len(line) > 3)
