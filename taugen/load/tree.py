"""Sources: the contract and its two kinds, to import from one place."""

from taugen.load.committed import GitTree
from taugen.load.git import Entry
from taugen.load.source import EXECUTABLE, FILE, LINK, SUBMODULE, SourceTree, Unreadable
from taugen.load.worktree import WorkTree

__all__ = ["EXECUTABLE", "FILE", "LINK", "SUBMODULE", "Entry", "GitTree", "SourceTree", "Unreadable", "WorkTree"]
