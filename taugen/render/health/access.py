"""The namespace of node health, its accounts, and what they may do.

In: the GPU classes of a cluster. Out: Namespace, ResourceQuota, ServiceAccounts, roles, admission policies. What must never happen: more
than each needs. Roles can't say "its own node", so a ValidatingAdmissionPolicy does: the node of the pod that a token was made for is in
the token. Sources: Kubernetes KEP-4193 (bound tokens name their node), KEP-3488 (validating admission policies).
"""

from collections.abc import Iterator, Sequence

from taugen.policy.health import CONDITION_PREFIX, NAMESPACE, TAINT_PREFIX
from taugen.policy.health_nodes import Watched, by_readiness
from taugen.policy.set import Policy
from taugen.render import meta
from taugen.render.health import names
from taugen.render.types import Object
from taugen.words import Json

_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io/v1"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_KUBELETS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
_SPEC = ("unschedulable", "podCIDR", "podCIDRs", "providerID", "externalID", "configSource")
_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_STATUS = (
    "capacity", "allocatable", "phase", "addresses", "daemonEndpoints", "nodeInfo", "images", "volumesInUse", "volumesAttached", "config",
    "runtimeHandlers", "features", "declaredFeatures",
)  # fmt: skip


def objects(policy: Policy, classes: Sequence[Watched]) -> Iterator[Object]:
    """What all classes share."""
    yield _namespace()
    yield _critical_pods()
    taints = any(action.taint is not None for one in classes for action in one.item.spec.actions)
    yield from _runner(taints=taints, itself=taints and not by_readiness(policy))
    if any(one.item.spec.images.nodeProblemDetector for one in classes):
        yield from _detector()


def _namespace() -> Object:
    # Privileged: reading the kernel's log takes a capability that the baseline forbids, and the others need devices of the host.
    labels = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")} | {meta.UNMANAGED: "unmanaged"}
    # Kept when node health goes: an Application that it was of would never again be in sync (Argo CD, compare options).
    notes = {meta.ARGO_COMPARE: "IgnoreExtraneous"}
    metadata = meta.metadata(NAMESPACE, labels=labels, annotations=notes, wave=meta.WAVE_NAMESPACE, kept=True)
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _critical_pods() -> Object:
    """Some clusters admit pods of system-node-critical only where a quota names that class (ResourceQuota plugin, limitedResources)."""
    selector: Object = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}]}
    spec: Object = {"hard": {"pods": "30k"}, "scopeSelector": selector}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": names.metadata("critical-pods"), "spec": spec}


def _runner(*, taints: bool, itself: bool) -> Iterator[Object]:
    """`taints`: policy has any; `itself`: the runner sets them, so that it changes nodes and not only their status."""
    yield _account(names.RUNNER)
    rules = [_rule("", ["nodes"], ["get", "list"] if taints else ["get"]), _rule("", ["nodes/status"], ["patch"])]
    if itself:
        rules.append(_rule("", ["nodes"], ["patch"]))
    yield from _cluster_role(names.RUNNER, rules)
    yield from _role(names.RUNNER, "default", [_rule("", ["events"], ["create"])])
    if taints:
        yield from _role(names.RUNNER, NAMESPACE, [_rule("coordination.k8s.io", ["leases"], ["get", "create", "update"])])
    yield from _admission(names.RUNNER, [*_own_node(), *_only_ours()])


def _detector() -> Iterator[Object]:
    yield _account(names.DETECTOR)
    yield from _cluster_role(names.DETECTOR, [_rule("", ["nodes"], ["get"]), _rule("", ["nodes/status"], ["patch"])])
    yield from _role(names.DETECTOR, "default", [_rule("", ["events"], ["create", "patch", "update"])])
    yield from _admission(names.DETECTOR, [*_own_node(), *_not_ours()])


# ------------------------------------------------------------------------------------------------------------------- roles


