"""What an error in policy holds back: itself and what needs it, never another workspace (DESIGN law 5).

In: the policy, its tree and its findings. Out: `Scope`: the workspaces and clusters whose new runs wait, the platform's files that stay as
they are, and what can't be told from what is left. An error that can be laid to no document holds back everything: better late than on half
a policy.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from taugen.diag import Diagnostic, Severity
from taugen.load import nodes
from taugen.load.tree import SourceTree, Unreadable
from taugen.policy.heads import scanned
from taugen.policy.set import FIELDS, Item, Policy
from taugen.publish.needs import Doubt
from taugen.publish.place import Held
from taugen.publish.state import Reference, RunState

Key = tuple[str, str]
"""(kind, name) of a policy document; the name of a Platform and of a Project is left empty: there is one."""

_OBJECTS = {
    "ClusterQueue": "Queue",
    "Cohort": "Cohort",
    "ResourceFlavor": "Flavor",
    "Topology": "Topology",
    "WorkloadPriorityClass": "PriorityTier",
}
_HEALTH = ("HealthPolicy", "Flavor")
"""Kinds that node health stands on: without them its DaemonSets would go, and the taints of its nodes would stay for ever."""
_MOST = 1024 * 1024  # bytes of a policy file


class Scope(Struct, frozen=True):
    """`everything`, or `workspaces` and `clusters` that get no new runs; `files` for the platform's part; `unread` are documents that could
    not be read; `blind`: there may be others of which nothing is known."""

    everything: bool = False
    workspaces: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    files: Held = field(default_factory=Held)
    unread: frozenset[Key] = frozenset()
    blind: bool = False

    def holds(self, workspace: str, cluster: str) -> bool:
        """Whether a new run waits until policy is mended."""
        return self.everything or workspace in self.workspaces or cluster in self.clusters


def scope(policy: Policy, tree: SourceTree, findings: Iterable[Diagnostic]) -> Scope:
    """Decide from the errors among `findings`."""
    errors = [d for d in findings if d.severity is Severity.ERROR]
    if not errors:
        return Scope()
    unread = {_key(kind, name) for kind, name in policy.broken}
    broken: set[Key] = set()
    clusters: set[str] = set()
    places = _Places(policy, tree)
    blind = False
    for finding in errors:
        overlay = _overlay(policy, finding.span.file)
        if overlay is not None:
            clusters |= {name for name, item in policy.clusters.items() if overlay in item.spec.overlays}
        elif (here := places.readable(finding)) is not None:
            broken.add(here)
        elif (found := places.again(finding)) is not None:
            unread |= found
        else:
            blind = True
    broken |= unread
    blind |= ("Project", "") in broken
    if blind or ("Platform", "") in broken:
        return Scope(everything=True, files=Held(everything=True), unread=frozenset(unread), blind=blind)
    workspaces = {name for name in policy.workspaces if needs(policy, name, broken) & broken} | {
        name for kind, name in broken if kind == "Workspace"
    }
    gone = {name for kind, name in broken if kind == "Cluster"}
    shared = any(kind == "Workspace" for kind, _ in broken)
    held = Held(
        clusters=frozenset(clusters | gone),
        workspaces=frozenset(workspaces),
        objects=frozenset(_objects(policy, broken)),
        shared=shared,
        health=any(kind in _HEALTH for kind, _ in broken),
    )
    return Scope(workspaces=frozenset(workspaces), clusters=frozenset(clusters), files=held, unread=frozenset(unread))


def doubt(policy: Policy, scope: Scope) -> Doubt:
    """Whether what a run refers to may come from a document that could not be read: then nobody knows if it is still wanted."""
    unread = scope.unread
    storage = any(kind == "Storage" for kind, _ in unread)

    def unsure(run: RunState, ref: Reference) -> bool:
        kind, _, name = ref
        if scope.blind or ("Cluster", run.cluster) in unread:
            return True
        if kind in _OBJECTS:
            return bool(_behind(policy, (_OBJECTS[kind], name)) & unread)
        workspace = policy.workspaces.get(run.workspace)
        if kind == "LocalQueue" and workspace is not None:
            return any(_behind(policy, ("Queue", queue.queue)) & unread for queue in workspace.spec.queues if queue.name == name)
        return ("Workspace", run.workspace) in unread or (kind == "PersistentVolumeClaim" and storage)

    return unsure if unread or scope.blind else lambda _run, _ref: False


def needs(policy: Policy, workspace: str, broken: Iterable[Key] = ()) -> set[Key]:
    """The documents that the runs of a workspace stand on."""
    spec = policy.workspaces[workspace].spec
    everywhere = [*policy.clusters, *(name for kind, name in broken if kind == "Cluster")]
    out: set[Key] = {("Workspace", workspace), *(("Cluster", name) for name in (everywhere if spec.clusters is None else spec.clusters))}
    out |= {("Profile", name) for name in spec.profiles} | {("Storage", name) for name in spec.storage}
    tiers = [profile.spec.priority for name in spec.profiles if (profile := policy.profiles.get(name)) is not None]
    out |= {("PriorityTier", name) for name in (*tiers, spec.defaults.priority) if name is not None}
    for queue in spec.queues:
        out |= _behind(policy, ("Queue", queue.queue))
    return out


def _behind(policy: Policy, key: Key) -> set[Key]:
    """A queue, cohort or flavor, and the documents that it names, on and on."""
    out: set[Key] = set()
    waiting = [key]
    while waiting:
        kind, name = one = waiting.pop()
        if one in out:
            continue
        out.add(one)
        if kind == "Queue" and (queue := policy.queues.get(name)) is not None:
            waiting += [("Flavor", quota.flavor) for quota in queue.spec.quotas]
            waiting += [("Cohort", queue.spec.cohort)] if queue.spec.cohort else []
        elif kind == "Cohort" and (cohort := policy.cohorts.get(name)) is not None:
            waiting += [("Flavor", quota.flavor) for quota in cohort.spec.quotas]
            waiting += [("Cohort", cohort.spec.parent)] if cohort.spec.parent else []
        elif kind == "Flavor" and (flavor := policy.flavors.get(name)) is not None and flavor.spec.topology:
            waiting.append(("Topology", flavor.spec.topology))
    return out


def _objects(policy: Policy, broken: set[Key]) -> Iterator[tuple[str, str]]:
    """(kind, name) of the platform's objects that come from broken documents, or stand on one."""
    for made, kind in _OBJECTS.items():
        names = {*policy.of(kind), *(name for other, name in broken if other == kind)}
        yield from ((made, name) for name in sorted(names) if _behind(policy, (kind, name)) & broken)


