"""Which Python modules stand where in a source tree.

In: a tree. Out: module names and paths, by folder. Each folder is walked once, however many runs lie below it: asking for every run of a
workspace of thousands must not cost thousands of walks.
"""

import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from weakref import WeakKeyDictionary

from taugen.load.tree import LINK, SourceTree

Places = tuple[tuple[str, str], ...]
"""(folder, path of the module), in the order of search."""
_FILE, _PACKAGE, _NAMESPACE = 0, 1, 2


class Modules:
    """The modules of one tree; `of` keeps one for each."""

    def __init__(self, tree: SourceTree) -> None:
        self._paths = tree.paths()
        self._below = tree.below
        self._folders = tree.folders()
        self._untracked = sorted(path for path in tree.untracked() if path.endswith(".py"))
        self._loose = frozenset(self._untracked)
        self._around: dict[str, Mapping[str, Places]] = {}
        self._importable: dict[str, frozenset[str]] = {}

    def at(self, folder: str, name: str) -> str | None:
        """Where `folder` holds the module: a file, a package, or a folder with sources directly in it."""
        base = f"{folder}/{name}" if folder else name
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in self._paths or path in self._loose:
                return path
        inside = self._below(base)
        return base if any(p.endswith(".py") and "/" not in p[len(base) + 1 :] and self._paths[p].mode != LINK for p in inside) else None

    def around(self, folder: str) -> Mapping[str, Places]:
        """The modules directly in `folder`, and in its direct subfolders without a tau.yaml (with one they are other runs)."""
        known = self._around.get(folder)
        if known is None:
            known = self._around[folder] = self._walk(folder)
        return known

    def importable(self, folder: str) -> frozenset[str]:
        """The names of `around` that an import statement could mean. The standard library goes before a file of the same name."""
        known = self._importable.get(folder)
        if known is None:
            known = frozenset(name for name in self.around(folder) if name.isidentifier() and name not in sys.stdlib_module_names)
            self._importable[folder] = known
        return known

    def undelivered(self, folder: str, delivered: Set[str]) -> Iterator[str]:
        """The name of every folder and source below `folder` on the way to a source that is not among the `delivered` paths."""
        cut = len(folder) + 1 if folder else 0
        left = [path for path in self._below(folder) if path.endswith(".py") and path not in delivered]
        for path in (*left, *self._untracked_below(folder)):
            yield from path[cut:-3].split("/")

    def _untracked_below(self, folder: str) -> Sequence[str]:
        if not folder:
            return self._untracked
        return self._untracked[bisect_left(self._untracked, folder + "/") : bisect_left(self._untracked, folder + "0")]

    def _walk(self, folder: str) -> Mapping[str, Places]:
        prefix = folder + "/" if folder else ""
        found: dict[str, dict[str, tuple[int, str]]] = {}
        runs = set()
        for path in self._below(folder):
            first, _, rest = path[len(prefix) :].partition("/")
            if rest == "tau.yaml":
                runs.add(prefix + first)
            elif path.endswith(".py"):
                self._note(found, folder, path, linked=self._paths[path].mode == LINK)
                if rest:
                    self._note(found, prefix + first, path, linked=self._paths[path].mode == LINK)
        for path in self._untracked_below(folder):
            first, _, rest = path[len(prefix) :].partition("/")
            self._note(found, folder, path, linked=True)
            if rest and prefix + first in self._folders:
                self._note(found, prefix + first, path, linked=True)
        out: dict[str, Places] = {}
        for place in sorted(found, key=lambda one: (one != folder, one)):
            if place not in runs:
                for name, (_, path) in found[place].items():
                    out[name] = (*out.get(name, ()), (place, path))
        return out

    @staticmethod
    def _note(found: dict[str, dict[str, tuple[int, str]]], folder: str, path: str, *, linked: bool) -> None:
        """The module of `folder` that a source belongs to; a namespace package needs a source that is no link."""
        name, _, rest = (path[len(folder) + 1 :] if folder else path).partition("/")
        if not rest:
            kind, name = (_FILE, path), name[:-3]
        elif rest == "__init__.py":
            kind = (_PACKAGE, path)
        elif "/" in rest or linked:
            return
        else:
            kind = (_NAMESPACE, path[: -len(rest) - 1])
        inner = found.setdefault(folder, {})
        inner[name] = min(inner.get(name, kind), kind)


_known: WeakKeyDictionary[SourceTree, Modules] = WeakKeyDictionary()


def of(tree: SourceTree) -> Modules:
    """The modules of a tree."""
    modules = _known.get(tree)
    if modules is None:
        modules = _known[tree] = Modules(tree)
    return modules