def _account(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": names.metadata(name), "automountServiceAccountToken": False}


def _rule(group: str, resources: list[Json], verbs: list[Json]) -> Json:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _cluster_role(name: str, rules: list[Json]) -> Iterator[Object]:
    metadata = names.metadata(name, inside=False)
    yield {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}
    yield _binding("ClusterRole", name, metadata)


def _role(name: str, namespace: str, rules: list[Json]) -> Iterator[Object]:
    named = name if namespace == NAMESPACE else f"{name}-events"
    metadata = names.metadata(named, namespace=namespace)
    yield {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": metadata, "rules": rules}
    yield _binding("Role", name, metadata)


def _binding(kind: str, account: str, metadata: Object) -> Object:
    role: Object = {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]}
    subject: Object = {"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}
    return {"apiVersion": f"{_RBAC}/v1", "kind": f"{kind}Binding", "metadata": {**metadata}, "roleRef": role, "subjects": [subject]}


# -------------------------------------------------------------------------------------------------------------- admission


def _admission(name: str, validations: list[tuple[str, str]]) -> Iterator[Object]:
    constraints: Object = {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "resourceRules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "DELETE", "UPDATE"],
                "resources": ["nodes", "nodes/status"],
                "scope": "*",
            }
        ],
    }
    account: Object = {"name": "account", "expression": f"request.userInfo.username == 'system:serviceaccount:{NAMESPACE}:{name}'"}
    judged: list[Json] = [{"expression": expression, "message": message} for expression, message in validations]
    spec: Object = {"failurePolicy": "Fail", "matchConstraints": constraints, "matchConditions": [account], "validations": judged}
    metadata = names.metadata(name, inside=False)
    yield {"apiVersion": _ADMISSION, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec}
    bound: Object = {"policyName": name, "validationActions": ["Deny"]}
    yield {"apiVersion": _ADMISSION, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {**metadata}, "spec": bound}


def _own_node() -> list[tuple[str, str]]:
    return [
        ("request.operation == 'UPDATE'", "this account may change its node, not create or delete one"),
        (
            f"request.userInfo.extra[?'{_NODE_NAME}'].orValue([]) == [request.name]",
            "this account may change only the node that its pod runs on",
        ),
    ]


def _only_ours() -> list[tuple[str, str]]:
    """The rest of the node stays as it is: everything but taints and conditions with taugen's prefixes."""
    return [
        (_filtered("spec", "taints", f"!e.key.startsWith('{TAINT_PREFIX}')"), f"this account may change only taints {TAINT_PREFIX}*"),
        (
            _filtered("status", "conditions", f"!e.type.startsWith('{CONDITION_PREFIX}')"),
            f"this account may change only conditions {CONDITION_PREFIX}*",
        ),
        *_rest(),
    ]


def _not_ours() -> list[tuple[str, str]]:
    """node-problem-detector sets conditions of many names, but not those of the kubelet and of the check runner; it sets no taint."""
    listed = ", ".join(f"'{name}'" for name in _KUBELETS)
    theirs = _filtered("status", "conditions", f"e.type.startsWith('{CONDITION_PREFIX}') || e.type in [{listed}]")
    return [(_same("spec", ("taints",)), "this account may not change taints"), (theirs, "these conditions are others'"), *_rest()]


def _rest() -> list[tuple[str, str]]:
    return [
        (_same("metadata", _METADATA), "this account may not change a node's metadata"),
        (_same("spec", _SPEC), "this account may change nothing else of a node's spec"),
        (_same("status", _STATUS), "this account may change nothing else of a node's status"),
    ]


def _filtered(part: str, field: str, condition: str) -> str:
    """The elements of a list for which `condition` holds are the same as before."""
    new, old = (f"{side}.?{part}.?{field}.orValue([]).filter(e, {condition})" for side in ("object", "oldObject"))
    return f"request.operation != 'UPDATE' || {new} == {old}"


def _same(part: str, fields: tuple[str, ...]) -> str:
    equal = " && ".join(f"object.?{part}.?{field} == oldObject.?{part}.?{field}" for field in fields)
    return f"request.operation != 'UPDATE' || ({equal})"
