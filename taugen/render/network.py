"""A workspace's NetworkPolicies.

In: a workspace. Out: policies of its namespace: no ingress but from the workspace's own pods, and from the KubeRay operator to Ray heads;
egress open, or closed down to what policy lists. What must never happen: DNS, the pods of a run among themselves, or the operator's and
submitter's way to the head closed.

A NetworkPolicy can't say "the same run as mine", so the pods of one workspace reach each other: they share its identity, claims and
secrets anyway.
"""

from collections.abc import Iterator

from taugen.policy import model
from taugen.policy.set import Item
from taugen.render import meta
from taugen.render.types import Object
from taugen.words import Json

RAY_DASHBOARD = 8265
"""The port of the Ray head at which KubeRay's operator submits and watches jobs."""


def policies(item: Item[model.Workspace]) -> Iterator[Object]:
    """The workspace's policies."""
    closed = item.spec.network.egress is not None
    types: list[Json] = ["Ingress", "Egress"] if closed else ["Ingress"]
    yield _policy(item, "taugen-default-deny", {"podSelector": {}, "policyTypes": types})
    same: Object = {"podSelector": {}}
    inside: Object = {"podSelector": {}, "policyTypes": types, "ingress": [{"from": [same]}]}
    if closed:
        inside["egress"] = [{"to": [same]}]
    yield _policy(item, "taugen-same-workspace", inside)
    yield _policy(item, "taugen-ray-operator", _ray_operator())
    if closed:
        yield _policy(item, "taugen-egress", {"podSelector": {}, "policyTypes": ["Egress"], "egress": [_dns(), *_egress(item)]})


def _ray_operator() -> Object:
    # The operator's namespace differs by installation. Tenants only have pods in workspaces, so none of them can pose as the operator.
    outside: Object = {"matchExpressions": [{"key": meta.WORKSPACE, "operator": "DoesNotExist"}]}
    operator: Object = {"matchLabels": {"app.kubernetes.io/name": "kuberay-operator"}}
    peer: Object = {"namespaceSelector": outside, "podSelector": operator}
    rule: Object = {"from": [peer], "ports": [{"protocol": "TCP", "port": RAY_DASHBOARD}]}
    return {"podSelector": {"matchLabels": {"ray.io/node-type": "head"}}, "policyTypes": ["Ingress"], "ingress": [rule]}


def _dns() -> Object:
    """Port 53 of anything: the resolver is a pod, a node-local cache or an address of the cloud, by environment."""
    return {"ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]}


def _egress(item: Item[model.Workspace]) -> Iterator[Json]:
    for rule in item.spec.network.egress or ():
        out: Object = {"to": [{"ipBlock": {"cidr": rule.to}}]}
        if rule.ports:
            out["ports"] = [{"protocol": "TCP", "port": port} for port in rule.ports]
        yield out


def _policy(item: Item[model.Workspace], name: str, spec: Object) -> Object:
    metadata = meta.metadata(name, namespace=item.spec.namespace, labels={meta.WORKSPACE: item.name}, wave=meta.WAVE_TENANCY)
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
