"""The least that any compiler of this kind must do: `python -m benchmarks.floor REPO SOURCE STREAM`.

In: a repository, the source commit, and a file with the fast-import commands that write the same output once more. Out: a commit. One
process lists the source, reads every file through ``git cat-file``, and hands the stream to ``git fast-import`` with the settings that
are quickest for it. Nothing is parsed, decided or formatted. The repository must not hold the output yet: fast-import passes over what is
there.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

BRANCH = "refs/heads/floor"
SETTINGS = ("-c", "pack.compression=1", "-c", "gc.auto=0")


def read(repo: Path, commit: str) -> int:
    """Read every file of a commit; the bytes that were read."""
    listed = subprocess.run(["git", "ls-tree", "-r", "-z", commit], cwd=repo, check=True, capture_output=True).stdout
    blobs = [record.split(b"\t", 1)[0].split(b" ")[2] for record in listed.split(b"\0")[:-1]]
    total = 0
    with tempfile.TemporaryFile() as names:
        names.write(b"".join(blob + b"\n" for blob in blobs))
        names.seek(0)
        with subprocess.Popen(["git", "cat-file", "--batch", "--buffer"], cwd=repo, stdin=names, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while piece := process.stdout.read(1 << 20):
                total += len(piece)
    return total


def write(repo: Path, stream: Path) -> None:
    """Write the output and commit it."""
    with stream.open("rb") as commands:
        command = ["git", *SETTINGS, "fast-import", "--quiet", "--done", "--date-format=raw", "--depth=0"]
        subprocess.run(command, cwd=repo, stdin=commands, check=True, env=os.environ | {"MALLOC_TRIM_THRESHOLD_": "67108864"})


def stream(repo: Path, commit: str) -> Iterator[bytes]:
    """The fast-import commands that make the tree of `commit` from nothing, on branch floor."""
    yield f"commit {BRANCH}\ncommitter Bench <bench@bench.example> 1700000000 +0000\ndata 5\nFloor\ndeleteall\n".encode()
    listed = subprocess.run(["git", "ls-tree", "-r", "-z", commit], cwd=repo, check=True, capture_output=True).stdout
    records = [record.split(b"\t", 1) for record in listed.split(b"\0")[:-1]]
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for meta, path in records:
            process.stdin.write(meta.split(b" ")[2] + b"\n")
            process.stdin.flush()
            size = int(process.stdout.readline().split(b" ")[2])
            yield b"M 100644 inline %b\ndata %d\n%b" % (path, size, process.stdout.read(size + 1))
    yield b"\ndone\n"


def main() -> None:
    """Read, write, commit."""
    repo, commit, commands = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    read(repo, commit)
    write(repo, commands)


if __name__ == "__main__":
    main()
