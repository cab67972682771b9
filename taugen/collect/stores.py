"""Folders that hold a run's files: on this machine, or in an object store.

In: a path, or a URL such as ``s3://bucket/prefix``. Out: files below it. An object store needs `obstore` (``pip install taugen[store]``)
and finds its credentials in the environment, as its own clients do. What must never happen: a link that leads out of the folder, an object
written half.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taugen.collect.checkpoints import Files

_PART = 8 << 20


class Folder:
    """A folder on this machine. Raises OSError for one that is not there."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve(strict=True)

    def markers(self, name: str, depth: int) -> Iterator[str]:
        """As `Files.markers`. Links are not followed, and what a checkpoint holds is not searched for others."""
        level = [self._root]
        for _ in range(depth + 1):
            below: list[Path] = []
            for folder in level:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
                marked = any(entry.name == name and entry.is_file(follow_symlinks=False) for entry in found)
                if marked:
                    yield (folder / name).relative_to(self._root).as_posix()
                if not marked or folder == self._root:
                    below += [Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)]
            level = below

    def read(self, path: str, most: int) -> bytes:
        """As `Files.read`."""
        with (self._root / path).open("rb") as stream:
            return stream.read(most)

    def sizes(self, folder: str) -> Mapping[str, int]:
        """As `Files.sizes`."""
        top = self._root / folder
        out = {}
        for where, _, names in os.walk(top):
            for name in names:
                path = Path(where) / name
                out[path.relative_to(top).as_posix()] = path.lstat().st_size
        return out

    def put(self, path: str, content: Iterable[bytes]) -> tuple[str, int]:
        """Write a file, whole or not at all; (sha256, bytes). Raises OSError."""
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        digest, size = sha256(), 0
        with part.open("wb") as stream:
            for piece in content:
                stream.write(piece)
                digest.update(piece)
                size += len(piece)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
        return digest.hexdigest(), size


class Bucket:
    """Objects below a URL. Raises OSError where `obstore` is not installed or the URL is none that it knows."""

    def __init__(self, url: str, config: Mapping[str, Any] | None = None) -> None:
        try:
            import obstore
            from obstore.exceptions import BaseError
            from obstore.store import from_url
        except ImportError:
            raise OSError(f"{url} needs an object store client: pip install 'taugen[store]'") from None
        self._obstore: Any = obstore
        self._error: type[Exception] = BaseError
        try:
            self._store: Any = from_url(url, **(config or {}))
        except (BaseError, ValueError) as error:
            raise OSError(f"{url}: {error}") from None

    def markers(self, name: str, depth: int) -> Iterator[str]:
        """As `Files.markers`."""
        for path in self._list(""):
            folder, _, last = path.rpartition("/")
            if last == name and len(folder.split("/")) <= depth + (not folder):
                yield path

    def read(self, path: str, most: int) -> bytes:
        """As `Files.read`."""
        try:
            size = int(self._obstore.head(self._store, path)["size"])
            return bytes(self._obstore.get_range(self._store, path, start=0, end=min(size, most))) if size else b""
        except self._error as error:
            raise OSError(str(error)) from None

    def sizes(self, folder: str) -> Mapping[str, int]:
        """As `Files.sizes`."""
        start = f"{folder}/" if folder else ""
        return {path.removeprefix(start): size for path, size in self._list(start).items() if path.startswith(start)}

    def put(self, path: str, content: Iterable[bytes]) -> tuple[str, int]:
        """Write an object; (sha256, bytes). Raises OSError."""
        digest, size = sha256(), 0

        def counted() -> Iterator[bytes]:
            nonlocal size
            for piece in content:
                digest.update(piece)
                size += len(piece)
                yield piece

        try:
            self._obstore.put(self._store, path, counted(), chunk_size=_PART)
        except self._error as error:
            raise OSError(str(error)) from None
        return digest.hexdigest(), size

    def _list(self, prefix: str) -> dict[str, int]:
        try:
            batches = self._obstore.list(self._store, prefix=prefix or None)
            return {str(one["path"]): int(one["size"]) for batch in batches for one in batch}
        except self._error as error:
            raise OSError(str(error)) from None


def opened(place: str) -> "Folder | Bucket":
    """What stands at a path, a ``file://`` URL or the URL of an object store. Raises OSError."""
    if place.startswith("file://"):
        return Folder(Path(place.removeprefix("file://")))
    return Bucket(place) if "://" in place else Folder(Path(place))


def files(place: str) -> "Files":
    """The same, for reading."""
    return opened(place)
