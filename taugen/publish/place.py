"""Where an object of the platform belongs, and whether policy errors leave it alone.

In: a path of the deploy tree and the text that taugen wrote there. Out: `Place`; `Held` says which places stay as they are. The text is
read by its lines, not parsed: a fleet has thousands of these files.
"""

import re

from msgspec import Struct

from taugen.publish.needs import On
from taugen.publish.state import Reference
from taugen.words.regex import regex

HEALTH = "platform/health"
_WORKSPACE = regex(r"^    taugen\.dev/workspace: \"?([^\"\n]+)", re.MULTILINE)
_KIND = regex(r"^kind: (\S+)$", re.MULTILINE)
_NAME = regex(r"^metadata:\n(?:  .*\n)*?  name: \"?([^\"\n]+)", re.MULTILINE)
_NAMESPACE = regex(r"^metadata:\n(?:  .*\n)*?  namespace: \"?([^\"\n]+)", re.MULTILINE)


class Place(Struct, frozen=True):
    """Where an object of the platform belongs: its cluster, its folder there (`gitops`, `platform`, `platform/health`, …), its workspace or
    ""."""

    cluster: str
    section: str
    workspace: str
    ref: Reference

    @property
    def on(self) -> On:
        """(cluster, object)."""
        return self.cluster, self.ref

    @property
    def shared(self) -> bool:
        """Whether the object names all workspaces: a queue's selector, the reconciler's own project."""
        return not self.workspace and (self.section in ("gitops", "bootstrap") or self.ref[0] == "ClusterQueue")


class Held(Struct, frozen=True):
    """What policy errors make doubtful: all, what is on `clusters`, what belongs to `workspaces`, `objects` (kind, name) of the platform,
    with `shared` whatever names all workspaces, with `health` node health and what permits and syncs it."""

    everything: bool = False
    clusters: frozenset[str] = frozenset()
    workspaces: frozenset[str] = frozenset()
    objects: frozenset[tuple[str, str]] = frozenset()
    shared: bool = False
    health: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is held back."""
        return bool(self.everything or self.clusters or self.workspaces or self.objects or self.shared or self.health)

    def covers(self, place: Place) -> bool:
        """Whether an object stays as it is."""
        if self.everything or place.cluster in self.clusters or place.workspace in self.workspaces:
            return True
        if self.health and (place.section == HEALTH or (place.section == "gitops" and not place.workspace)):
            return True
        return (self.shared and place.shared) or (place.ref[0], place.ref[2]) in self.objects


def parts_of(path: str, folder: str) -> list[str]:
    """The parts of a path, below the deploy tree if it lies there."""
    return (path[len(folder) + 1 :] if path.startswith(folder + "/") else path).split("/")


def place_of(folder: str, path: str, text: str) -> Place:
    """The place of a file below the deploy tree `folder`."""
    parts = parts_of(path, folder)
    section = parts[1] if len(parts) > 1 else ""
    if "/".join(parts[1:3]) == HEALTH and len(parts) > 3:
        section = HEALTH
    label = _found(_WORKSPACE, text)
    workspace = parts[2] if section in ("workspaces", "runs") and len(parts) > 3 else label if section == "gitops" else ""
    return Place(parts[0], section, workspace, reference(text))


def reference(text: str) -> Reference:
    """(kind, namespace, name) of the object in a text."""
    return _found(_KIND, text), _found(_NAMESPACE, text), _found(_NAME, text)


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""
