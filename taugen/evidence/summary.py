"""Where the runs of a cluster stood, written down beside the evidence so that a listing need not look at each of them.

In: the branch ``<evidence>-summary/<cluster>``: a compressed file for each day on which something happened last, a line a run: workspace,
name, the id of its folder's tree, its attempts. Out: the attempts of those runs whose folders are still as they were then. It is no
evidence and proves nothing: it can be deleted at any time, `verify` compares it, nothing acts by it, and listings look at the files of
what they show. What must never happen: an exception, whatever somebody wrote there; a line believed of a folder that has changed since, or
of another cluster.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from taugen.evidence import trees
from taugen.evidence.standing import Standing
from taugen.load import git
from taugen.load.partial import Objects

FORM = b"taugen.dev/evidence-summary.v1\n"
"""The first line of each file; what has another is passed over."""
FETCHED = "refs/taugen/summary"
"""Where what was fetched of other repositories' summaries stands, by branch and cluster."""
_MOST = 64 << 20
"""Bytes of a file that are looked at."""


class Line(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """A run, the tree of its folder, its attempts by number."""

    workspace: str
    run: str
    tree: str
    attempts: Annotated[list[Standing], msgspec.Meta(min_length=1)]


_LINES = msgspec.json.Decoder(Line)


def branch_of(evidence: str, cluster: str) -> str:
    """The branch that holds the summary of a cluster."""
    return f"{evidence}-summary/{cluster}"


def file_of(attempts: Sequence[Standing]) -> str:
    """The file in which a run with these attempts stands: that of the day on which the last of them changed."""
    day = attempts[-1].since[:8] or "00000000"
    return f"{day[:4]}-{day[4:6]}/{day[6:]}.jsonl.gz"


def known(repo: Path, evidence: str) -> dict[str, str]:
    """The summaries that a repository has, its own and those that it fetched: commits by cluster. Raises `GitError`."""
    folders = (f"refs/remotes/origin/{evidence}-summary/", f"{FETCHED}/{evidence}/", f"refs/heads/{evidence}-summary/")
    listed = git.run(["for-each-ref", "--format=%(objectname) %(refname)", *folders], cwd=repo).out.decode("utf-8", "surrogateescape")
    refs = {ref: commit for commit, _, ref in (line.partition(" ") for line in listed.splitlines())}
    return {ref.removeprefix(folder): commit for folder in folders for ref, commit in refs.items() if ref.startswith(folder)}


def read(objects: Objects, commit: str, cluster: str, runs: Mapping[str, str]) -> dict[str, list[Standing]]:
    """The attempts of those runs that the summary has as they are now. `runs` are folders of the evidence branch with the ids of their
    trees. Raises `GitError`."""
    out: dict[str, list[Standing]] = {}
    for _, content in files(objects, commit):
        for line in lines(content):
            path = f"{cluster}/runs/{line.workspace}/{line.run[-8:-6]}/{line.run}"
            if runs.get(path) == line.tree:
                out[path] = line.attempts
    return out


def files(objects: Objects, commit: str) -> Iterator[tuple[str, bytes]]:
    """The files of a summary. Raises `GitError`."""
    months = {name: child.id for name, child in trees.top(objects, commit).items() if child.folder}
    level = trees.read(objects, months)
    ids = {f"{month}/{name}": child.id for month, days in level.items() for name, child in days.items() if not child.folder}
    for path, content in zip(ids, objects.read(list(ids.values())), strict=True):
        yield path, content or b""


def lines(content: bytes) -> list[Line]:
    """The lines of a file; none of one that is not what it should be."""
    try:
        text = zlib.decompressobj(wbits=31).decompress(content, _MOST)
        return _LINES.decode_lines(text[len(FORM) :]) if text.startswith(FORM) else []
    except (zlib.error, msgspec.DecodeError, RecursionError):
        return []


def packed(told: Iterable[Line]) -> bytes:
    """A file of these lines."""
    text = FORM + b"".join(msgspec.json.encode(line) + b"\n" for line in sorted(told))
    return gzip.compress(text, 6, mtime=0)
