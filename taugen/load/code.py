"""The code of a run: which files are delivered, under which names, with which contents.

In: a source tree, the code root and the run's include and exclude patterns. Out: a `CodeTree` and problems as data. What must never happen: a document
of taugen, a file outside the workspace or one that Git does not track among the code.

A link inside the workspace is delivered as what it points to, since a ConfigMap can hold no links.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from taugen.load.links import Outcome, resolve_link
from taugen.load.tree import LINK, SUBMODULE, SourceTree, Unreadable
from taugen.diag import Severity

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
MAX_FILES = 20_000  # of one run
MAX_FILE = 256 * 1024 * 1024  # bytes that are read of one file
MAX_PATTERN = 256  # characters
MAX_STARS = 6  # of one pattern: each may multiply the time of a match


@dataclass(frozen=True, slots=True)
class CodeFile:
    """`path` relative to the code root; `mode` 100644 or 100755; `blob` git's id of the content; `size` in bytes; `source` the path in the tree."""

    path: str
    mode: str
    blob: str
    size: int
    source: str


@dataclass(frozen=True, slots=True)
class CodeTree:
    """The files of a run, sorted by path; `root` is the code root in the tree."""

    root: str
    files: tuple[CodeFile, ...]

    def digest(self) -> str:
        """sha256 (hex) over path, mode and blob of each file: equal for equal code wherever it lies."""
        hasher = hashlib.sha256()
        for file in self.files:
            hasher.update(f"{file.mode} {file.blob} {file.path}\0".encode("utf-8", "surrogateescape"))
        return hasher.hexdigest()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """Something about the file at `path` (relative to the tree's root); `rule` is the id of the finding."""

    rule: str
    path: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR


@lru_cache(maxsize=256)
def _spec(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns).match_file


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern of `code.include` or `code.exclude` can't be used, as a sentence; None where it can."""
    if len(pattern) > MAX_PATTERN:
        return f"a pattern has at most {MAX_PATTERN} characters"
    if pattern.count("*") > MAX_STARS:
        return f"a pattern has at most {MAX_STARS} stars"
    if any(c in pattern for c in "\0\n\r"):
        return "a pattern is one line"
    try:
        _spec((pattern,))
    except ValueError as error:
        return f"no pattern of the .gitignore kind: {error}"
    return None


def collect(
    tree: SourceTree,
    root: str,
    *,
    exclude_documents: Callable[[str], bool],
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    workspace: str = "",
) -> tuple[CodeTree, list[CodeProblem]]:
    """Collect the code below `root`.

    `exclude_documents` says of a path in the tree whether it is a document; `include` and `exclude` are .gitignore patterns relative to `root`, none of
    include meaning everything; `workspace` is the folder that links can't leave. Raises nothing for bad files: they are problems.
    """
    wanted = _Selection(exclude_documents, tuple(include), tuple(exclude), root)
    found = _Collector(tree, workspace, wanted)
    if root and resolve_link(tree, root).target != root:
        found.problem("code-path-link", root, "The code path is reached through a symbolic link.", "Name the folder itself.")
    else:
        found.folder(root, "", ())
    found.untracked(root)
    return CodeTree(root, tuple(sorted(found.files, key=lambda f: f.path))), sorted(found.problems, key=lambda p: (p.path, p.rule))


@dataclass(frozen=True, slots=True)
class _Selection:
    exclude_documents: Callable[[str], bool]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    root: str

    def __call__(self, name: str, source: str) -> bool:
        """Whether the file `source` of the tree is delivered as `name`."""
        if self.exclude_documents(source) or self.exclude_documents(f"{self.root}/{name}" if self.root else name):
            return False
        if self.include and not _spec(self.include)(name):
            return False
        return not (self.exclude and _spec(self.exclude)(name))


