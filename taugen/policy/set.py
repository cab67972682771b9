"""The policy of one compilation: every document by kind and name, each with its place.

In: parsed documents. Out: `Policy`, immutable. Lookups never raise for bad references: a missing name is None, and a rule has already
said so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from msgspec import Struct

from taugen.diag import Diagnostic, Severity, Span
from taugen.load.nodes import Document
from taugen.policy import model
from taugen.words import Path, dotted

S = TypeVar("S", bound=model.Spec)

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
HOSTNAME = "kubernetes.io/hostname"

FIELDS: Mapping[str, str] = {
    "Cluster": "clusters",
    "Flavor": "flavors",
    "Topology": "topologies",
    "Cohort": "cohorts",
    "Queue": "queues",
    "PriorityTier": "tiers",
    "Profile": "profiles",
    "Workspace": "workspaces",
    "Storage": "storages",
    "HealthPolicy": "health",
}
"""Kinds that have several documents, and the field of `Policy` that holds them."""


class Item(Struct, Generic[S], frozen=True):
    """A policy document that could be read: `label` is how findings name it, `spec` what it says."""

    kind: str
    name: str
    spec: S
    document: Document

    def span(self, path: Path = (), *, key: bool = False) -> Span:
        """The place of `path` below `spec` (the empty path: of the name)."""
        return self.document.span(("spec", *path) if path else ("metadata", "name"), key=key)

    @property
    def label(self) -> str:
        """`Queue training`."""
        return f"{self.kind} {self.name}"

    def finding(
        self,
        rule: str,
        path: Path,
        message: str,
        *,
        hint: str = "",
        severity: Severity = Severity.ERROR,
        origin: Span | None = None,
        key: bool = False,
    ) -> Diagnostic:
        """A finding at `path` below `spec`; the empty path means the document's name."""
        where = dotted(("spec", *path) if path else ("metadata", "name"))
        return Diagnostic(rule, message, self.span(path, key=key), path=where, hint=hint, severity=severity, origin=origin)


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that judges and shapes runs. `sources` are the pinned commits of policy repositories, url -> commit."""

    project: Item[model.Project]
    platform: Item[model.Platform] | None = None
    clusters: Mapping[str, Item[model.Cluster]] = field(default_factory=dict)
    flavors: Mapping[str, Item[model.Flavor]] = field(default_factory=dict)
    topologies: Mapping[str, Item[model.TopologySpec]] = field(default_factory=dict)
    cohorts: Mapping[str, Item[model.CohortSpec]] = field(default_factory=dict)
    queues: Mapping[str, Item[model.QueueSpec]] = field(default_factory=dict)
    tiers: Mapping[str, Item[model.PriorityTier]] = field(default_factory=dict)
    profiles: Mapping[str, Item[model.Profile]] = field(default_factory=dict)
    workspaces: Mapping[str, Item[model.Workspace]] = field(default_factory=dict)
    storages: Mapping[str, Item[model.Storage]] = field(default_factory=dict)
    health: Mapping[str, Item[model.HealthPolicy]] = field(default_factory=dict)
    broken: frozenset[tuple[str, str]] = frozenset()
    """(kind, name) of documents that exist but could not be read whole: references to them are not reported again."""
    hidden: frozenset[tuple[str, str]] = frozenset()
    """(kind, name) of what documents may be whose head or file could not be read; an empty kind or name may be any."""
    partial: tuple[Item[Any], ...] = ()
    """What could be read of the broken ones, for rules that judge a value by itself; whatever needs a whole document never sees them."""
    digest: str = ""
    """sha256 over the canonical policy documents, the overlays and the compiler's version."""
    sources: Mapping[str, str] = field(default_factory=dict)
    _on: dict[str, dict[str, Item[model.Flavor]]] = field(init=False, default_factory=dict, compare=False, repr=False)
    """Memory of `flavors_on`."""
    _of_queue: dict[tuple[str, str], list[str]] = field(init=False, default_factory=dict, compare=False, repr=False)
    """Memory of `queue_flavors_on`."""
    settled: dict[str, bool] = field(init=False, default_factory=dict, compare=False, repr=False)
    """Memory of `references.settled`: asked of every queue for every profile of every workspace."""

    def of(self, kind: str) -> Mapping[str, Item[Any]]:
        """The documents of a kind by name; a Platform under its name."""
        if kind == "Platform":
            return {} if self.platform is None else {self.platform.name: self.platform}
        found: Mapping[str, Item[Any]] = getattr(self, FIELDS[kind])
        return found

    def each(self, kind: str) -> Iterator[Item[Any]]:
        """The documents of a kind in order of their names, then what could be read of broken ones."""
        documents = self.of(kind)
        yield from (documents[name] for name in sorted(documents))
        yield from (item for item in self.partial if item.kind == kind)

    def exists(self, kind: str, name: str) -> bool:
        """Whether a document of that kind and name is there, readable or not."""
        return name in self.of(kind) or self.unread(kind, name)

    def unread(self, kind: str, name: str) -> bool:
        """Whether there is, or may be, a document of that kind and name that could not be read whole."""
        return (kind, name) in self.broken or not self.hidden.isdisjoint(((kind, name), (kind, ""), ("", name), ("", "")))

    def lost(self, kind: str) -> bool:
        """Whether a document of that kind could not be read: nothing may be judged by the absence of what it would have said."""
        return any(broken == kind for broken, _ in self.broken) or any(hidden in (kind, "") for hidden, _ in self.hidden)

    @property
    def versions(self) -> dict[str, str]:
        """The versions that Platform pins, by the name of what has them."""
        return {} if self.platform is None else {name: version for name, version in self.platform.spec.versions if version is not None}

    def flavors_on(self, cluster: str) -> dict[str, Item[model.Flavor]]:
        """The flavors of one cluster, by name in order: those that name it, or that name none and match one of its node pools."""
        found = self._on.get(cluster)
        if found is None:
            item = self.clusters[cluster]
            found = {name: self.flavors[name] for name in sorted(self.flavors) if stands_on(self.flavors[name].spec, item)}
            self._on[cluster] = found
        return found

    def queue_flavors_on(self, queue: str, cluster: str) -> list[str]:
        """Names of the flavors that ClusterQueue `queue` has on `cluster`, in the order of its quotas; empty: the queue is not there."""
        found = self._of_queue.get((queue, cluster))
        if found is None:
            item = self.queues.get(queue)
            found = []
            if item is not None and (item.spec.clusters is None or cluster in item.spec.clusters):
                there = self.flavors_on(cluster)
                found = [quota.flavor for quota in item.spec.quotas if quota.flavor in there]
            self._of_queue[queue, cluster] = found
        return found

    def clusters_of(self, workspace: str) -> list[str]:
        """The clusters of a workspace, sorted: those it names, or all."""
        spec = self.workspaces[workspace].spec
        return sorted(c for c in (spec.clusters if spec.clusters is not None else self.clusters) if c in self.clusters)

    def workspace_of(self, namespace: str) -> str | None:
        """The workspace that holds `namespace`."""
        return next((name for name, item in sorted(self.workspaces.items()) if item.spec.namespace == namespace), None)


def stands_on(flavor: model.Flavor, cluster: Item[model.Cluster]) -> bool:
    """Whether a cluster has a flavor: it is named, or no cluster is and one of its node pools matches (or it lists none)."""
    if flavor.clusters is not None:
        return cluster.name in flavor.clusters
    return not cluster.spec.nodePools or any(matches(flavor, pool) for pool in cluster.spec.nodePools)


def matches(flavor: model.Flavor, pool: model.NodePool) -> bool:
    """Whether the nodes of `pool` carry every label of `flavor`."""
    labels = node_labels(pool)
    return all(labels.get(key) == value for key, value in flavor.nodeLabels.items())


def node_labels(pool: model.NodePool) -> Mapping[str, str]:
    """The labels that are known of a pool's nodes: those that it lists, and its machine type under Kubernetes' well-known key."""
    return pool.labels if pool.instanceType is None else {INSTANCE_TYPE: pool.instanceType, **pool.labels}
