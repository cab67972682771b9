"""Checkpoints of a run: the complete ones, by their marker file.

In: the folder that the run's checkpoint path is in the collector's view, or an object store. Out: `Checkpoint`s of that run. One counts
once `_TAU_COMPLETE.json` stands in it, names the run and every file that it lists is there in its size
(taugen/render/scripts/tau_checkpoint.py writes it, last of all). What must never happen: a half-written checkpoint that is called complete,
one of another run, a read outside of the folder.
"""

import json
import posixpath
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Protocol

from taugen.evidence.store import Checkpoint
from taugen.words import Json

MARKER = "_TAU_COMPLETE.json"
DEPTH = 3
"""Folders below the run's checkpoint path that are searched, as the launch script does."""
_MOST = 1 << 26


class Files(Protocol):
    """Files below a folder, wherever they are."""

    def markers(self, name: str, depth: int) -> Iterator[str]:
        """The paths of files of a name, relative to the folder, not deeper than `depth`. Raises OSError."""

    def read(self, path: str, most: int) -> bytes:
        """The content of a file, as far as `most` bytes. Raises OSError."""

    def sizes(self, folder: str) -> Mapping[str, int]:
        """The sizes of all files below a folder, by path relative to it. Raises OSError."""


def complete(files: Files, run: str, uri: str) -> list[Checkpoint]:
    """The complete checkpoints of the run `<workspace>/<name>/<digest8>`, by step; `uri` is what the folder is called in evidence. Raises
    OSError where the folder can't be read."""
    found = (_checkpoint(files, path, run, uri) for path in sorted(files.markers(MARKER, DEPTH)))
    return sorted((one for one in found if one is not None), key=lambda one: (one.step, one.uri))


def _checkpoint(files: Files, marker: str, run: str, uri: str) -> Checkpoint | None:
    folder = posixpath.dirname(marker)
    try:
        content = files.read(marker, _MOST)
        said = json.loads(content)
        step = said["step"]
        listed = _listed(said["files"])
        if said["run"] != run or isinstance(step, bool) or not isinstance(step, int | float) or step != int(step):
            return None
        there = files.sizes(folder)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if any(there.get(path) != size for path, size in listed.items()):
        return None
    where = posixpath.join(uri, folder) if folder else uri
    # The marker lists each file's digest, so that its own covers the checkpoint.
    return Checkpoint(int(step), where, f"sha256:{sha256(content).hexdigest()}", sum(listed.values()), posixpath.join(where, MARKER))


def _listed(files: Json) -> dict[str, int]:
    """Path -> size, in any of the forms that the launch script takes. Raises ValueError for others."""
    if isinstance(files, list):
        files = {str(one.get("path") or one.get("name")): one for one in files if isinstance(one, dict)}
    if not isinstance(files, dict):
        raise ValueError("a marker lists no files")
    out = {}
    for path, wanted in files.items():
        size = wanted.get("size") if isinstance(wanted, dict) else wanted
        if isinstance(size, bool) or not isinstance(size, int):
            raise ValueError(f"a marker does not say the size of {path}")
        out[posixpath.normpath(path)] = size
    return out
