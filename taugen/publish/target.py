"""Where a publish goes: a branch of this repository or of a remote.

In: a repository, a branch's name, perhaps a remote. Out: `Target`: its tip, guarded against rewriting and loss, and the one move from an
old tip to a new one. What must never happen: a force-push, the branch of the sources, a branch that somebody set back taken as it is.
"""

from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from taugen.diag import Refused
from taugen.load import fastimport, git
from taugen.load.fastimport import Pushed


class Target(Struct, frozen=True):
    """A branch: `remote` is a URL, a path or a configured name; None is the repository itself."""

    repo: Path
    name: str
    remote: str | None

    @classmethod
    def of(cls, repo: Path, name: str, remote: str | None) -> "Target":
        """Check what is asked for. Raises `Refused` (exit 2) for no branch name, and for a branch that is checked out."""
        target = cls(repo, _named(repo, name), remote)
        if remote is None:
            target._look()
        return target

    @classmethod
    def here(cls, repo: Path, name: str) -> "tuple[Target, str | None]":
        """A branch of the repository itself and its tip, guarded if there is one: by one question to git where it has nothing more to
        say of them. Raises `Refused` as `of` and `guard` do."""
        target = cls(repo, _named(repo, name), None)
        found = target._look()
        tip, last = (found.get(target.ref), found.get(target.seen)) if found is not None else (target.tip(), target.last())
        if tip is not None:
            target.hold(tip, last)
        return target, tip

    def _look(self) -> dict[str, str] | None:
        """The commits of the branch and of the one seen last, where they are; None where git warns of them, or they are no commits. Raises
        `Refused` for a branch that is checked out."""
        form = "--format=%(HEAD)%(refname) %(objecttype) %(objectname) %(worktreepath)%00"
        got = git.run(["for-each-ref", form, self.ref, self.seen], cwd=self.repo)
        found: dict[str, str] = {}
        kinds = set()
        for line in got.out.decode("utf-8", "replace").split("\0\n")[:-1]:
            name, kind, commit, place = line[1:].split(" ", 3)
            if name == self.ref and (line[0] == "*" or place):
                raise self._in_use(place)
            found[name] = commit
            kinds.add(kind)
        if self.ref not in found:  # HEAD may name a branch that has no commit yet
            head = git.run(["symbolic-ref", "-q", "HEAD"], cwd=self.repo, check=False).out.decode("utf-8", "replace").strip()
            if head == self.ref:
                raise self._in_use("")
        return None if got.err or kinds - {"commit"} else found

    def _in_use(self, place: str) -> Refused:
        hint = "the deploy tree has a branch of its own that nobody checks out: name another with --branch, or leave this one"
        return Refused(f"{self.name} is checked out{f' in {place}' if place else ''}", hint=hint, code=2)

    @property
    def ref(self) -> str:
        """The branch as a full name."""
        return f"refs/heads/{self.name}"

    @property
    def where(self) -> str:
        """How people name it."""
        return f"branch {self.name}" + (f" of {self.remote}" if self.remote else "")

    @property
    def seen(self) -> str:
        """The reference that keeps the tip which this repository published or saw last, so that a rewritten branch is noticed."""
        place = f"{self.remote or ''}:{self.name}"
        return f"refs/taugen/seen/{sha256(place.encode()).hexdigest()[:16]}"

    def tip(self) -> str | None:
        """The branch's commit now. Raises `Refused` if the remote can't be reached."""
        if self.remote is None:
            return git.find(self.repo, self.ref)
        try:
            return fastimport.fetch(self.repo, self.remote, self.ref)
        except git.GitError as error:
            raise Refused(f"{self.where} can't be fetched: {error}", hint="check the address and the credentials", code=4) from None

    def guard(self, tip: str | None, accept: str | None) -> None:
        """Raise `Refused` if the branch was set back, rewritten or deleted since this repository saw it, unless `accept` names what stands
        there."""
        self.hold(tip, self.last(), accept)

    def last(self) -> str | None:
        """The tip that this repository published or saw last."""
        return git.find(self.repo, self.seen)

    def hold(self, tip: str | None, last: str | None, accept: str | None = None) -> None:
        """`guard`, where the tip seen last is known."""
        if last is None or last == tip or accept == (tip or "none") or (tip is not None and git.is_ancestor(self.repo, last, tip)):
            return
        if tip is None:
            restore = f"git push {self.remote} {last}:{self.ref}" if self.remote else f"git branch {self.name} {last}"
            raise Refused(
                f"{self.where} is gone; it was at {last}", hint=f"restore it: {restore}; or start anew with --accept none", code=4
            )
        restore = f"git push --force {self.remote} {last}:{self.ref}" if self.remote else f"git branch -f {self.name} {last}"
        message = f"{self.where} was rewritten: it is at {tip}, and {last}, which was published before, is not in its history"
        raise Refused(message, hint=f"restore it: {restore}; or take what stands there with --accept {tip}", code=4)

    def move(self, new: str, old: str | None) -> bool:
        """Move the branch from `old` to `new`; False if somebody else was quicker. Raises `Refused`."""
        if self.remote is None:
            return fastimport.update_ref(self.repo, self.ref, new, old)
        result = fastimport.push(self.repo, self.remote, new, self.ref, old)
        if result.outcome is Pushed.FAILED:
            raise Refused(
                f"{self.where} refused the push: {result.message}", hint="check rights and branch protection; nothing was published", code=4
            )
        return result.outcome is Pushed.OK

    def remember(self, tip: str | None) -> None:
        """Keep the tip that was published or found."""
        last = self.last()
        if tip is not None and tip != last:
            fastimport.update_ref(self.repo, self.seen, tip, last)


def _named(repo: Path, name: str) -> str:
    plain = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    if name.startswith("-") or (not plain and git.run(["check-ref-format", f"refs/heads/{name}"], cwd=repo, check=False).code):
        raise Refused(f"{name!r} is no branch name", code=2)
    return name
