"""Reads an evidence branch.

In: a repository (a clone, a partial clone, a bare one) or a URL, and a commit. Out: `Branch`: runs, attempts, events, records, and the
commits that added them. Files are read in blocks, and only those that are asked for: the branch may hold 100,000 attempts. What must never
happen: a file of another form taken for evidence, a write to the repository that is read.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from taugen.diag import Refused
from taugen.evidence import event, history, log
from taugen.evidence.event import Event
from taugen.evidence.history import History
from taugen.evidence.paths import AttemptKey, RunKey, parse
from taugen.evidence.trees import Entries, children
from taugen.load import git, nodes, partial
from taugen.load.cache import cache_folder
from taugen.load.history import without_user
from taugen.load.partial import Objects
from taugen.words import Json


@dataclass(frozen=True, slots=True, order=True)
class Checkpoint:
    """A complete checkpoint: `step` as the program counted, where it is, its digest (``sha256:…``) where somebody made one, its size in
    bytes, and the marker file that says it is complete."""

    step: int
    uri: str
    digest: str | None = None
    bytes: int = 0
    marker: str = ""

    def line(self) -> dict[str, Json]:
        """Its line of a checkpoints file."""
        said: dict[str, Json] = {"step": self.step, "uri": self.uri, "digest": self.digest, "bytes": self.bytes}
        return {**said, "complete": True, "marker": self.marker}


@dataclass
class Branch:
    """A commit of an evidence branch; `tip` is None where there is no branch yet. Methods raise `GitError` for a damaged repository or an
    unreachable remote, nothing else."""

    repo: Path
    tip: str | None

    @cached_property
    def objects(self) -> Objects:
        """What reads contents."""
        return Objects(self.repo)

    def close(self) -> None:
        """End the git process that reads; reading afterwards starts a new one."""
        if "objects" in self.__dict__:
            self.objects.close()

    def folders(self, paths: Iterable[str]) -> dict[str, Entries]:
        """What stands in each folder; nothing where there is none."""
        wanted = list(paths)
        return children(self.objects, self.tip, wanted) if self.tip is not None else {path: {} for path in wanted}

    def paths(self, under: str = "") -> list[str]:
        """The paths of all files below a folder, in git's order."""
        folder = under.strip("/")
        if self.tip is None or not self.folders([folder])[folder]:
            return []
        start = f"{folder}/" if folder else ""
        try:
            return [start + path for path in git.ls_tree(self.repo, self.tip, folder)]
        except git.GitError:
            # Of a remote perhaps only the upper folders are here.
            if not self.objects.fetch([str(git.find(self.repo, f"{self.tip}:{folder}"))]):
                raise
            return [start + path for path in git.ls_tree(self.repo, self.tip, folder)]

    def read_many(self, paths: Sequence[str]) -> list[bytes | None]:
        """The contents of files, None for one that is not there."""
        parents = self.folders(path.rpartition("/")[0] for path in paths)
        found = [parents[folder].get(name) for folder, _, name in (path.rpartition("/") for path in paths)]
        contents = iter(self.objects.read([child.id for child in found if child is not None and not child.folder]))
        return [next(contents) if child is not None and not child.folder else None for child in found]

    def clusters(self) -> list[str]:
        """The clusters that have evidence."""
        tops = [name for name, child in self.folders([""])[""].items() if child.folder]
        level = self.folders(tops)
        return sorted(name for name in tops if "runs" in level[name])

    def runs(self, cluster: str = "", workspace: str = "") -> list[RunKey]:
        """The runs, sorted; of one cluster or workspace if asked for."""
        level = self._below([f"{name}/runs" for name in ([cluster] if cluster else self.clusters())])
        level = self._below([path for path in level if not workspace or path.endswith(f"/{workspace}")])
        places = (parse(f"{path}/run.yaml") for path in self._below(level))
        return sorted(place.run for place in places if place is not None)

    def _below(self, folders: Iterable[str]) -> list[str]:
        return [f"{path}/{name}" for path, entries in self.folders(folders).items() for name, child in entries.items() if child.folder]

    def attempts(self, run: RunKey) -> list[AttemptKey]:
        """The attempts of a run, by number."""
        return self.attempts_of([run])[run]

    def attempts_of(self, runs: Iterable[RunKey]) -> dict[RunKey, list[AttemptKey]]:
        """The attempts of many runs, each by number."""
        wanted = list(dict.fromkeys(runs))
        found = self.folders(f"{run.folder}/attempts" for run in wanted)
        return {run: sorted(run.attempt(int(name)) for name in found[f"{run.folder}/attempts"] if name.isdecimal()) for run in wanted}

    def events(self, attempt: AttemptKey) -> list[Event]:
        """The events of an attempt, as they happened; files that hold none are passed over (`verify` names them)."""
        return self.events_of([attempt])[attempt]

    def events_of(self, attempts: Iterable[AttemptKey]) -> dict[AttemptKey, list[Event]]:
        """The events of many attempts, each as they happened. One that stands under another's name is none: else whoever adds a file
        could put it in the place of a file that is signed."""
        return {attempt: history.order(events) for attempt, (events, _) in self._events(attempts, list).items()}

    def deciding_of(self, attempts: Iterable[AttemptKey]) -> dict[AttemptKey, list[Event]]:
        """Of many attempts those events by which `history.fold` tells where they stand and why, each as they happened: the other files are
        not read."""
        out = self._events(attempts, history.deciding)
        # A file that holds no event decides nothing: which others do is known by all.
        unsure = [attempt for attempt, (_, whole) in out.items() if not whole]
        return {attempt: history.order(events) for attempt, (events, _) in out.items()} | self.events_of(unsure)

    def _events(
        self, attempts: Iterable[AttemptKey], chosen: Callable[[Iterable[str]], list[str]]
    ) -> dict[AttemptKey, tuple[list[Event], bool]]:
        """The events of many attempts in files of chosen names, and whether all of those hold one."""
        wanted = list(dict.fromkeys(attempts))
        level = self.folders(f"{attempt.folder}/events" for attempt in wanted)
        files = []
        for attempt in wanted:
            inside = level[f"{attempt.folder}/events"]
            files += [(attempt, name, inside[name].id) for name in chosen(name for name, child in inside.items() if not child.folder)]
        out: dict[AttemptKey, list[Event]] = {attempt: [] for attempt in wanted}
        broken = set()
        for (attempt, name, _), content in zip(files, self.objects.read([sha for _, _, sha in files]), strict=True):
            if content is not None and (found := event.read(content)) is not None and found.name == name:
                out[attempt].append(found)
            else:
                broken.add(attempt)
        return {attempt: (events, attempt not in broken) for attempt, events in out.items()}

    def history(self, attempt: AttemptKey) -> History | None:
        """What the events of an attempt come to."""
        return history.fold(self.events(attempt))

    def record(self, attempt: AttemptKey) -> dict[str, Json] | None:
        """The record of an attempt that ended; None before."""
        return self.records([attempt])[attempt]

    def records(self, attempts: Iterable[AttemptKey]) -> dict[AttemptKey, dict[str, Json] | None]:
        """The records of many attempts."""
        wanted = list(dict.fromkeys(attempts))
        contents = self.read_many([attempt.record for attempt in wanted])
        return {attempt: _mapping(content) for attempt, content in zip(wanted, contents, strict=True)}

    def intent(self, run: RunKey) -> dict[str, Json] | None:
        """What the run was meant to be; None where the collector has not seen it."""
        content = self.read_many([run.intent])[0]
        documents, findings = nodes.parse(run.intent, content) if content is not None else ([], [])
        return documents[0].data if len(documents) == 1 and not findings else None

    def checkpoints(self, attempt: AttemptKey) -> list[Checkpoint]:
        """The complete checkpoints of an attempt, by step."""
        return self.checkpoints_of([attempt])[attempt]

    def checkpoints_of(self, attempts: Iterable[AttemptKey]) -> dict[AttemptKey, list[Checkpoint]]:
        """The complete checkpoints of many attempts, each by step; lines that hold none are passed over."""
        wanted = list(dict.fromkeys(attempts))
        level = self.folders(attempt.folder for attempt in wanted)
        ids = [
            (attempt, child.id)
            for attempt in wanted
            for name, child in level[attempt.folder].items()
            if name.startswith("checkpoints.") and name.endswith(".jsonl") and not child.folder
        ]
        out: dict[AttemptKey, set[Checkpoint]] = {attempt: set() for attempt in wanted}
        for (attempt, _), content in zip(ids, self.objects.read([sha for _, sha in ids]), strict=True):
            out[attempt] |= checkpoints_in(content or b"")
        return {attempt: sorted(found, key=lambda c: (c.step, c.uri, c.digest or "")) for attempt, found in out.items()}

    def logs(self, attempt: AttemptKey) -> list[str]:
        """The paths of the pieces of its logs, by pod and container, each in order."""
        folder = f"{attempt.folder}/logs"
        names = [name for name, child in self.folders([folder])[folder].items() if not child.folder]
        return [f"{folder}/{name}" for name in sorted(names, key=_piece) if parse(f"{folder}/{name}") is not None]

    def added_by(self, paths: Sequence[str]) -> dict[str, str]:
        """The commit that put each path as it is into the branch; paths that are not there are left out. One git process for all."""
        parents = self.folders(path.rpartition("/")[0] for path in paths)
        found = {path: parents[folder].get(name) for path in paths for folder, _, name in [path.rpartition("/")]}
        ids = {path: child.id for path, child in found.items() if child is not None}
        return log.introduced(self.repo, self.tip, ids) if self.tip is not None else {}