def _key(kind: str, name: str) -> Key:
    return (kind, "") if kind in ("Platform", "Project") else (kind, name)


def _overlay(policy: Policy, path: str) -> str | None:
    """The name of the overlay that a file belongs to: of this repository, or shipped."""
    for folder in (policy.project.spec.overlays.strip("/"), "taugen/overlays"):
        if path.startswith(folder + "/"):
            return path[len(folder) + 1 :].partition("/")[0]
    return None


class _Places:
    """Finds the document that a finding is about. The files of broken documents are read again: a policy keeps only what could be read."""

    def __init__(self, policy: Policy, tree: SourceTree) -> None:
        self.tree = tree
        self.items: dict[str, list[Item[Any]]] = {}
        listed: list[Item[Any]] = [policy.project, *(item for kind in FIELDS for item in policy.each(kind))]
        listed += [policy.platform] if policy.platform is not None else []
        for item in listed:
            self.items.setdefault(item.document.file, []).append(item)

    def readable(self, finding: Diagnostic) -> Key | None:
        """The document, if it could be read at least in part."""
        return next((_key(i.kind, i.name) for i in self.items.get(finding.span.file, ()) if _holds(i.document, finding.span.line)), None)

    def again(self, finding: Diagnostic) -> set[Key] | None:
        """By reading the file once more: the document around the line, or, where YAML itself is broken, every document that its text names;
        None where it can't be said."""
        try:
            raw = self.tree.read(finding.span.file, _MOST)
        except Unreadable:
            return None
        documents, _ = nodes.parse(finding.span.file, raw)
        if not documents:
            found = scanned(raw.decode("utf-8", "replace"))
            return None if found is None else {_key(kind, name) for kind, name in found}
        around = [document.data for document in documents if _holds(document, finding.span.line)]
        keys = [(data.get("kind"), meta.get("name") if isinstance(meta := data.get("metadata"), dict) else None) for data in around]
        if not keys or not all(isinstance(kind, str) and isinstance(name, str) for kind, name in keys):
            return None
        return {_key(str(kind), str(name)) for kind, name in keys}


def _holds(document: nodes.Document, line: int) -> bool:
    root = document.root
    return bool(root.start_mark.line < line <= root.end_mark.line + 1)
