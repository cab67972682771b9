"""Borrowing and lending need a cohort, and a queue lends and preempts only as Kueue lets it.

Kueue's webhook refuses the object otherwise, and Argo CD or Flux then keeps failing on it.

Breaks:

    target: {kind: ClusterQueue, name: research}
    patch:
      spec: {cohortName: null}

Mends:

    target: {kind: ClusterQueue, name: research}
    patch:
      spec: {cohortName: other}

Source: Kueue clusterqueue_webhook.go, cohort_webhook.go and the rules in the CRDs
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects._parts import changed, finding, items, mapping, named
from taugen.words import Json, at, quantity

ID = "queue-limits"
_PARENT = {"ClusterQueue": "cohortName", "Cohort": "parentName"}


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in objects:
        if item.kind in _PARENT:
            spec = mapping(item.obj.get("spec"))
            messages = [*_quotas(item.kind, spec), *_settings(spec)]
            if messages and changed(item, policy):
                yield from (finding(ID, item, message) for message in messages)


def _quotas(kind: str, spec: Object) -> Iterator[str]:
    parent = _PARENT[kind]
    for group in items(spec.get("resourceGroups")):
        for flavor, quotas in named(mapping(group).get("flavors")):
            for resource, quota in named(quotas.get("resources")):
                limits = [key for key in ("borrowingLimit", "lendingLimit") if quota.get(key) is not None]
                if limits and not spec.get(parent):
                    yield f"{resource} of flavor {flavor} has {limits[0]}, but there is no {parent}"
                lend, nominal = quota.get("lendingLimit"), quota.get("nominalQuota")
                if kind == "ClusterQueue" and lend is not None and _more(lend, nominal):
                    yield f"{resource} of flavor {flavor} lends {lend} of {nominal}"


def _more(first: Json, second: Json) -> bool:
    try:
        return quantity.compare(str(first), str(second)) > 0
    except quantity.QuantityError:
        return False  # `quantity-canonical` says so


def _settings(spec: Object) -> Iterator[str]:
    policy = at(spec, "preemption", "borrowWithinCohort", "policy")
    if at(spec, "preemption", "reclaimWithinCohort") == "Never" and policy not in {None, "Never"}:
        yield f"borrowWithinCohort {policy} with reclaimWithinCohort Never, which Kueue refuses"
    fungibility = mapping(spec.get("flavorFungibility"))
    tries = {fungibility.get("whenCanBorrow"), fungibility.get("whenCanPreempt")}
    if fungibility.get("preference") is not None and tries != {"TryNextFlavor"}:
        yield "flavorFungibility.preference, but whenCanBorrow and whenCanPreempt are not both TryNextFlavor"
    flavors = {name for group in items(spec.get("resourceGroups")) for name, _ in named(mapping(group).get("flavors"))}
    for name, check_ in named(at(spec, "admissionChecksStrategy", "admissionChecks")):
        for flavor in items(check_.get("onFlavors")):
            if flavor not in flavors:
                yield f"admission check {name} is for flavor {flavor}, which the queue does not have"