class Where(Protocol):
    """Where evidence is, as Project.spec.evidence says."""

    @property
    def url(self) -> str | None: ...  # noqa: D102 - as the class says

    @property
    def branch(self) -> str: ...  # noqa: D102


def find(repo: Path, place: Where, *, whole: bool = False) -> Branch:
    """The evidence branch of a project, fetched if the place's `url` (a URL, or a path relative to `repo`) names another repository.

    What is fetched stands in the cache folder: the newest commit's folders, contents when they are wanted; with `whole` the commits before
    it too. Without a URL it is the branch of `repo`, or that of a remote which `repo` has fetched. Raises `Refused` (exit 4) if the remote
    can't be read.
    """
    url, branch = place.url, place.branch
    if not url:
        return Branch(repo, _fetched(repo, branch))
    local = repo / url
    if "://" not in url and local.is_dir():
        return Branch(local, git.find(local, f"refs/heads/{branch}"))
    kept = cached(url)
    try:
        partial.make(kept)
        return Branch(kept, partial.fetch(kept, url, f"refs/heads/{branch}", f"refs/taugen/evidence/{branch}", whole=whole))
    except git.GitError as error:
        message = f"evidence (branch {branch} of {without_user(url)}) can't be fetched: {error}"
        raise Refused(message, hint="check the address and the credentials", code=4) from None


