"""What git writes, as it writes it.

In: arguments and a folder. Out: blocks of bytes, or what stands between NULs, one after the other. What must never happen: a process that
outlives whoever reads it; an end that git did not mean, taken for the end.
"""

import subprocess
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from taugen.load import git

_BLOCK = 1 << 20
# A user's own would put lines between, leave files out or change their order.
_SETTINGS = ("-c", "log.showSignature=false", "-c", "diff.ignoreSubmodules=none", "-c", "diff.orderFile=/dev/null")


def blocks(args: Sequence[str], cwd: Path | str, *, size: int = _BLOCK) -> Generator[bytes, None, None]:
    """The output of a git process in blocks of at most `size` bytes. Closing ends the process. Raises `GitError` where git fails."""
    with git.spool(args) as said:
        process = git.start([*_SETTINGS, *args], cwd=cwd, stdin=subprocess.DEVNULL, stderr=said)
        try:
            assert process.stdout is not None
            while block := process.stdout.read(size):
                yield block
            if code := process.wait():
                said.seek(0)
                raise git.GitError(args, code, said.read().decode("utf-8", "replace"))
        finally:
            git.stop(process)


def pieces(args: Sequence[str], cwd: Path | str, *, size: int = _BLOCK) -> Generator[bytes, None, None]:
    """The same, split at NUL; what stands behind the last one too, if that is more than a line end."""
    rest = b""
    with closing(blocks(args, cwd, size=size)) as read:
        for block in read:
            *whole, rest = (rest + block).split(b"\0")
            yield from whole
    if rest.strip(b"\n"):
        yield rest
