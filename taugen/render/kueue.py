"""Kueue's objects of one cluster: flavors, topologies, cohorts, ClusterQueues, priority classes, LocalQueues.

In: a policy and a cluster's name. Out: objects of `kueue.x-k8s.io/v1beta2`, the stored version, with every defaulted field written out
and quantities in canonical form: the API server and Kueue's conversion rewrite nothing, so neither Argo CD nor Flux ever sees a
difference. What must never happen: a toleration on a flavor (CPU pods, Ray heads and submitters would be let onto GPU nodes), a queue
without flavors, a flavor of another cluster.
"""

from collections.abc import Iterator, Sequence

from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.render import meta
from taugen.render.types import Object, Rendered
from taugen.words import Json

API_VERSION = "kueue.x-k8s.io/v1beta2"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The API server sets this label on each namespace and lets nobody change it (KEP-2161): a queue's selector can't be talked around."""
_FIRST = ("cpu", "memory", "ephemeral-storage")


def cluster_objects(policy: Policy, cluster: str) -> Iterator[Rendered]:
    """Everything of `<cluster>/platform/`: flavors, topologies, cohorts, queues, tiers, each by name."""
    folder = f"{cluster}/platform"
    flavors = policy.flavors_on(cluster)
    topologies = {f.spec.topology for f in flavors.values()}
    for name, topology in sorted(policy.topologies.items()):
        if name in topologies:
            yield meta.placed(folder, _topology(topology), topology)
    for flavor in flavors.values():
        yield meta.placed(folder, _flavor(flavor), flavor)
    for name in _cohorts_on(policy, cluster):
        yield meta.placed(folder, _cohort(policy.cohorts[name], flavors), policy.cohorts[name])
    for name, queue in sorted(policy.queues.items()):
        if policy.queue_flavors_on(name, cluster):
            yield meta.placed(folder, _cluster_queue(policy, queue, cluster), queue)
    for _, tier in sorted(policy.tiers.items()):
        yield meta.placed(folder, _tier(tier), tier)


def local_queues(policy: Policy, workspace: Item[model.Workspace], cluster: str) -> Iterator[Object]:
    """The LocalQueues of a workspace on a cluster, by name: those whose ClusterQueue is there."""
    for queue in sorted(workspace.spec.queues, key=lambda q: q.name):
        if policy.queue_flavors_on(queue.queue, cluster):
            yield {
                "apiVersion": API_VERSION,
                "kind": "LocalQueue",
                "metadata": meta.metadata(
                    queue.name, namespace=workspace.spec.namespace, labels={meta.WORKSPACE: workspace.name}, wave=meta.WAVE_LAST
                ),
                "spec": {"clusterQueue": queue.queue, "stopPolicy": "None"},
            }


def _topology(item: Item[model.TopologySpec]) -> Object:
    levels: list[Json] = [{"nodeLabel": level.label} for level in item.spec.levels]
    return _object("Topology", item.name, meta.WAVE_FLAVOR, {"levels": levels})


def _flavor(item: Item[model.Flavor]) -> Object:
    spec: Object = {}
    if item.spec.nodeLabels:
        spec["nodeLabels"] = {key: item.spec.nodeLabels[key] for key in sorted(item.spec.nodeLabels)}
    if item.spec.nodeTaints:
        spec["nodeTaints"] = [_taint(taint) for taint in item.spec.nodeTaints]
    if item.spec.topology:
        spec["topologyName"] = item.spec.topology
    return _object("ResourceFlavor", item.name, meta.WAVE_FLAVOR, spec)


def _taint(taint: model.Taint) -> Object:
    value: Object = {} if taint.value is None else {"value": taint.value}
    return {"key": taint.key, **value, "effect": taint.effect}


def _tier(item: Item[model.PriorityTier]) -> Object:
    out: Object = {"apiVersion": API_VERSION, "kind": "WorkloadPriorityClass", "metadata": meta.metadata(item.name, wave=meta.WAVE_FLAVOR)}
    out["value"] = item.spec.value
    if item.spec.description:
        out["description"] = item.spec.description
    return out


def _cohorts_on(policy: Policy, cluster: str) -> list[str]:
    """Cohorts that have a queue or a quota of their own on the cluster, and those above them, by name."""
    flavors = policy.flavors_on(cluster)
    used: set[str] = set()
    waiting = [item.spec.cohort for name, item in policy.queues.items() if item.spec.cohort and policy.queue_flavors_on(name, cluster)]
    waiting += [name for name, item in policy.cohorts.items() if any(q.flavor in flavors for q in item.spec.quotas)]
    while waiting:
        name = waiting.pop()
        item = policy.cohorts.get(name)
        if name not in used and item is not None:
            used.add(name)
            waiting += [item.spec.parent] if item.spec.parent else []
    return sorted(used)


def _cohort(item: Item[model.CohortSpec], flavors: dict[str, Item[model.Flavor]]) -> Object:
    spec: Object = {"parentName": item.spec.parent} if item.spec.parent else {}
    groups = resource_groups([q for q in item.spec.quotas if q.flavor in flavors])
    if groups:
        spec["resourceGroups"] = groups
    if item.spec.fairSharing:
        spec["fairSharing"] = _fair_sharing(item.spec.fairSharing)
    return _object("Cohort", item.name, meta.WAVE_QUEUE, spec)


def _cluster_queue(policy: Policy, item: Item[model.QueueSpec], cluster: str) -> Object:
    queue = item.spec
    there = policy.queue_flavors_on(item.name, cluster)
    spec: Object = {"cohortName": queue.cohort} if queue.cohort else {}
    namespaces = _namespaces(policy, item.name, cluster)
    if namespaces:
        expression: Object = {"key": NAMESPACE_NAME, "operator": "In", "values": namespaces}
        spec["namespaceSelector"] = {"matchExpressions": [expression]}
    spec["queueingStrategy"] = queue.strategy
    spec["resourceGroups"] = resource_groups([q for q in queue.quotas if q.flavor in there])
    spec["flavorFungibility"] = _fungibility(queue.fungibility or model.Fungibility())
    spec["preemption"] = _preemption(queue.preemption or model.Preemption())
    if queue.fairSharing:
        spec["fairSharing"] = _fair_sharing(queue.fairSharing)
    if queue.admissionChecks:
        checks: list[Json] = [{"name": name} for name in queue.admissionChecks]
        spec["admissionChecksStrategy"] = {"admissionChecks": checks}
    spec["stopPolicy"] = queue.stop
    return _object("ClusterQueue", item.name, meta.WAVE_QUEUE, spec)


def _namespaces(policy: Policy, queue: str, cluster: str) -> list[Json]:
    """Namespaces of the workspaces that feed a queue on a cluster. None: the selector is left out, which selects no namespace."""
    found = {
        item.spec.namespace
        for name, item in policy.workspaces.items()
        if cluster in policy.clusters_of(name) and any(q.queue == queue for q in item.spec.queues)
    }
    return [*sorted(found)]


def _fungibility(fungibility: model.Fungibility) -> Object:
    return {"whenCanBorrow": fungibility.whenCanBorrow, "whenCanPreempt": fungibility.whenCanPreempt}


def _preemption(preemption: model.Preemption) -> Object:
    borrow = preemption.borrowWithinCohort or model.BorrowWithinCohort()
    within: Object = {"policy": borrow.policy}
    if borrow.maxPriorityThreshold is not None:
        within["maxPriorityThreshold"] = borrow.maxPriorityThreshold
    return {
        "withinClusterQueue": preemption.withinClusterQueue,
        "reclaimWithinCohort": preemption.reclaimWithinCohort,
        "borrowWithinCohort": within,
    }


def _fair_sharing(sharing: model.FairSharing) -> Object:
    return {"weight": sharing.weight}


def _object(kind: str, name: str, wave: int, spec: Object) -> Object:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": meta.metadata(name, wave=wave), "spec": spec}


# -------------------------------------------------------------------------------------------------------------- resource groups


def resource_groups(quotas: Sequence[model.FlavorQuotas]) -> list[Json]:
    """Flavors that share a resource stand in one group, each with every resource of the group in one order: Kueue clusterqueue_webhook.go.

    What policy leaves out is 0. Groups follow the order of their first flavor, flavors that of policy; resources are cpu, memory,
    ephemeral-storage, then the others by name.
    """
    groups: list[list[model.FlavorQuotas]] = []
    for quota in quotas:
        touching = [g for g in groups if any(other.resources.keys() & quota.resources.keys() for other in g)]
        merged = [q for group in touching for q in group] + [quota]
        position = groups.index(touching[0]) if touching else len(groups)
        groups = [g for g in groups if g not in touching]
        groups.insert(position, merged)
    order = {id(quota): at for at, quota in enumerate(quotas)}
    return [_group(sorted(group, key=lambda q: order[id(q)])) for group in groups]


def _group(quotas: Sequence[model.FlavorQuotas]) -> Object:
    resources = sorted({name for quota in quotas for name in quota.resources}, key=resource_order)
    flavors: list[Json] = [{"name": q.flavor, "resources": [_quota(name, q.resources.get(name)) for name in resources]} for q in quotas]
    covered: list[Json] = list(resources)
    return {"coveredResources": covered, "flavors": flavors}


def resource_order(name: str) -> tuple[int, str]:
    """The place of a resource among covered ones: cpu, memory, ephemeral-storage first, the others by name."""
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def _quota(name: str, quota: model.Quota | None) -> Object:
    if quota is None:
        return {"name": name, "nominalQuota": "0"}
    out: Object = {"name": name, "nominalQuota": quota.nominal}
    if quota.borrow is not None:
        out["borrowingLimit"] = quota.borrow
    if quota.lend is not None:
        out["lendingLimit"] = quota.lend
    return out