@dataclass(slots=True)
class _Collector:
    tree: SourceTree
    workspace: str
    wanted: _Selection
    files: list[CodeFile] = field(default_factory=list)
    problems: list[CodeProblem] = field(default_factory=list)

    def problem(self, rule: str, path: str, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> None:
        self.problems.append(CodeProblem(rule, path, message, hint, severity))

    def folder(self, folder: str, name: str, through: tuple[str, ...]) -> None:
        """Add what is below `folder` of the tree as `name`; `through` are the folders whose links led here."""
        entries = self.tree.paths()
        pairs = []
        for source in self.tree.below(folder):
            inner = source[len(folder) + 1 :] if folder else source
            delivered = f"{name}/{inner}" if name else inner
            if self.wanted(delivered, source):
                pairs.append((source, delivered))
        self.tree.prefetch(source for source, _ in pairs)
        for source, delivered in pairs:
            if len(self.files) >= MAX_FILES:
                self.problem("code-too-many-files", folder, f"The code has more than {MAX_FILES} files.", "Narrow it with code.path or code.exclude.")
                return
            self.one(source, delivered, entries[source].mode, (*through, folder))

    def one(self, source: str, name: str, mode: str, through: tuple[str, ...]) -> None:
        if mode == SUBMODULE:
            self.problem(
                "code-submodule", source, "Submodules are not delivered.", "Copy the files into the repository, or exclude the folder with code.exclude."
            )
        elif bad := _bad_name(name):
            self.problem("code-file-name", source, f"The file name {ascii(name)} {bad}.", "Rename the file, or exclude it with code.exclude.")
        elif mode == LINK:
            self.link(source, name, through)
        else:
            self.file(source, name, mode)

    def link(self, source: str, name: str, through: tuple[str, ...]) -> None:
        end = resolve_link(self.tree, source)
        inside = not self.workspace or end.target == self.workspace or end.target.startswith(self.workspace + "/")
        if end.outcome is Outcome.OUTSIDE or (end.outcome in {Outcome.FILE, Outcome.FOLDER} and not inside):
            self.problem("code-link-outside", source, f"The symbolic link leads out of the workspace, to {end.target}.", "Copy the file here.")
        elif end.outcome is Outcome.LOOP or (end.outcome is Outcome.FOLDER and _loops(end.target, source, through)):
            self.problem("code-link-loop", source, "The symbolic link leads back to itself.", "Point it at a file or at a folder that does not hold it.")
        elif end.outcome is Outcome.DANGLING:
            self.problem(
                "code-link-dangling", source, f"The symbolic link points to {end.target}, which Git does not track here.", "Add the file, or remove the link."
            )
        elif end.outcome is Outcome.SUBMODULE:
            self.problem("code-submodule", source, f"The symbolic link leads into the submodule {end.target}.", "Copy the files into the repository.")
        elif end.outcome is Outcome.FOLDER:
            self.folder(end.target, name, through)
        elif self.wanted(name, end.target):
            self.one(end.target, name, self.tree.paths()[end.target].mode, through)

    def file(self, source: str, name: str, mode: str) -> None:
        try:
            content = self.tree.read(source, MAX_FILE)
        except Unreadable as error:
            self.problem("code-unreadable", source, f"{source} {error.why}.", "Exclude it with code.exclude, or mend it.")
            return
        if content.startswith(LFS_POINTER):
            self.problem(
                "code-lfs", source, f"{source} is a Git LFS pointer, not the file.", "Keep code out of LFS; put data into storage and name it in the run."
            )
            return
        blob = self.tree.paths()[source].blob
        self.files.append(CodeFile(name, mode, blob or _blob_id(content), len(content), source))

    def untracked(self, root: str) -> None:
        left = [p for p in self.tree.untracked() if not root or p.startswith(root + "/")]
        left = [p for p in left if self.wanted(p[len(root) + 1 :] if root else p, p)]
        if left:
            shown = ", ".join(ascii(p)[1:-1] for p in left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
            self.problem("code-untracked", left[0], f"Not tracked by Git, so not delivered: {shown}.", "git add them, or ignore them.", Severity.WARNING)


def _loops(target: str, source: str, through: Iterable[str]) -> bool:
    return target in through or not target or source.startswith(target + "/") or any(t.startswith(target + "/") for t in through)


def _bad_name(name: str) -> str:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "is not UTF-8"
    return "holds a control character" if any(ord(c) < 32 or ord(c) == 127 for c in name) else ""


def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
