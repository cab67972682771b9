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
        ref = f"refs/heads/{name}"
        plain = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
        if name.startswith("-") or (not plain and git.run(["check-ref-format", ref], cwd=repo, check=False).code):
            raise Refused(f"{name!r} is no branch name", code=2)
        if remote is None:
            out = git.run(["for-each-ref", "--format=%(HEAD) %(worktreepath)", ref], cwd=repo).out.decode("utf-8", "replace")
            head, trees = out[:1] == "*", out[1:].strip()
            if not out:  # HEAD may name a branch that has no commit yet
                head = git.run(["symbolic-ref", "-q", "HEAD"], cwd=repo, check=False).out.decode("utf-8", "replace").strip() == ref
            if head or trees:
                hint = "the deploy tree has a branch of its own that nobody checks out: name another with --branch, or leave this one"
                raise Refused(f"{name} is checked out{f' in {trees}' if trees else ''}", hint=hint, code=2)
        return cls(repo, name, remote)

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
        last = git.find(self.repo, self.seen)
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
        last = git.find(self.repo, self.seen)
        if tip is not None and tip != last:
            fastimport.update_ref(self.repo, self.seen, tip, last)
