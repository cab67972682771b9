"""Opens a commit for publishing, before anything of policy is loaded.

In: a folder and a ref. Out: `Opened`: the repository, the project's folder in it, the commit; and `Head`, what taugen.yaml says about the
output, read without its model. What must never happen: a heavy import. A publish that finds nothing new pays for no more than this.
"""

from pathlib import Path

from msgspec import Struct

from taugen.diag import Refused
from taugen.load import git
from taugen.load.contents import contents
from taugen.load.nodes import parse
from taugen.load.root import ROOT_FILE, find_root, refuse_impostor
from taugen.words import Json

DEFAULT_BRANCH = "deploy"
"""As `Project.spec.output.branch` has it."""


class Opened(Struct, dict=True):
    """A commit. `root` is the folder of taugen.yaml on disk, `prefix` that folder in the repository."""

    repo: Path
    root: Path
    prefix: str
    commit: str
    bare: bool

    def full_path(self, path: str) -> str:
        """A path of the project as the repository has it."""
        return f"{self.prefix}/{path}" if self.prefix else path


class Head(Struct, frozen=True):
    """The Project's name and where it publishes to. Only of a taugen.yaml that was read as a whole before may it be believed."""

    name: str
    branch: str
    url: str | None


def opened(directory: Path, ref: str) -> Opened:
    """Open `ref` of the repository around `directory`. Raises `Refused` (exit 2)."""
    try:
        repo, root, prefix, bare = _place(directory)
        return Opened(repo, root, prefix, git.resolve(repo, ref), bare)
    except git.GitError as error:
        unborn = "publish reads a commit: git init, git add and git commit first"
        raise Refused(str(error), hint=unborn if ref == "HEAD" else "check the spelling", code=2) from None


def _place(directory: Path) -> tuple[Path, Path, str, bool]:
    """The repository, the folder of taugen.yaml, that folder's path in the repository, and whether the repository is bare."""
    start = directory.resolve()
    refuse_impostor(start)
    if start.is_dir() and _bare(start):
        return start, start, "", True
    root = find_root(directory)
    top = git.toplevel(root)
    if top is None:
        raise git.GitError(["rev-parse"], 128, "not a git repository")
    top = top.resolve()
    return top, root, "" if top == root else root.relative_to(top).as_posix(), False


def _bare(folder: Path) -> bool:
    """Asked only where there is no working tree: what its top is has to be known anyway."""
    try:
        git.toplevel(folder)
    except git.GitError:
        return git.run(["rev-parse", "--is-bare-repository"], cwd=folder, check=False).out.strip() == b"true"
    return False


def head(commit: Opened) -> Head | None:
    """What taugen.yaml says; None where it is not plainly what it should be: its model will say why."""
    raw = contents(commit.repo, [f"{commit.commit}:{commit.full_path(ROOT_FILE)}"])[0]
    documents, faults = parse(ROOT_FILE, raw if isinstance(raw, bytes) else b"")
    if faults or len(documents) != 1:
        return None
    data = documents[0].data
    output = _mapping(_mapping(data.get("spec")).get("output"))
    name, branch, url = _mapping(data.get("metadata")).get("name"), output.get("branch", DEFAULT_BRANCH), output.get("url")
    if not isinstance(name, str) or not isinstance(branch, str) or not (url is None or isinstance(url, str)):
        return None
    return Head(name, branch, url)


def _mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
