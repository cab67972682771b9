"""A HealthPolicy finds nodes of its classes, and no others.

Its DaemonSets find nodes by the labels of node pools. Where none matches, nothing is watched and nothing says so; a pool without labels
can't be found; and labels that another class's nodes carry too would watch those by the wrong rules.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb, h100-80gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: Kubernetes DaemonSet (node affinity)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.health_nodes import Target, covers, watch
from taugen.policy.nodes import pools
from taugen.policy.set import Item, Policy, node_labels
from taugen.words import suggest

ID = "health-nodes"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule. Without a readable Cluster nothing can be said."""
    if policy.lost("Cluster") or policy.lost("Flavor") or not policy.clusters:
        return
    for item in policy.each("HealthPolicy"):
        for at, gpu_class in enumerate(item.spec.gpuClasses):
            found = [(cluster, watch(policy, policy.clusters[cluster], item, gpu_class)) for cluster in sorted(policy.clusters)]
            if not any(watched.nodes or watched.targets for _, watched in found):
                yield _nowhere(policy, item, at, gpu_class)
            for cluster, watched in found:
                for target in watched.targets:
                    yield from _others(policy.clusters[cluster], item, at, target)
                yield from _bare(policy.clusters[cluster], item, at)


def _nowhere(policy: Policy, item: Item[model.HealthPolicy], at: int, gpu_class: str) -> Diagnostic:
    listed = {pool.spec.gpuClass for cluster in policy.clusters.values() for pool in pools(cluster) if pool.spec.gpuClass}
    listed |= {flavor.spec.gpuClass for flavor in policy.flavors.values() if flavor.spec.gpuClass}
    if gpu_class in listed and item.spec.nodes:
        text = ", ".join(f"{key}={value}" for key, value in item.spec.nodes.items())
        return item.finding(
            ID, ("nodes",), f"no node pool of class {gpu_class} has the labels {text}", hint="write labels that the pools have", key=True
        )
    classes = sorted(name for name in listed if name)
    near = suggest.closest(gpu_class, classes)
    hint = f"did you mean {near}?" if near else f"the classes are {', '.join(classes) or 'none: node pools name no gpuClass'}"
    return item.finding(ID, ("gpuClasses", at), f"no node pool is of GPU class {gpu_class}", hint=hint)


def _bare(cluster: Item[model.Cluster], item: Item[model.HealthPolicy], at: int) -> Iterator[Diagnostic]:
    for _, number, pool in pools(cluster):
        if covers(item.spec, item.spec.gpuClasses[at], pool) and not node_labels(pool):
            message = f"the nodes of pool {pool.name} of cluster {cluster.name} have no labels to be found by"
            origin = cluster.span(("nodePools", number, "name"))
            yield item.finding(ID, ("gpuClasses", at), message, hint="give the pool an instanceType or labels", origin=origin)


def _others(cluster: Item[model.Cluster], item: Item[model.HealthPolicy], at: int, target: Target) -> Iterator[Diagnostic]:
    for _, number, pool in pools(cluster):
        labels = node_labels(pool)
        mine = covers(item.spec, item.spec.gpuClasses[at], pool)
        if target.pool is not None and not mine and all(labels.get(key) == value for key, value in target.labels.items()):
            name = cluster.spec.nodePools[target.pool].name
            message = f"the labels of pool {name} are those of pool {pool.name} too, which is none of its nodes"
            origin = cluster.span(("nodePools", number, "name"))
            yield item.finding(ID, ("gpuClasses", at), message, hint="give one of the pools a label that the other lacks", origin=origin)
