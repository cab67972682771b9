"""Which modules a Python program imports, and which of them stand in the workspace without being delivered.

In: sources as bytes, never executed. Out: module names and paths. What must never happen: code run, or a guess about what an image has
installed: only modules whose file stands in the workspace are reported.
"""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct, field

from taugen.load.code import CodeFile, CodeTree
from taugen.load.modules import Modules, of
from taugen.load.tree import SourceTree, Unreadable
from taugen.words.regex import regex

MAX_SOURCE = 1024 * 1024  # bytes of a module that is parsed
MAX_MODULES = 500  # delivered modules that are followed from an entrypoint
_GUARDS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def python_imports(source: bytes) -> set[str]:
    """The top-level names of the modules that a source imports absolutely; empty for what is not Python.

    Imports that the program itself guards (``try: ... except ImportError``, ``if TYPE_CHECKING``) don't count: it runs without them.
    """
    return {name.partition(".")[0] for level, name in _imports(source) if level == 0}


def missing_imports(tree: SourceTree, code: CodeTree, entrypoint: str, workspace_root: str) -> list[tuple[str, str]]:
    """The imported modules that a run would miss: (module, the path in the tree where it stands), sorted.

    Follows the delivered modules that `entrypoint` (relative to the code root) imports. A missing module is looked for beside the
    entrypoint, in the code root, in the folders between it and `workspace_root`, and in their direct subfolders without a tau.yaml (with
    one they are other runs).
    """
    return _Search(tree, code, workspace_root, of(tree)).run(entrypoint)


def _imports(source: bytes) -> set[tuple[int, str]]:
    """(level, dotted name) of each unguarded import; ``from a import b`` gives a and a.b, since b may be a module."""
    if len(source) > MAX_SOURCE or b"import" not in source:
        return set()
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[tuple[int, str]] = set()
    for node in _unguarded(module):
        if isinstance(node, ast.Import):
            found.update((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if base:
                found.add((node.level, base))
            found.update((node.level, f"{base}.{alias.name}".strip(".")) for alias in node.names if alias.name != "*")
    return found


def _unguarded(module: ast.Module) -> Iterator[ast.AST]:
    stack: list[ast.AST] = [module]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Try) and any(_catches_import_error(h) for h in node.handlers):
            stack.extend([*node.orelse, *node.finalbody])
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            stack.extend(node.orelse)
        elif isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case):
            stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case))


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _GUARDS for kind in kinds)


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING")


class _Search(Struct):
    tree: SourceTree
    code: CodeTree
    workspace: str
    modules: Modules
    sources: dict[str, str] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)

    def run(self, entrypoint: str) -> list[tuple[str, str]]:
        for file in self.code.files:
            self.sources[file.path] = file.source
            if file.path.endswith(".py"):
                folder = file.path
                while (folder := folder.rpartition("/")[0]) and folder not in self.packages:
                    self.packages.add(folder)
        start = entrypoint.rpartition("/")[0]
        roots = list(dict.fromkeys([start, ""]))
        if self.nothing_near(roots):
            return []
        missing: dict[str, str] = {}
        todo, seen = [entrypoint], {entrypoint}
        while todo and len(seen) <= MAX_MODULES:
            path = todo.pop()
            for level, name in sorted(self.imports_of(path)):
                found = self.delivered(level, name, path, roots)
                todo.extend(p for p in found if p not in seen)
                seen.update(found)
                top = name.partition(".")[0]
                if level == 0 and top not in missing and not self.has(top, roots) and top not in sys.stdlib_module_names:
                    where = self.elsewhere(top, start)
                    if where is not None:
                        missing[top] = where
        return sorted(missing.items())

    def imports_of(self, path: str) -> set[tuple[int, str]]:
        source = self.sources.get(path)
        if source is None or not path.endswith(".py"):
            return set()
        try:
            return _imports(self.tree.read(source, MAX_SOURCE))
        except Unreadable:
            return set()

    def has(self, top: str, roots: list[str]) -> bool:
        return any(_join(root, top) + ".py" in self.sources or _join(root, top) in self.packages for root in roots)

    def delivered(self, level: int, name: str, importer: str, roots: list[str]) -> list[str]:
        """The delivered files that importing `name` would run: the module and the packages above it."""
        if level:
            folder = importer.split("/")[:-level]
            roots = ["/".join(folder)]
        found: list[str] = []
        for root in roots:
            at = root
            for part in name.split("."):
                at = _join(at, part)
                found.extend(p for p in (f"{at}.py", f"{at}/__init__.py") if p in self.sources)
        return found

    def elsewhere(self, top: str, start: str) -> str | None:
        """Where the workspace holds a module that is not delivered."""
        root = self.code.root
        for folder in dict.fromkeys([_join(root, start), root]):
            if (found := self.modules.at(folder, top)) is not None:
                return found
        for folder in self.above():
            for place, path in self.modules.around(folder).get(top, ()):
                if place != root:
                    return path
        return None

    def above(self) -> Iterator[str]:
        """The folders between the code root and the workspace, the nearest first."""
        root = self.code.root
        while root != self.workspace and root:
            root = root.rpartition("/")[0]
            if self.workspace and not _within(root, self.workspace):
                return
            yield root

    def nothing_near(self, roots: list[str]) -> bool:
        """Whether no delivered source names a module that stands near it undelivered: then nothing needs parsing, which is so for nearly
        every run.
        """
        near = [names for folder in self.above() if (names := self.modules.importable(folder))]
        left = set(self.modules.undelivered(self.code.root, {file.source for file in self.code.files}))
        if left:
            near.append(frozenset(left))
        if not near:
            return True
        for file in self.code.files:
            words = _import_words(self.tree, file)
            if words is None or any(not self.has(word, roots) for names in near for word in words & names):
                return False
        return True


def _import_words(tree: SourceTree, file: CodeFile) -> set[str] | None:
    """Every word on the lines of a source that hold ``import``; None where only a parser knows which these are."""
    if not file.path.endswith(".py"):
        return set()
    try:
        source = tree.read(file.source, MAX_SOURCE)
    except Unreadable:
        return set()
    if not source.isascii() or b"\\\n" in source or b"\r" in source or b"coding" in source[:400]:
        return None
    parts = source.decode("ascii").split("import")
    lines = [f"{before[before.rfind(_END) + 1 :]} {after.partition(_END)[0]}" for before, after in pairwise(parts)]
    return set(_WORD.findall(_END.join(lines)))


_END = "\n"
_WORD = regex(r"\w+", re.ASCII)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
