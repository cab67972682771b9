"""Where a project begins.

In: a folder, perhaps a commit that is trusted. Out: the folder of taugen.yaml. What must never happen: a pull request that chooses, by a
taugen.yaml or a link of its own, which project it is judged as part of.
"""

import os
from pathlib import Path

from msgspec import Struct

from taugen.diag import Refused
from taugen.load import git

ROOT_FILE = "taugen.yaml"


class Place(Struct, frozen=True):
    """A project: `root` is its folder on disk. With `trusted`, the commit that judges, `top` is the repository and `ref` how the commit was
    named."""

    root: Path
    trusted: str | None = None
    top: Path | None = None
    ref: str = ""

    @property
    def prefix(self) -> str:
        """The project's folder in `top`."""
        return "" if self.top is None or self.top == self.root else self.root.relative_to(self.top).as_posix()


def find_place(directory: Path, trusted: str | None = None) -> Place:
    """The project around `directory`, in the working tree or in the commit that is trusted. Raises `Refused` (exit 2)."""
    if trusted is None:
        return Place(find_root(directory))
    top, root, commit = trusted_root(directory, trusted)
    return Place(root, commit, top, trusted)


def find_root(directory: Path) -> Path:
    """The nearest folder upwards of `directory` that holds taugen.yaml. Raises `Refused` (exit 2)."""
    start = directory.resolve()
    if not start.is_dir():
        raise Refused(f"{directory} is not a folder", code=2)
    refuse_impostor(start)
    for folder in (start, *start.parents):
        if (folder / ROOT_FILE).is_file():
            return folder
    hint = "change to a GitOps repository, pass -C DIR, or make one with `taugen init DIR`"
    raise Refused(f"no {ROOT_FILE} in {start} or above it", hint=hint, code=2)


def trusted_root(directory: Path, ref: str) -> tuple[Path, Path, str]:
    """The repository, the nearest folder upwards of `directory` in which the commit `ref` has taugen.yaml, whatever the working tree has,
    and the commit's id. Raises `Refused` (exit 2)."""
    refuse_impostor(directory.resolve())
    try:
        top = git.toplevel(directory) if directory.is_dir() else None
        if top is None:
            raise Refused(f"{directory} is not in a Git repository, so it has no commit {ref}", code=2)
        commit = git.resolve(top, ref)
        parts = _inside(directory, top)
        for length in range(len(parts), -1, -1):
            prefix = "/".join(parts[:length])
            if git.find(top, f"{commit}:{prefix}/{ROOT_FILE}" if prefix else f"{commit}:{ROOT_FILE}") is not None:
                return top, top / prefix, commit
    except git.GitError as error:
        raise Refused(str(error), hint="check the spelling, or fetch it first (actions/checkout: fetch-depth: 0)", code=2) from None
    hint = "a project is checked against a commit that has it: merge taugen.yaml and the policy first"
    raise Refused(f"commit {commit[:12]} has no {ROOT_FILE} in {directory} or above it", hint=hint, code=2)


def refuse_impostor(start: Path) -> None:
    """Raise `Refused` (exit 2) where git would take a folder of a working tree for a bare repository: files of a pull request would then be
    its configuration and its commits, those that are trusted among them. Source: Git setup.c, is_git_directory."""
    for folder in (start, *start.parents):
        if os.path.lexists(folder / ".git"):
            return
        if os.path.lexists(folder / "HEAD") and any(os.path.lexists(folder / name) for name in ("objects", "commondir")):
            tree = next((above for above in folder.parents if os.path.lexists(above / ".git")), None)
            if tree is None:
                return
            message = f"{folder.relative_to(tree).as_posix()} in {tree} has the files of a Git repository, and git would take it for one"
            raise Refused(message, hint="remove HEAD, objects and refs from it", code=2)


def _inside(directory: Path, top: Path) -> list[str]:
    """The names that lead from the top of the repository to a folder. Raises `Refused` where one of them is a link."""
    absolute = Path(os.path.abspath(directory))
    real = top.resolve()
    for folder in (absolute, *absolute.parents):
        if folder.resolve() == real:
            parts = list(absolute.relative_to(folder).parts)
            linked = next((n for n in range(1, len(parts) + 1) if folder.joinpath(*parts[:n]).is_symlink()), None)
            if linked is None:
                return parts
            raise Refused(f"{'/'.join(parts[:linked])} is a symbolic link", hint="name the folder itself with -C", code=2)
    raise Refused(f"{directory} is reached through a symbolic link", hint="name the folder itself with -C", code=2)
