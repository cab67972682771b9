"""One interface over the two kinds of source: a working tree and a commit.

In: a folder, or a repository with a commit. Out: paths (relative to the root, with ``/``), entries and contents. What must never happen: a read outside
the root, also through symbolic links; a FIFO or device opened; a file larger than the caller's limit read; anything written, checked out or fetched.

Names that are not UTF-8 keep their bytes as surrogate escapes: whoever prints or delivers a path looks at them (`code.collect` does).
"""

import os
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from taugen.load import git
from taugen.load.git import Entry

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
SKIPPED = frozenset({".git", ".venv", "node_modules"})  # where there is no Git that could say what is ignored
_CACHE_BYTES = 32 * 1024 * 1024
_CACHED_BLOB = 64 * 1024
_LONGEST_LINK = 4096  # bytes, PATH_MAX of Linux


class Unreadable(Exception):
    """A path that can't be read: `path`, and `why` as the end of a sentence (``is a folder``, ``has 52428800 bytes, more than ...``)."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path} {why}")


class SourceTree(Protocol):
    """What the stages know of a source. All paths are relative to the root that `root_label` names to people."""

    @property
    def root_label(self) -> str:
        """How messages name the source: a folder, or a commit."""

    @property
    def commit(self) -> str | None:
        """The commit that is read, None for a working tree."""

    def paths(self) -> Mapping[str, Entry]:
        """The tracked files (every file where there is no Git). A working tree has no `blob` for what differs from the index."""

    def below(self, folder: str) -> Sequence[str]:
        """The paths of `paths` below a folder, sorted; all of them for ``""``."""

    def folders(self) -> frozenset[str]:
        """Every folder that holds a tracked file, ``""`` included."""

    def untracked(self) -> Sequence[str]:
        """Files that Git neither tracks nor ignores, sorted; none in a commit."""

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        """What stands at a path that `matches`, tracked or not: files, links and folders (reading a folder raises `Unreadable`)."""

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a regular file of at most `limit` bytes. Raises `Unreadable`, for links too: see `taugen.load.links`."""

    def readlink(self, path: str) -> str:
        """The text of a symbolic link. Raises `Unreadable`."""

    @property
    def hash_name(self) -> str:
        """How object ids are made: ``sha1`` or ``sha256``."""

    def in_lfs(self, path: str) -> bool:
        """Whether Git stores a pointer of LFS in place of what `read` gives. In a commit `read` gives the pointer itself."""

    def prefetch(self, paths: Iterable[str]) -> None:
        """Say that these will be read soon: a commit reads them in one go."""


class _Listing:
    """What follows from `paths` alone, computed once."""

    def paths(self) -> Mapping[str, Entry]:
        raise NotImplementedError

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.paths())

    @cached_property
    def _folders(self) -> frozenset[str]:
        found = {""}
        for path in self.paths():
            while (path := path.rpartition("/")[0]) not in found:
                found.add(path)
        return frozenset(found)

    def below(self, folder: str) -> Sequence[str]:
        if not folder:
            return self._sorted
        # "0" is the character after "/".
        return self._sorted[bisect_left(self._sorted, folder + "/") : bisect_left(self._sorted, folder + "0")]

    def folders(self) -> frozenset[str]:
        return self._folders


