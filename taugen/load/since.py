"""What changed since a commit.

In: a folder of a repository and a ref. Out: paths relative to the folder. The questions to git are asked at once, and run while the rest of
the program is loaded. What must never happen: a changed file that is missing; one too many costs a little time only.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from taugen.diag import Refused
from taugen.load import git
from taugen.load.ask import Question
from taugen.load.filters import disarmed


class Since:
    """The difference between a ref and the working tree below `folder`, or the commit `head`; of those below `only`, if any are named.

    It counts from where the branches parted, as a pull request does; from the ref itself where that can't be told. Raises `Refused` (exit
    2) for a ref that is not there.
    """

    def __init__(self, folder: Path, ref: str, head: str | None = None, only: Sequence[str] = ()) -> None:
        self.added: set[str] = set()
        """Those among `paths` that the ref does not have."""
        places = ["--", *(only or ["."])]
        self.head = head
        try:
            # The longest walk of all, for which nothing need be known.
            walk = [Question(["ls-files", "-o", "-z", "--exclude-standard", *places], folder)] if head is None else []
            self.ref = git.resolve(folder, ref)
            base = _parted(folder, self.ref, head or "HEAD")
            if head is not None:
                self._questions = [Question(["diff-tree", "-r", *_DIFF, base, git.resolve(folder, head), *places], folder)]
                return
            self._questions = [Question(["diff-index", *_DIFF, base, *places], folder, disarmed(folder)), *walk]
        except git.GitError as error:
            hint = "check the spelling, or fetch it first (actions/checkout: fetch-depth: 0)"
            raise Refused(str(error), hint=hint, code=2) from None

    def counts_from(self, commit: str, head: str | None) -> bool:
        """Whether it is the difference between `commit` and the working tree, or the commit `head`."""
        return self.ref == commit and self.head == head

    def paths(self) -> frozenset[str]:
        """Added, changed, deleted and untracked files. Raises `Refused` where git failed."""
        return self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        try:
            differing, *untracked = [question.answer() for question in self._questions]
        except git.GitError as error:
            raise Refused(str(error), code=2) from None
        known = dict(zip(differing[1::2], differing[::2], strict=True))
        self.added = {path for path, status in known.items() if status == "A"}.union(*untracked)
        return frozenset(self.added | known.keys())


# Submodules: their commits are compared, their working trees never looked into, where git would read the configuration that stands there.
_DIFF = ("-z", "--name-status", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "--relative")


def _parted(folder: Path, there: str, head: str) -> str:
    got = git.run(["merge-base", there, head], cwd=folder, check=False)
    # A shallow clone and a branch of its own have no common commit; an unborn branch has none at all.
    return got.out.decode("ascii").split()[0] if got.code == 0 and got.out.strip() else there
