"""What git is asked about a working tree before anything else is known of it.

In: a folder. Out: answers that every look at the tree needs. The questions run while the rest of the program is loaded.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from taugen.load import filters, git
from taugen.load.ask import Question


class Ahead:
    """The questions about the working tree around `root`, asked now. Raises `GitError` where git can't be started."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._top = Question(git.TOPLEVEL, root)
        self._filters = Question(filters.LISTED, root)

    def top(self) -> Path | None:
        """As `git.toplevel`, which knows it from then on."""
        return self._known_top

    @cached_property
    def _known_top(self) -> Path | None:
        return git.toplevel(self._root, self._top.result())

    def filters(self) -> Mapping[str, str]:
        """As `filters.disarmed`."""
        return self._known_filters

    @cached_property
    def _known_filters(self) -> Mapping[str, str]:
        return filters.switched_off(self._filters.result())