class GitTree(_Listing):
    """A commit, read from the object store: nothing is checked out, `repo` may be bare. `prefix` is the root inside it."""

    def __init__(self, repo: Path | str, commit: str, prefix: str = "") -> None:
        self.repo = Path(repo)
        self.commit: str | None = git.resolve(self.repo, commit)
        self.prefix = prefix.strip("/")
        self._cat: git.CatFile | None = None
        self._cache: dict[str, bytes] = {}
        self._cached = 0

    def __enter__(self) -> "GitTree":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process that reads contents; a later read starts a new one."""
        if self._cat is not None:
            self._cat.close()
            self._cat = None

    @property
    def root_label(self) -> str:
        return f"commit {str(self.commit)[:12]}"

    @property
    def hash_name(self) -> str:
        return "sha256" if len(str(self.commit)) == 64 else "sha1"

    def in_lfs(self, path: str) -> bool:
        return False

    @cached_property
    def _paths(self) -> dict[str, Entry]:
        return git.ls_tree(self.repo, str(self.commit), self.prefix)

    def paths(self) -> Mapping[str, Entry]:
        return self._paths

    def untracked(self) -> Sequence[str]:
        return ()

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        return sorted([p for p in self._paths if matches(p)] + [f for f in self.folders() if f and matches(f)])

    def read(self, path: str, limit: int | None = None) -> bytes:
        entry = self._entry(path)
        if entry.mode == LINK:
            raise Unreadable(path, "is a symbolic link")
        return self._content(path, entry, limit)

    def readlink(self, path: str) -> str:
        entry = self._entry(path)
        if entry.mode != LINK:
            raise Unreadable(path, "is no symbolic link")
        return self._content(path, entry, _LONGEST_LINK).decode("utf-8", "surrogateescape")

    def prefetch(self, paths: Iterable[str]) -> None:
        entries = (self._paths.get(path) for path in paths)
        blobs = list(dict.fromkeys(e.blob for e in entries if e and e.blob and e.mode != SUBMODULE and e.blob not in self._cache))
        for blob, content in zip(blobs, self._objects().read_many(blobs, _CACHED_BLOB), strict=True):
            if isinstance(content, bytes):
                self._keep(blob, content)

    def _entry(self, path: str) -> Entry:
        entry = self._paths.get(path)
        if entry is None:
            raise Unreadable(path, "is a folder" if path in self.folders() else "does not exist")
        if entry.mode == SUBMODULE:
            raise Unreadable(path, "is a submodule")
        return entry

    def _content(self, path: str, entry: Entry, limit: int | None) -> bytes:
        blob = str(entry.blob)
        content: bytes | int | None = self._cache.get(blob)
        if content is None:
            content = next(self._objects().read_many([blob], limit))
            if isinstance(content, bytes):
                self._keep(blob, content)
        if content is None:
            raise Unreadable(path, f"is missing in the repository (object {blob[:12]}; a partial clone has to fetch it first)")
        size = content if isinstance(content, int) else len(content)
        if isinstance(content, int) or (limit is not None and size > limit):
            raise Unreadable(path, _too_large(size, limit or 0))
        return content

    def _keep(self, blob: str, content: bytes) -> None:
        if len(content) > _CACHED_BLOB:
            return
        if self._cached > _CACHE_BYTES:
            self._cache.clear()
            self._cached = 0
        self._cache[blob] = content
        self._cached += len(content)

    def _objects(self) -> git.CatFile:
        if self._cat is None:
            self._cat = git.CatFile(self.repo)
        return self._cat


class WorkTree(_Listing):
    """A folder on disk: the files that Git tracks in it with the contents they have now. Without Git, every file below it."""

    commit: str | None = None

    def __init__(self, root: Path | str) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise Unreadable(str(root), "is no folder")
        self._real_folders = {""}

    @property
    def root_label(self) -> str:
        return str(self.root)

    @cached_property
    def top(self) -> Path | None:
        """The root of the Git working tree that counts here; None where there is none, or where it ignores this folder."""
        top = git.toplevel(self.root)
        if top is None or top == self.root:
            return top
        tracked = git.run(["ls-files", "-z", "--", "."], cwd=self.root).out
        if tracked:
            return top
        # check-ignore can't take paths literally, but "." is no pattern.
        ignored = git.run(["check-ignore", "-q", "."], cwd=self.root, check=False, env_extra={"GIT_LITERAL_PATHSPECS": "0"}).code == 0
        return None if ignored else top

    @cached_property
    def _paths(self) -> dict[str, Entry]:
        if self.top is None:
            return {path: self._from_disk(path) for path in _walk(self.root)}
        listed = git.run(["ls-files", "-s", "-v", "-z", "--", "."], cwd=self.root).out.decode("utf-8", "surrogateescape")
        entries = {}
        doubtful = self._changed()
        for record in listed.split("\0")[:-1]:
            meta, _, path = record.partition("\t")
            tag, mode, blob, _ = meta.split(" ")
            entries[path] = Entry(mode, blob)
            # Lower case and S: git was told not to look at the file on disk. We look.
            if tag != "H":
                doubtful.add(path)
        for path in doubtful:
            if path in entries and entries[path].mode != SUBMODULE:
                if os.path.lexists(self.root / path) and self._has_real_parent(path) and not _is_folder(self.root / path):
                    entries[path] = self._from_disk(path)
                else:
                    del entries[path]
        return entries

    def paths(self) -> Mapping[str, Entry]:
        return self._paths

    def _changed(self) -> set[str]:
        args = ["diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "--relative", "--", "."]
        return set(git.run(args, cwd=self.root).out.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def _from_disk(self, path: str) -> Entry:
        mode = os.lstat(self.root / path).st_mode
        if stat.S_ISLNK(mode):
            return Entry(LINK, None)
        return Entry(EXECUTABLE if stat.S_ISREG(mode) and mode & 0o100 else FILE, None)

    @cached_property
    def _untracked(self) -> list[str]:
        """Files, and folders with a trailing slash: repositories inside this one, and empty folders."""
        if self.top is None:
            return []
        args = ["ls-files", "-o", "-z", "--exclude-standard", "--", "."]
        return sorted(git.run(args, cwd=self.root).out.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def untracked(self) -> Sequence[str]:
        return self._untracked

    @cached_property
    def hash_name(self) -> str:
        if self.top is None:
            return "sha1"
        return git.run(["rev-parse", "--show-object-format"], cwd=self.root).out.decode("ascii").strip()

    def in_lfs(self, path: str) -> bool:
        return path in self._lfs

    @cached_property
    def _lfs(self) -> frozenset[str]:
        if self.top is None or not any(b"filter" in _content(self.root / place) for place in self._attribute_files()):
            return frozenset()
        args = ["ls-files", "-z", "--", ":(attr:filter=lfs)."]
        listed = git.run(args, cwd=self.root, env_extra={"GIT_LITERAL_PATHSPECS": "0"}).out
        return frozenset(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def _attribute_files(self) -> Iterator[str]:
        """Where attributes are looked up. The question to git is asked only if one of these names a filter: it costs a look at every path."""
        yield from (path for path in self._paths if path.rpartition("/")[2] == ".gitattributes")
        above = len(self.root.relative_to(self.top).parts) if self.top else 0
        yield from ("../" * up + ".gitattributes" for up in range(above + 1))

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        found = {p for p in self._paths if matches(p)}
        found.update(p for p in map(_bare, self._untracked) if matches(p))
        found.update(f for f in self.folders() | self._empty_folders if f and matches(f))
        return sorted(found)

    @cached_property
    def _empty_folders(self) -> frozenset[str]:
        """Untracked folders, which Git reports only when asked for folders: a folder named tau.yaml must not vanish from the findings."""
        if self.top is None:
            return frozenset(_walk_folders(self.root))
        args = ["ls-files", "-o", "-z", "--directory", "--exclude-standard", "--", "."]
        listed = git.run(args, cwd=self.root).out.decode("utf-8", "surrogateescape").split("\0")[:-1]
        folders = {p.rstrip("/") for p in listed if p.endswith("/")}
        inside = {f"{folder}/{below}" for folder in folders for below in _walk_folders(self.root / folder)}
        return frozenset(folders | inside)

    def read(self, path: str, limit: int | None = None) -> bytes:
        target = self._checked(path)
        try:
            handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise Unreadable(path, _reason(error)) from None
        with os.fdopen(handle, "rb") as file:
            size = os.fstat(handle).st_size
            if limit is not None and size > limit:
                raise Unreadable(path, _too_large(size, limit))
            try:
                # One byte more shows a file that grew since.
                content = file.read() if limit is None else file.read(limit + 1)
            except OSError as error:
                raise Unreadable(path, _reason(error)) from None
        if limit is not None and len(content) > limit:
            raise Unreadable(path, _too_large(len(content), limit))
        return content

    def _checked(self, path: str) -> Path:
        """The place of a regular file whose folders are all real ones inside the root. Raises `Unreadable`; opens nothing."""
        target = self.root / path
        if path.startswith("/") or ".." in path.split("/") or not self._has_real_parent(path):
            raise Unreadable(path, "is reached through a symbolic link or leaves the repository")
        try:
            mode = os.lstat(target).st_mode
        except (OSError, ValueError) as error:
            raise Unreadable(path, _reason(error)) from None
        if not stat.S_ISREG(mode):
            raise Unreadable(path, _kind(mode))
        return target

    def _has_real_parent(self, path: str) -> bool:
        """Whether no folder on the way to `path` is a link. Checked once a folder: the work tree is not changed by others while it is read."""
        folder = path.rpartition("/")[0]
        if folder in self._real_folders:
            return True
        if not self._has_real_parent(folder):
            return False
        try:
            real = stat.S_ISDIR(os.lstat(self.root / folder).st_mode)
        except (OSError, ValueError):
            return True  # what does not exist leads nowhere; reading says so
        if real:
            self._real_folders.add(folder)
        return real or not os.path.islink(self.root / folder)

    def readlink(self, path: str) -> str:
        if not self._has_real_parent(path):
            raise Unreadable(path, "is reached through a symbolic link or leaves the repository")
        try:
            return os.readlink(self.root / path)
        except OSError as error:
            raise Unreadable(path, _reason(error)) from None

    def prefetch(self, paths: Iterable[str]) -> None:
        """The disk needs no warning."""


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        links = [f for f in folders if os.path.islink(os.path.join(folder, f))]
        base = os.path.relpath(folder, root)
        for name in files + links:
            yield name if base == "." else f"{base}/{name}"


def _walk_folders(root: Path) -> Iterator[str]:
    for folder, folders, _ in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not os.path.islink(os.path.join(folder, f)))
        base = os.path.relpath(folder, root)
        for name in folders:
            yield name if base == "." else f"{base}/{name}"


def _content(place: Path) -> bytes:
    try:
        return place.read_bytes() if stat.S_ISREG(os.lstat(place).st_mode) else b""
    except OSError:
        return b""


def _bare(path: str) -> str:
    return path.rstrip("/")


def _is_folder(target: Path) -> bool:
    return stat.S_ISDIR(os.lstat(target).st_mode)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "is a folder"
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    return "is a pipe, a socket or a device, not a file"


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "does not exist"
    if isinstance(error, PermissionError):
        return "can't be read: permission denied"
    return f"can't be read: {error.strerror if isinstance(error, OSError) else error}"


def _too_large(size: int, limit: int) -> str:
    return f"has {size} bytes, more than the {limit} that are read"
