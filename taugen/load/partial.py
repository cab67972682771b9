"""Reads objects of a repository that may lack some: a partial clone fetches contents when they are wanted.

In: a repository and object ids. Out: contents. Git itself would ask the server for one missing object at a time; here what a caller wants
is looked for first, and what is missing is fetched in one go. What must never happen: a connection where nothing is missing, or to
anything but the remote that the objects were promised by.
"""

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from taugen.load import git
from taugen.load.fastimport import safe

FOLDERS = "blob:none"
"""What is fetched of a commit: folders, no contents."""

_MANY = 500
"""Objects from which on a process of its own that answers in one go is quicker than one that is at hand."""

_IN_ONE_GO = 2000


class Objects:
    """The contents of a repository's objects, through one git process; one that is missing is fetched if the repository is a partial clone.

    Ends its process when closed or collected. Every method raises `GitError`.
    """

    def __init__(self, repo: Path | str) -> None:
        self.repo = Path(repo)
        self._promisor = _promisor(self.repo)
        self._env: dict[str, str] | None = None
        if self._promisor is not None:
            folder = tempfile.mkdtemp(prefix="taugen-objects-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._env = _stand_in(self.repo, folder)
        self._cat: git.CatFile | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def partial(self) -> bool:
        """Whether the repository is a partial clone."""
        return self._promisor is not None

    def close(self) -> None:
        """End the git process; reading afterwards starts a new one."""
        if self._cat is not None:
            self._cat.close()
            self._cat = None

    def named(self, specs: Sequence[str]) -> list[bytes | None]:
        """The contents of objects by any name git knows (``COMMIT:folder``), None where there is none or it is not here: never fetched."""
        return self._read(specs)

    def read(self, ids: Sequence[str]) -> list[bytes | None]:
        """The contents by full object id, in their order; None for what neither the repository nor its remote has."""
        found = self._read(ids)
        missing = list(dict.fromkeys(sha for sha, content in zip(ids, found, strict=True) if content is None))
        if not missing or self._promisor is None:
            return found
        fetch_objects(self.repo, self._promisor, missing)
        # The process has its list of packs from before the fetch, and looks again only for what it can't find.
        fetched = dict(zip(missing, self._read(missing), strict=True))
        return [fetched[sha] if content is None else content for sha, content in zip(ids, found, strict=True)]

    def fetch(self, ids: Sequence[str]) -> bool:
        """Fetch objects of a partial clone, folders with all that is below them but contents; False for a repository that has all of its
        own."""
        if self._promisor is None:
            return False
        fetch_objects(self.repo, self._promisor, ids)
        return True

    def _read(self, specs: Sequence[str]) -> list[bytes | None]:
        if len(specs) >= _MANY:
            return list(contents(self.repo, specs, self._env))
        # Two processes on one pipe would read each other's answers.
        if self._cat is None or not self._cat.ours:
            self._cat = git.CatFile(self.repo, self._env)
        return [content for content in self._cat.read_many(specs) if not isinstance(content, int)]


def contents(repo: Path, specs: Sequence[str], env_extra: Mapping[str, str] | None = None) -> Iterator[bytes | None]:
    """The contents of many objects in the order of `specs`, None for one that does not exist: a process for each 2,000, which writes its
    answers in one go, where `git.CatFile` is answered one by one. Raises `GitError`."""
    args = ["cat-file", "--batch", "--buffer"]
    for first in range(0, len(specs), _IN_ONE_GO):
        block = specs[first : first + _IN_ONE_GO]
        if any("\n" in spec for spec in block):
            raise git.GitError(args, 128, "an object name can't hold a line break")
        asked = "".join(f"{spec}\n" for spec in block).encode("utf-8", "surrogateescape")
        said = git.run(args, cwd=repo, stdin=asked, env_extra=env_extra).out
        at = 0
        for spec in block:
            end = said.find(b"\n", at) + 1
            head = said[at:end]
            if head.endswith((b" missing\n", b" ambiguous\n", b" submodule\n")):
                at = end
                yield None
                continue
            size = head.rsplit(b" ", 1)[-1].strip()
            at = end + int(size) + 1 if size.isdigit() else 0
            if not 0 < at <= len(said):
                raise git.GitError(args, 128, f"{spec}: {head.decode('utf-8', 'replace').strip() or 'git ended too early'}")
            yield said[end : at - 1]


def _promisor(repo: Path) -> str | None:
    """The URL that a partial clone fetches missing objects from; None for a repository that has all of its own."""
    got = git.run(["config", "--get-regexp", r"^remote\..*\.promisor$"], cwd=repo, check=False)
    for line in got.out.decode("utf-8", "surrogateescape").splitlines():
        key, _, value = line.rpartition(" ")
        if value == "true":
            name = key.removeprefix("remote.").removesuffix(".promisor")
            url = git.run(["config", "--get", f"remote.{name}.url"], cwd=repo, check=False).out
            return url.decode("utf-8", "surrogateescape").strip() or name
    return None


def _stand_in(repo: Path, folder: str) -> dict[str, str]:
    """Variables that show git the repository's objects, but not that it is a partial clone: then a missing object is only missing, where
    git before 2.44 would end."""
    objects = git.run(["rev-parse", "--path-format=absolute", "--git-path", "objects"], cwd=repo).out
    form = git.run(["rev-parse", "--show-object-format"], cwd=repo).out.decode("ascii").strip()
    git.run(["init", "--quiet", "--bare", f"--object-format={form}", "--template=", folder], cwd=repo)
    return {"GIT_DIR": folder, "GIT_OBJECT_DIRECTORY": objects.decode("utf-8", "surrogateescape").strip()}


def fetch_objects(repo: Path, url: str, ids: Sequence[str]) -> None:
    """Fetch objects by id, and nothing that they refer to. What the server lacks stays missing. Raises `GitError`."""
    args = ["-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    args += ["--filter=blob:none", "--stdin", "--end-of-options", safe(url)]
    text = "".join(f"{sha}\n" for sha in ids).encode()
    got = git.run(args, cwd=repo, stdin=text, check=False, allow=git.protocols_for(url), timeout=git.REMOTE_TIMEOUT)
    if got.code and b"not our ref" not in got.err:
        raise git.GitError(args, got.code, got.err.decode("utf-8", "replace"))
    if got.code and len(ids) > 1:
        # One that the server lacks fails the whole request.
        half = len(ids) // 2
        fetch_objects(repo, url, ids[:half])
        fetch_objects(repo, url, ids[half:])


def make(place: Path) -> None:
    """A bare repository at `place`, if there is none. Raises `GitError`."""
    if not (place / "HEAD").is_file():
        place.mkdir(parents=True, exist_ok=True)
        git.run(["init", "--quiet", "--bare", "."], cwd=place)


def fetch(place: Path, url: str, ref: str, to: str, *, whole: bool = False, depth: int = 1, what: str = FOLDERS) -> str | None:
    """Fetch the newest commit of `ref` into `to` and return its id, None if the remote has no such ref: folders, no contents, unless the
    server can't tell them apart.

    The first fetch brings that commit alone, or `depth` commits, later ones what came since; `whole` also all before. `what` is a filter of
    git's, always the same for one `place`. Raises `GitError`.
    """
    fresh = not whole and git.find(place, to) is None
    options = [f"--depth={depth}"] if fresh else ["--unshallow"] if whole and git.is_shallow(place) else []
    return git.resolve(place, to) if _fetched(place, url, f"+{ref}:{to}", options, what) else None


def deepen(place: Path, url: str, ref: str, commits: int) -> None:
    """Fetch more of the commits before those that are here. Raises `GitError`."""
    _fetched(place, url, ref, [f"--deepen={commits}"], FOLDERS)


def fetch_all(place: Path, url: str, pattern: str, to: str) -> None:
    """Fetch the newest commits of the refs below `pattern` to below `to`, with contents; of a remote that has none nothing comes. Raises
    `GitError`."""
    # Told of everything that is here, a server asked for one commit of some depth reads all that is below, which may be a million files.
    _fetched(place, url, f"+{pattern}/*:{to}/*", ["--depth=1", f"--negotiation-tip={to}/*"], "")


def _fetched(place: Path, url: str, ref: str, options: Sequence[str], what: str) -> bool:
    fixed = [f"--filter={what}" if what else "--no-filter", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap="]
    args = ["fetch", "--quiet", *fixed, *options, "--end-of-options", safe(url), ref]
    got = git.run(args, cwd=place, check=False, allow=git.protocols_for(url), timeout=git.REMOTE_TIMEOUT)
    if got.code and b"couldn't find remote ref" not in got.err:
        raise git.GitError(args, got.code, got.err.decode("utf-8", "replace"))
    return got.code == 0
