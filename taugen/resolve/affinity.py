"""Node labels that a run's pods ask for: those that tell its flavors from the others, and those that the document wants.

In: a `Place` and the document's terms. Out: a `nodeAffinity`, and the flavors that remain. Kueue matches the terms against the labels of
the flavors, as far as their keys are labels of some flavor of the queue (flavorassigner.go, flavorSelector); the scheduler matches all of
them against nodes.
"""

from collections.abc import Mapping, Sequence

from taugen.resolve.case import Case
from taugen.resolve.flavors import QueueView
from taugen.resolve.placement import Place
from taugen.spec.model import NodeAffinityTerm
from taugen.words import Json, Path


def affinity(found: Place, flavors: Sequence[str], own: Sequence[NodeAffinityTerm] | None) -> Mapping[str, Json] | None:
    """Required node affinity: for each way to a wanted flavor, that flavor's labels and the document's own terms."""
    ways = [labels for name, labels in zip(found.flavors, found.labels, strict=True) if name in flavors] if found.distinguish else []
    if not ways and not own:
        return None
    wishes = [_expression(term) for term in own or ()]
    terms: list[Json] = []
    for way in ways or [{}]:
        expressions: list[Json] = [{"key": key, "operator": "In", "values": [way[key]]} for key in sorted(way)]
        term: Json = {"matchExpressions": expressions + [dict(wish) for wish in wishes]}
        if term not in terms:
            terms.append(term)
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _expression(term: NodeAffinityTerm) -> dict[str, Json]:
    if term.values is None:
        return {"key": term.key, "operator": term.operator}
    return {"key": term.key, "operator": term.operator, "values": list(term.values)}


def excluded(case: Case, queue: QueueView, found: Place) -> tuple[str, ...]:
    """The flavors whose labels the document's terms let through; an error where they let none."""
    keys = {key for flavor in queue.flavors for key in flavor.labels}
    left = list(found.flavors)
    for at, term in enumerate(case.policy.node_affinity or ()):
        if term.key not in keys or (not term.values and term.operator not in {"Exists", "DoesNotExist"}):
            continue
        labels = dict(zip(found.flavors, found.labels, strict=True))
        still = [name for name in left if _holds(term, labels[name].get(term.key))]
        if not still:
            path: Path = ("policy", "node_affinity", at)
            has = "; ".join(f"{name}: {labels[name].get(term.key, 'without it')}" for name in left)
            says = " ".join(filter(None, (term.key, term.operator, ", ".join(term.values or ()))))
            text = f"{says} lets no flavor of queue {queue.queue} on {queue.cluster} through ({has})"
            hint = "remove it: profile and GPU class choose the nodes"
            case.report.error("affinity-excludes-flavors", path, text, hint=hint)
            return found.flavors
        left = still
    return tuple(left)


def _holds(term: NodeAffinityTerm, value: str | None) -> bool:
    """Kubernetes' node selector requirement (component-helpers nodeaffinity)."""
    values = term.values or []
    if term.operator == "In":
        return value in values
    if term.operator == "NotIn":
        return value not in values
    if term.operator == "Exists":
        return value is not None
    if term.operator == "DoesNotExist":
        return value is None
    try:
        number, bound = int(value or ""), int(values[0])
    except (ValueError, IndexError):
        return False
    return number > bound if term.operator == "Gt" else number < bound
