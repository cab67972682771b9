"""A pod template has at most one topology annotation, and one that Kueue takes.

`required` and `preferred` name a node label, `unconstrained` is true or false; a slice has a topology and a size together, and the size
is from 1 to the number of pods. Heads and submitters have none: they belong on CPU nodes.

Breaks:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-unconstrained-topology: "true"}}}}}

Mends:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}}}}}

Source: Kueue jobframework/tas_validation.go
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.words import Json, names

ID = "topology-annotation"
PREFIX = "kueue.x-k8s.io/podset-"
KINDS = ("required-topology", "preferred-topology", "unconstrained-topology")
SLICE, SIZE = f"{PREFIX}slice-required-topology", f"{PREFIX}slice-size"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        annotations = pod.annotations
        if not annotations:
            continue
        given = [PREFIX + kind for kind in KINDS if PREFIX + kind in annotations]
        if len(given) > 1:
            yield _at(pod, given[-1], f"it stands beside {given[0]}: at most one topology annotation")
        if given and pod.role in {"head", "submitter"}:
            yield _at(pod, given[0], f"the {pod.role} would be kept off the CPU nodes")
        for key in given:
            yield from _value(pod, key, annotations[key])
        yield from _slice(pod, annotations.get(SLICE), annotations.get(SIZE))


def _value(pod: Pod, key: str, value: Json) -> Iterator[Diagnostic]:
    if key.endswith("unconstrained-topology"):
        if value not in ("true", "false"):
            yield _at(pod, key, f"{value} is neither true nor false")
    elif not names.is_label_key(str(value)):
        yield _at(pod, key, f"{value} is no node label")


def _slice(pod: Pod, level: Json, size: Json) -> Iterator[Diagnostic]:
    if (level is None) != (size is None):
        yield _at(pod, SIZE if size is not None else SLICE, "a slice has a topology and a size, or neither")
    elif size is not None and not (str(size).isascii() and str(size).isdigit() and 1 <= int(str(size)) <= pod.count):
        yield _at(pod, SIZE, f"{size} is not a number of pods from 1 to {pod.count}")


def _at(pod: Pod, key: str, message: str) -> Diagnostic:
    hint = "write policy.topology in the run, and nothing in the overlay"
    return pod.finding(ID, ("metadata", "annotations", key), f"{key}: {message}", hint)
