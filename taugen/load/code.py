"""The code of a run: which files are delivered, under which names, with which contents.

In: a source tree, the code root and the run's include and exclude patterns. Out: a `CodeTree` and problems as data. What must never happen:
a document of taugen, a file outside the workspace or one that Git does not track among the code.

A link inside the workspace is delivered as what it points to, since a ConfigMap can hold no links.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from taugen.diag import Severity
from taugen.load.ignore import Patterns
from taugen.load.links import Outcome, resolve_link
from taugen.load.tree import LINK, SUBMODULE, SourceTree, Unreadable
from taugen.words.regex import regex

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
MAX_FILES = 20_000  # of one run
MAX_FILE = 128 * 1024 * 1024  # bytes that are read of one file


class CodeFile(Struct, frozen=True):
    """A file as it is delivered.

    `path` is relative to the code root, `mode` 100644 or 100755, `blob` git's id of the content, `size` in bytes, `source` the path in the
    tree.
    """

    path: str
    mode: str
    blob: str
    size: int
    source: str


class CodeTree(Struct, frozen=True):
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


class CodeProblem(Struct, frozen=True):
    """Something about the file at `path` (relative to the tree's root); `rule` is the id of the finding."""

    rule: str
    path: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR


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

    `exclude_documents` says of a path in the tree whether it is a document; `include` and `exclude` are patterns as in .gitignore relative
    to `root`, no `include` meaning everything; `workspace` is the folder that links can't leave. Bad files are problems; raises `GlobError`
    for a pattern that `ignore.pattern_problem` refuses.
    """
    wanted = _Selection(exclude_documents, Patterns(include) if include else None, Patterns(exclude), root)
    found = _Collector(tree, workspace, wanted)
    if root and resolve_link(tree, root).target != root:
        found.problem("code-path-link", root, f"the code path {root} is reached through a symbolic link", "name the folder itself")
    else:
        found.folder(root, "", ())
    found.leftovers(root)
    return CodeTree(root, tuple(sorted(found.files, key=lambda f: f.path))), sorted(found.problems, key=lambda p: (p.path, p.rule))


class _Selection(Struct, frozen=True):
    exclude_documents: Callable[[str], bool]
    include: Patterns | None
    exclude: Patterns
    root: str

    def __call__(self, name: str, source: str) -> bool:
        """Whether the file `source` of the tree is delivered as `name`."""
        if self.exclude_documents(source) or self.exclude_documents(f"{self.root}/{name}" if self.root else name):
            return False
        return (self.include is None or self.include(name)) and not self.exclude(name)


class _Collector(Struct):
    tree: SourceTree
    workspace: str
    wanted: _Selection
    files: list[CodeFile] = field(default_factory=list)
    problems: list[CodeProblem] = field(default_factory=list)
    visited: int = 0

    def problem(self, rule: str, path: str, message: str, hint: str, severity: Severity = Severity.ERROR) -> None:
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
            # What is counted are visits: folders of links to each other can double without a single file.
            self.visited += 1
            if self.visited > MAX_FILES:
                break
            self.one(source, delivered, entries[source].mode, (*through, folder))

    def one(self, source: str, name: str, mode: str, through: tuple[str, ...]) -> None:
        if mode == SUBMODULE:
            hint = "copy its files into the repository, or list the folder in code.exclude"
            self.problem("code-submodule", source, f"{source} is a submodule: its files are not in this repository", hint)
        elif bad := _bad_name(name):
            self.problem("code-file-name", source, f"the file name {name!a} {bad}", "rename the file, or list it in code.exclude")
        elif mode == LINK:
            self.link(source, name, through)
        else:
            self.file(source, name, mode)

    def link(self, source: str, name: str, through: tuple[str, ...]) -> None:
        end = resolve_link(self.tree, source)
        outcome, target = end.outcome, end.target
        if outcome in {Outcome.FILE, Outcome.FOLDER} and self.workspace and not _within(target, self.workspace):
            outcome = Outcome.OUTSIDE
        if outcome is Outcome.FOLDER and _loops(target, source, through):
            outcome = Outcome.LOOP
        if outcome is Outcome.FOLDER:
            self.folder(target, name, through)
        elif outcome is Outcome.FILE:
            if self.wanted(name, target):
                self.one(target, name, self.tree.paths()[target].mode, through)
        else:
            rule, said, hint = _LINK_PROBLEMS[outcome]
            self.problem(rule, source, f"the symbolic link {source} {said.format(target=target or 'the whole repository')}", hint)

    def file(self, source: str, name: str, mode: str) -> None:
        try:
            content = self.tree.read(source, MAX_FILE)
        except Unreadable as error:
            self.problem("code-unreadable", source, f"{source} {error.why}", "list it in code.exclude if the run does not need it")
            return
        if content.startswith(LFS_POINTER) or source in self.tree.lfs:
            hint = "keep code out of LFS; put large data into storage and mount it"
            self.problem("code-lfs", source, f"{source} is kept in Git LFS: the repository holds a pointer, not the file", hint)
            return
        blob = self.tree.paths()[source].blob or _blob_id(content, self.tree.hash_name)
        self.files.append(CodeFile(name, mode, blob, len(content), source))

    def leftovers(self, root: str) -> None:
        if self.visited > MAX_FILES:
            hint = "narrow it with code.path or code.exclude"
            self.problem("code-too-many-files", root, f"the code has more than {MAX_FILES} files", hint)
        left = [p for p in self.tree.untracked() if _within(p, root)]
        left = [p for p in left if self.wanted(p[len(root) + 1 :] if root else p, p)]
        if left:
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            shown = ", ".join(ascii(p)[1:-1] for p in left[:5]) + more
            message = f"not tracked by Git, so not delivered: {shown}"
            self.problem("code-untracked", left[0], message, "git add what the run needs, ignore the rest", Severity.WARNING)


_LINK_PROBLEMS = {
    Outcome.OUTSIDE: ("code-link-outside", "leads out of the workspace, to {target}", "copy what it points to into the workspace"),
    Outcome.LOOP: ("code-link-loop", "leads back to itself", "point it at a file, or at a folder that does not hold it"),
    Outcome.DANGLING: ("code-link-dangling", "points to {target}, which Git does not track here", "add the file, or remove the link"),
    Outcome.SUBMODULE: ("code-submodule", "leads into the submodule {target}", "copy the files into the repository"),
}
_CONTROL = regex("[\\x00-\\x1f\\x7f-\\x9f]")
_HIDING = regex("[\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]")


def _within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(folder + "/")


def _loops(target: str, source: str, through: Iterable[str]) -> bool:
    return _within(source, target) or any(_within(folder, target) for folder in through)


def _bad_name(name: str) -> str:
    if name.isprintable():
        return ""
    if any("\ud800" <= c <= "\udfff" for c in name):
        return "is not UTF-8"
    if _CONTROL.search(name):
        return "holds a control character"
    return "holds a character that hides how the name is written" if _HIDING.search(name) else ""


def _blob_id(content: bytes, algorithm: str) -> str:
    hasher = hashlib.new(algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
    hasher.update(content)
    return hasher.hexdigest()
