"""A folder as a source.

In: a folder, inside a Git working tree, at its top or without Git. Out: what Git tracks there, with the contents that are on disk now. What
must never happen: a link followed by the operating system, a pipe opened, a program of the repository's configuration run.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from taugen.load import git
from taugen.load.ahead import Ahead
from taugen.load.ask import Question
from taugen.load.filters import disarmed
from taugen.load.git import Entry
from taugen.load.source import EXECUTABLE, FILE, LINK, SUBMODULE, SourceTree, Unreadable, too_large

SKIPPED = frozenset({".git", ".venv", "node_modules"})  # where there is no Git that could say what is ignored
_MANY = 500  # folders on one command line
# One process for what is tracked and what is not: half of its time goes into reading the index.
_LISTING = ("ls-files", "-s", "-v", "-o", "-z", "--directory", "--exclude-standard")
_OTHER = "? "
_DIFFERING = ("diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "--relative")
_NO_LINK = "is reached through a symbolic link or leaves the repository"


class WorkTree(SourceTree):
    """The files below `root`; with `only`, no more need be listed than these files and folders (relative to it), and no more are where
    there is Git. Raises `Unreadable` for what is no folder; methods raise `GitError` where git can't read the repository."""

    commit: None = None

    def __init__(self, root: Path | str, only: Sequence[str] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise Unreadable(str(root), "is no folder")
        # Attributes of the folders above say what of these is kept in LFS.
        above = {f"{path[:at]}/.gitattributes" for path in only for at, char in enumerate(path) if char == "/"}
        self._only = [*only, ".gitattributes", *sorted(above)] if only else ["."]
        self._base = os.path.join(self.root, "")
        self._real_folders = {""}
        self._listing: Question | None = None
        self._differing: Question | None = None

    @property
    def root_label(self) -> str:
        """The folder."""
        return str(self.root)

    @cached_property
    def top(self) -> Path | None:
        """The top of the Git working tree that counts here; None without one, or where it ignores this folder."""
        top = git.toplevel(self.root)
        if top is None or top == self.root or self._index:
            return top
        # check-ignore can't take paths literally, but "." is no pattern.
        ignored = git.run(["check-ignore", "-q", "."], cwd=self.root, check=False, env_extra={"GIT_LITERAL_PATHSPECS": "0"})
        return None if ignored.code == 0 else top

    def prepare(self, ahead: Ahead) -> None:
        """Have git look at the tree now, while the caller does something else: `paths` would ask the same, and wait."""
        self._listing = self._ask(*_LISTING)
        self._differing = self._ask(*_DIFFERING, env=ahead.filters())
        ahead.top()

    @cached_property
    def _listed(self) -> list[str]:
        return (self._listing or self._ask(*_LISTING)).answer()

    @cached_property
    def _index(self) -> list[str]:
        return [record for record in self._listed if not record.startswith(_OTHER)]

    def _ask(self, *args: str, env: Mapping[str, str] | None = None) -> Question:
        return Question([*args, "--", *self._only], self.root, env)

    @cached_property
    def _sparse(self) -> frozenset[str]:
        """What a sparse checkout leaves out: tagged S and not on disk."""
        if self.top is None:
            return frozenset()
        tagged = (record.partition("\t")[2] for record in self._index if record[0] in "Ss")
        return frozenset(path for path in tagged if not os.path.lexists(self._at(path)))

    @cached_property
    def hash_name(self) -> str:
        """As the repository says; sha1 without one."""
        if self.top is None:
            return "sha1"
        return git.run(["rev-parse", "--show-object-format"], cwd=self.root).out.decode("ascii").strip()

    @cached_property
    def _paths(self) -> dict[str, Entry]:
        if self.top is None:
            return {path: self._from_disk(path) for path in _walk(self.root, files=True)}
        entries = {}
        doubtful = set((self._differing or self._ask(*_DIFFERING, env=self._filters())).answer())
        for record in self._index:
            meta, _, path = record.partition("\t")
            tag, mode, blob, _ = meta.split(" ")
            entries[path] = Entry(mode, blob)
            # Lower case and S: git was told not to look at the file on disk. We look.
            if tag != "H":
                doubtful.add(path)
        for path in doubtful - self._sparse:
            if path in entries and entries[path].mode != SUBMODULE:
                if self._stands(path):
                    entries[path] = self._from_disk(path)
                else:
                    del entries[path]
        return entries

    def _filters(self) -> Mapping[str, str] | None:
        # What was written in the second of the index's own time is compared by content, for which git would start filters.
        tracked = [record.partition("\t")[2] for record in self._index if record.endswith(".gitattributes")]
        return disarmed(self.root) if any(os.path.lexists(self._at(place)) for place in self._attribute_files(tracked)) else None

    def paths(self) -> Mapping[str, Entry]:
        """Tracked files that are on disk or left out by a sparse checkout; without Git all but those in `SKIPPED` folders."""
        return self._paths

    def _stands(self, path: str) -> bool:
        """Whether a file, a link or a pipe is on disk at a path that Git tracks."""
        target = self._at(path)
        return os.path.lexists(target) and self._has_real_parent(path) and not stat.S_ISDIR(os.lstat(target).st_mode)

    def _from_disk(self, path: str) -> Entry:
        mode = os.lstat(self._at(path)).st_mode
        if stat.S_ISLNK(mode):
            return Entry(LINK, None)
        return Entry(EXECUTABLE if stat.S_ISREG(mode) and mode & 0o100 else FILE, None)

    @cached_property
    def _others(self) -> list[str]:
        """Untracked files, and folders with a slash at the end that hold nothing tracked."""
        return [record.removeprefix(_OTHER) for record in self._listed if record.startswith(_OTHER)] if self.top else []

    @cached_property
    def _untracked(self) -> list[str]:
        folders = [path.rstrip("/") for path in self._others if path.endswith("/")]
        if not folders:
            return sorted(self._others)
        # A second walk, but a short one: only what the first could not name file by file.
        args = ["ls-files", "-o", "-z", "--exclude-standard", "--", *(folders if len(folders) < _MANY else ["."])]
        inside = git.run(args, cwd=self.root).out.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return sorted({*(path for path in self._others if not path.endswith("/")), *inside})

    def untracked(self) -> Sequence[str]:
        """As git status would list them, file by file; none without Git."""
        return self._untracked

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        """Tracked and untracked files, and folders, empty ones included: a folder named tau.yaml must not vanish from the findings."""
        return sorted(filter(matches, self._names))

    @cached_property
    def _names(self) -> frozenset[str]:
        names = {*self._paths, *self.folders(), *self._untracked_folders, *(path.rstrip("/") for path in self._untracked)}
        return frozenset(names - {""})

    @cached_property
    def _untracked_folders(self) -> frozenset[str]:
        if self.top is None:
            return frozenset(_walk(self.root, files=False))
        folders = {path.rstrip("/") for path in self._others if path.endswith("/")}
        inside = (f"{folder}/{below}" for folder in folders for below in _walk(self.root / folder, files=False))
        return frozenset({*folders, *inside})

    @cached_property
    def lfs(self) -> frozenset[str]:
        """Tracked paths whose attributes say ``filter=lfs``."""
        # The question to git is asked only where a file of attributes names a filter: it costs a look at every path.
        if self.top is None or not any(b"filter" in _plain_content(self.root / place) for place in self._attribute_files(self._paths)):
            return frozenset()
        args = ["ls-files", "-z", "--", *(f":(literal,attr:filter=lfs){place}" for place in self._only)]
        listed = git.run(args, cwd=self.root, env_extra={"GIT_LITERAL_PATHSPECS": "0"}).out
        return frozenset(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def _attribute_files(self, tracked: Iterable[str]) -> Iterator[str]:
        """Those among tracked paths, and those above the root."""
        yield from (path for path in tracked if path.rpartition("/")[2] == ".gitattributes")
        above = len(self.root.relative_to(self.top).parts) if self.top else 0
        yield from ("../" * up + ".gitattributes" for up in range(1, above + 1))

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content on disk; from Git's store for a file that a sparse checkout leaves out."""
        target = self._at(path)
        if not self._has_real_parent(path) or path.startswith("/") or ".." in path.split("/"):
            raise Unreadable(path, _NO_LINK)
        try:
            found = os.lstat(target)
            # Looked at before it is opened: opening a pipe or a device can already do something.
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable(path, _kind(found.st_mode))
            if limit is not None and found.st_size > limit:
                raise too_large(path, found.st_size, limit)
            return _content(target, found.st_size)
        except FileNotFoundError as error:
            if path in self._sparse:
                return self._stored(path, limit)
            tracked = self._paths.get(path)
            raise Unreadable(path, "is a submodule" if tracked and tracked.mode == SUBMODULE else _reason(error)) from None
        except (OSError, ValueError) as error:
            raise Unreadable(path, _reason(error)) from None

    def _at(self, path: str) -> str:
        return f"{self._base}{path}"

    def _stored(self, path: str, limit: int | None) -> bytes:
        with git.CatFile(self.root) as cat:
            content = next(cat.read_many([str(self._paths[path].blob)], limit))
        if content is None:
            raise Unreadable(path, "is missing in the repository (a partial clone has to fetch it first)")
        if isinstance(content, int):
            raise too_large(path, content, limit or 0)
        return content

    def _has_real_parent(self, path: str) -> bool:
        """Whether no folder on the way to `path` is a link. Asked once a folder: nobody else changes the tree while it is read."""
        folder = path.rpartition("/")[0]
        if folder in self._real_folders:
            return True
        if not self._has_real_parent(folder):
            return False
        try:
            mode = os.lstat(self._at(folder)).st_mode
        except (OSError, ValueError):
            return True  # what does not exist leads nowhere; reading says so
        if stat.S_ISDIR(mode):
            self._real_folders.add(folder)
        return not stat.S_ISLNK(mode)

    def readlink(self, path: str) -> str:
        """The text of a link on disk."""
        if not os.path.lexists(self._at(path)) and path in self._sparse:
            return self._stored(path, None).decode("utf-8", "surrogateescape")
        if not self._has_real_parent(path):
            raise Unreadable(path, _NO_LINK)
        try:
            return os.readlink(self._at(path))
        except OSError as error:
            raise Unreadable(path, _reason(error)) from None

    def prefetch(self, paths: Iterable[str]) -> None:
        """The disk needs no warning."""


def _walk(root: Path, *, files: bool) -> Iterator[str]:
    """Paths below a folder: its files and links, or its folders."""
    for folder, folders, names in os.walk(root):
        links = {f for f in folders if os.path.islink(os.path.join(folder, f))}
        folders[:] = sorted(f for f in folders if f not in SKIPPED and f not in links)
        base = os.path.relpath(folder, root)
        for name in sorted({*names, *links}) if files else folders:
            yield name if base == "." else f"{base}/{name}"


def _content(target: str, size: int) -> bytes:
    """What a regular file holds, as long as it is the one that was looked at: a file that grew is cut at what was asked for."""
    handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = os.read(handle, size)
        while len(content) < size and (more := os.read(handle, size - len(content))):
            content += more
        return content
    finally:
        os.close(handle)


def _plain_content(place: Path) -> bytes:
    try:
        return place.read_bytes() if stat.S_ISREG(os.lstat(place).st_mode) else b""
    except OSError:
        return b""


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