def complete(branch: Branch, place: Where) -> None:
    """Fetch the commits before the branch's tip, where only the newest was fetched: who wrote what is told by all. Raises `Refused` (exit
    4) where they can't be had."""
    if not git.is_shallow(branch.repo):
        return
    url = place.url or ""
    if not url or branch.repo != cached(url):
        message = "the history of the evidence branch is cut off here, so that nobody can tell who wrote what"
        raise Refused(message, hint="fetch all of it: git fetch --unshallow; actions/checkout: fetch-depth: 0", code=4)
    try:
        partial.fetch(branch.repo, url, f"refs/heads/{place.branch}", f"refs/taugen/evidence/{place.branch}", whole=True)
    except git.GitError as error:
        raise Refused(f"the history of the evidence branch can't be fetched: {error}", hint="check the address", code=4) from None


def cached(url: str, kind: str = "evidence") -> Path:
    """Where what was fetched of a remote evidence repository stands."""
    return cache_folder() / kind / f"{sha256(url.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.git"


def _fetched(repo: Path, branch: str) -> str | None:
    """The newest of the branch and what was fetched of it; where they went apart, what was fetched."""
    patterns = [f"refs/heads/{branch}", f"refs/remotes/*/{branch}"]
    listed = git.run(["for-each-ref", "--format=%(objectname)", *patterns], cwd=repo).out.decode("ascii").split()
    best = listed[0] if listed else None
    for tip in listed[1:]:
        best = best if best == tip or git.is_ancestor(repo, tip, str(best)) else tip
    return best


def _mapping(content: bytes | None) -> dict[str, Json] | None:
    try:
        value = json.loads(content) if content is not None else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def checkpoints_in(content: bytes) -> set[Checkpoint]:
    """The complete checkpoints that a checkpoints file lists; lines that hold none are passed over."""
    found = (_checkpoint(_mapping(line)) for line in content.splitlines())
    return {checkpoint for checkpoint in found if checkpoint is not None}


def _checkpoint(said: dict[str, Json] | None) -> Checkpoint | None:
    if said is None or said.get("complete") is not True:
        return None
    step, uri, digest, size, marker = (said.get(key) for key in ("step", "uri", "digest", "bytes", "marker"))
    if isinstance(step, bool) or not isinstance(step, int) or not isinstance(uri, str):
        return None
    known = digest if isinstance(digest, str) else None
    return Checkpoint(step, uri, known, size if isinstance(size, int) else 0, marker if isinstance(marker, str) else "")


def _piece(name: str) -> tuple[str, int]:
    stem, _, number = name.removesuffix(".txt").rpartition(".")
    return stem, int(number) if number.isdecimal() else 0
