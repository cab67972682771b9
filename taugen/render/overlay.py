"""Overlays: patches by environment or cluster, over everything that is rendered.

In: the overlays that clusters name, from the repository's folder or else from those that ship with taugen; rendered objects of a cluster.
Out: patched objects and findings at the patch's place. Patches apply in the order of `Cluster.spec.overlays`, of their files' names, of
the documents in a file. What must never happen: a patch that renames an object or moves it to another tenant, one that is dropped without
a word, a cost for objects that no patch is for.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath

from msgspec import Struct, field
from msgspec.structs import replace

from taugen.diag import Diagnostic, Severity, Span
from taugen.load.nodes import parse
from taugen.load.tree import SourceTree, Unreadable
from taugen.policy.set import Policy
from taugen.render import jsonpatch, patches
from taugen.render.jsonpatch import PatchError
from taugen.render.merge import MergeError, merge, shape_of
from taugen.render.patches import POD_TEMPLATE, Patch
from taugen.render.podtemplates import map_templates
from taugen.render.types import Object, Rendered
from taugen.words import Json, Path, at, package, suggest

MAX_FILE = 256 * 1024
_SUFFIXES = (".yaml", ".yml")
_OURS = ("taugen.dev/",)
_KUEUE = ("kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/max-exec-time-seconds")


_FIXED: Mapping[Json, tuple[tuple[str, ...], ...]] = {
    "LocalQueue": (("spec", "clusterQueue"),),
    "RoleBinding": (("roleRef",),),
}
"""What an object is for: the API server lets nobody change it once the object stands, and taugen tells people of it by policy (Kueue
localqueue_types.go; Kubernetes rbac validation)."""


class Overlays(Struct, frozen=True):
    """The patches of each cluster, in order. `digest` changes with any overlay that a cluster names."""

    by_cluster: Mapping[str, tuple[Patch, ...]] = field(default_factory=dict)
    digest: str = ""
    by_kind: dict[tuple[str, str], tuple[Patch, ...]] = field(default_factory=dict)
    """Memory of `patches_for`."""

    def patches_for(self, cluster: str, kind: str) -> tuple[Patch, ...]:
        """The patches of a cluster that can be meant for a kind."""
        found = self.by_kind.get((cluster, kind))
        if found is None:
            found = self.by_kind[cluster, kind] = tuple(p for p in self.by_cluster.get(cluster, ()) if p.for_kind(kind))
        return found


def load_overlays(tree: SourceTree, policy: Policy) -> tuple[Overlays, list[Diagnostic]]:
    """Read every overlay that a cluster names."""
    wanted = sorted({name for item in policy.clusters.values() for name in item.spec.overlays})
    if not wanted:
        return Overlays(), []
    folder = "/".join(part for part in policy.project.spec.overlays.split("/") if part not in ("", "."))
    files = _repository(tree, folder, wanted)
    found: list[Diagnostic] = []
    known: dict[str, tuple[Patch, ...]] = {}
    digest = hashlib.sha256()
    for name in wanted:
        sources = files.get(name)
        contents = _shipped(name) if sources is None else [(path, _read(tree, path, found)) for path in sources]
        if contents is None:
            found += _unknown(policy, name, [*files, *shipped_names()], folder)
            continue
        known[name], more = _parse(contents, name, sum(map(len, known.values())), shipped=sources is None)
        found += more
        for path, raw in contents:
            digest.update(f"{name}\0{path.rpartition('/')[2]}\0{len(raw)}\0".encode("utf-8", "surrogateescape") + raw)
    by_cluster = {c: tuple(p for name in item.spec.overlays for p in known.get(name, ())) for c, item in sorted(policy.clusters.items())}
    return Overlays(by_cluster, digest.hexdigest()), found


def _repository(tree: SourceTree, folder: str, wanted: Sequence[str]) -> dict[str, list[str]]:
    """The files of the repository's overlays among those wanted. An empty folder is an overlay too."""
    prefix = f"{folder}/" if folder else ""
    below = {name: f"{prefix}{name}/" for name in wanted}
    starts = tuple(below.values())
    files = tree.documents(lambda path: path.startswith(starts))
    found = {name: [f for f in files if f.startswith(start) and f.endswith(_SUFFIXES)] for name, start in below.items()}
    return {name: paths for name, paths in found.items() if paths or any(f.startswith(below[name]) for f in files)}


def _read(tree: SourceTree, path: str, found: list[Diagnostic]) -> bytes:
    try:
        return tree.read(path, MAX_FILE)
    except Unreadable as error:
        hint = "split it into several files" if "bytes" in error.why else "an overlay's file is a regular, readable file"
        found.append(Diagnostic("overlay-file", f"this file of an overlay {error.why}", Span(path), hint=hint))
        return b""


def _shipped_folder() -> FilePath:
    """Where shipped overlays are: in the installed package, or beside it in a checkout."""
    installed = package.FOLDER / "data" / "overlays"
    return installed if installed.is_dir() else package.FOLDER.parent / "overlays"


def shipped_names() -> list[str]:
    """The overlays that ship with taugen."""
    return sorted(entry.name for entry in _shipped_folder().iterdir() if entry.is_dir())


def _shipped(name: str) -> list[tuple[str, bytes]] | None:
    place = _shipped_folder().joinpath(name)
    if not place.is_dir():
        return None
    files = sorted((file for file in place.iterdir() if file.name.endswith(_SUFFIXES)), key=lambda file: file.name)
    return [(f"taugen/overlays/{name}/{file.name}", file.read_bytes()) for file in files]


