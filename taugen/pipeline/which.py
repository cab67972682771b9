"""Which run a name means, told from both branches.

In: a `View` and what somebody typed: `workspace/name`, `workspace/name/digest8`, an object's name, a document's path. Out: the runs that it
names, the one that is live or newest first. What must never happen: a run of another workspace taken for the one that was named.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from taugen.diag import Refused
from taugen.evidence.paths import RunKey
from taugen.pipeline import runs
from taugen.pipeline.view import View
from taugen.words.names import slug
from taugen.words.suggest import closest

_OBJECT = re.compile(r"([a-z][a-z0-9-]*-[0-9a-f]{8})(?:-([1-9]\d{0,2}))?")
_DIGEST = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Named:
    """The runs that a name means, best first, and the attempt, if the name was that of an attempt's object."""

    runs: tuple[RunKey, ...]
    attempt: int | None = None


def named(view: View, name: str, directory: Path) -> Named:
    """The runs that `name` means; a path counts from the current folder. Raises `Refused` (exit 2) with what was probably meant."""
    attempt = None
    if view.root is not None and Path(name).exists():
        found = [key for workspace, title in _documents(view.root, name, directory) for key in _called(view, workspace, title)]
    elif (parts := _OBJECT.fullmatch(name)) is not None:
        found = [key for key in _all(view, "", parts[1][-8:-6]) if key.run == parts[1]]
        attempt = int(parts[2]) if parts[2] else None
    else:
        workspace, _, rest = name.strip("/").partition("/")
        title, _, digest = rest.rpartition("/")
        exact = bool(title) and _DIGEST.fullmatch(digest) is not None
        found = _called(view, workspace, title if exact else rest, digest if exact else "")
    if not found:
        raise _unknown(view, name)
    return Named(tuple(_best_first(view, found)), attempt)


def _called(view: View, workspace: str, title: str, digest: str = "") -> list[RunKey]:
    head = slug(title) if title else ""
    return [key for key in _all(view, workspace, digest[:2]) if key.run[:-9] == head and key.run.endswith(digest)]


def _all(view: View, workspace: str, two: str) -> Iterator[RunKey]:
    """Every run of a workspace, or of all, whose digest starts with two digits, if that is known."""
    live = runs.live_runs(view)
    seen = set()
    for key in _seen(view, workspace, two):
        seen.add((key.workspace, key.run))
        yield key
    for place, run in sorted(runs.published_runs(view)):
        if (place, run) not in seen and workspace in ("", place) and run[-8:].startswith(two):
            yield RunKey(live.get((place, run), ""), place, run)


def _seen(view: View, workspace: str, two: str) -> list[RunKey]:
    """The runs that have evidence, under the cluster where their state placed them."""
    if not two:
        found = view.evidence.runs(workspace=workspace)
    else:
        clusters = [f"{cluster}/runs" for cluster in view.evidence.clusters()]
        places = [f"{folder}/{name}/{two}" for folder, inside in view.evidence.folders(clusters).items() for name in inside]
        wanted = [place for place in places if workspace in ("", place.split("/")[2])]
        level = view.evidence.folders(wanted)
        found = [RunKey(place.split("/")[0], place.split("/")[2], run) for place, inside in level.items() for run in inside]
    return runs.placed(view, found)


def _documents(root: Path, name: str, directory: Path) -> list[tuple[str, str]]:
    """Workspace and name of each document at a path, or in a folder."""
    from taugen.pipeline.compile import Compiler
    from taugen.pipeline.project import open_project

    place = Path(name).resolve()
    if not place.is_relative_to(root):
        raise Refused(f"{name} is not in {root}", code=2)
    inside = place.relative_to(root).as_posix()
    project = open_project(directory)
    compiler = Compiler(project)
    paths = [path for path in project.documents() if path == inside or path.startswith(f"{inside}/")]
    return [(doc.workspace, doc.name) for path in paths for doc in compiler.read(path)[0]]


def _best_first(view: View, found: list[RunKey]) -> list[RunKey]:
    """Live ones first, then those of which something happened last."""
    live = runs.live_runs(view)

    def rank(key: RunKey) -> tuple[bool, str]:
        stamps = [path.rpartition("/")[2][:16] for path in view.evidence.paths(key.folder) if "/events/" in path] if len(found) > 1 else []
        return (key.workspace, key.run) in live, max(stamps, default="")

    return sorted(dict.fromkeys(found), key=rank, reverse=True)


def _unknown(view: View, name: str) -> Refused:
    names = sorted({f"{workspace}/{run[:-9]}" for workspace, run in runs.published_runs(view)})
    short = [one for one in names if one.partition("/")[2] == name]
    near = short[0] if short else closest(name, names)
    hint = f"did you mean {near}?" if near else "taugen runs lists them; name one workspace/name"
    return Refused(f"no run that was published is called {name}", hint=hint, code=2)