def _unknown(policy: Policy, name: str, known: Iterable[str], folder: str) -> list[Diagnostic]:
    near = suggest.closest(name, sorted(known))
    hint = f"did you mean {near}?" if near else f"add {folder}/{name}/ with a patch, or name one of {', '.join(shipped_names())}"
    return [
        Diagnostic("overlay-unknown", f"there is no overlay {name}", item.span(("overlays", at)), path=f"spec.overlays[{at}]", hint=hint)
        for _, item in sorted(policy.clusters.items())
        for at, other in enumerate(item.spec.overlays)
        if other == name
    ]


def _parse(
    contents: Sequence[tuple[str, bytes]], overlay: str, number: int, *, shipped: bool
) -> tuple[tuple[Patch, ...], list[Diagnostic]]:
    out: list[Patch] = []
    found: list[Diagnostic] = []
    for path, raw in contents:
        documents, faults = parse(path, raw)
        found += faults
        for document in documents:
            patch, more = patches.read(document, overlay, number + len(out), shipped=shipped)
            found += more
            out += [] if patch is None else [patch]
    return tuple(out), found


# -------------------------------------------------------------------------------------------------------------------- applying


def apply(
    overlays: Overlays, cluster: str, rendered: Sequence[Rendered], used: set[int] | None = None
) -> tuple[list[Rendered], list[Diagnostic]]:
    """Patch the objects of a cluster. A patch that does not fit leaves its object as it was and gives a finding.

    `used` collects the numbers of the patches that were for something: see `unused`.
    """
    if not overlays.by_cluster.get(cluster):
        return list(rendered), []
    out: list[Rendered] = []
    found: list[Diagnostic] = []
    for item in rendered:
        obj = item.obj
        for patch in overlays.patches_for(cluster, item.kind):
            if patch.target.matches(obj):
                if used is not None:
                    used.add(patch.number)
                obj = _patched(patch, obj, found)
        out.append(item if obj is item.obj else replace(item, obj=obj))
    return out, found


def unused(overlays: Overlays, used: set[int]) -> list[Diagnostic]:
    """Patches of the repository that were for nothing, after every object of every cluster has been through `apply`. One for all objects of
    its kinds is left out: it may wait for the first of them."""
    every = {p.number: p for patches_ in overlays.by_cluster.values() for p in patches_}
    hint = "check its target: kind, name (a pattern for the whole name), namespace, labels"
    return [
        replace(every[number].finding("overlay-unused", "this patch is for no object", hint=hint), severity=Severity.WARNING)
        for number in sorted(every)
        if number not in used and not every[number].shipped and every[number].target.chooses
    ]


def _patched(patch: Patch, obj: Object, found: list[Diagnostic]) -> Object:
    try:
        changed = map_templates(obj, lambda pod: _one(patch, pod, POD_TEMPLATE)) if patch.pods else _one(patch, obj, str(obj["kind"]))
    except (MergeError, PatchError) as error:
        found.append(patch.finding("overlay-patch", f"{error.message} (in {_shown(obj)})", error.path, error.hint))
        return obj
    lost = list(_lost(obj, changed))
    hint = "leave it out: a patch never renames, and what taugen and Kueue know an object by stays"
    places: set[Path] = set()
    for one in lost:
        if (path := _place(patch, one)) not in places:
            places.add(path)
            found.append(patch.finding("overlay-identity", f"the patch would change {one[-1]} of {_shown(obj)}", path, hint))
    return obj if lost else changed


def _one(patch: Patch, obj: Object, kind: str) -> Object:
    if patch.merge is not None:
        return merge(obj, patch.merge, shape_of(kind))
    return jsonpatch.apply(obj, patch.operations)


def _shown(obj: Object) -> str:
    """The object's kind, not its name: a patch of ten thousand Jobs has one finding."""
    return f"a {obj['kind']}"


def _lost(before: Object, after: Object) -> Iterator[Path]:
    """The parts of an object's identity that a patch would change."""
    for key in ("apiVersion", "kind"):
        if before.get(key) != after.get(key):
            yield (key,)
    for path in _FIXED.get(before.get("kind"), ()):
        if at(before, *path) != at(after, *path):
            yield path
    old, new = before.get("metadata"), after.get("metadata")
    if old is new:
        return
    was, now = _mapping(old), _mapping(new)
    for key in ("name", "namespace"):
        if was.get(key) != now.get(key):
            yield ("metadata", key)
    for part in ("labels", "annotations"):
        values, changed = _mapping(was.get(part)), _mapping(now.get(part))
        for key in sorted({*values, *changed}):
            if (key.startswith(_OURS) or key in _KUEUE) and values.get(key) != changed.get(key):
                yield ("metadata", part, key)


def _mapping(value: Json) -> Object:
    return value if isinstance(value, dict) else {}


def _place(patch: Patch, lost: Path) -> Path:
    """Where a patch changes what it must not: its own field, or the operation that reaches it."""
    for number, operation in enumerate(patch.operations):
        for pointer in operation.changes:
            if lost[: len(pointer)] == pointer:
                return (number, "path")
    written: Json = patch.merge
    for depth in range(len(lost)):
        if not isinstance(written, dict) or lost[depth] not in written:
            return lost[:depth]
        written = written[str(lost[depth])]
    return lost
