"""The pods of a gang have names that fit a host name, and a Service under which they find each other.

A host name has at most 63 characters, and the pods of an indexed Job are called `<job>-<index>`. All ranks run at once: as many completions
as pods, and the Service of the attempt's name.

Breaks:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {parallelism: 1}}

Mends:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {parallelism: 2}}

Source: Kubernetes batch validation (ValidateJob, indexed completions), JobSet jobset_webhook.go (generated names)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.words import Path

ID = "gang-names"
MOST = 63


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    services = {item.name for item in objects if item.kind == "Service"}
    for item in _pods.runs(objects):
        spec = _pods.spec_of(item)
        if item.kind == "Job":
            yield from _job(item, ("spec",), spec, item.name)
            subdomain = _pods.mapping(_pods.mapping(spec.get("template")).get("spec")).get("subdomain")
            if spec.get("completionMode") == "Indexed" and subdomain not in services:
                yield _pods.finding(ID, item, ("spec", "template", "spec", "subdomain"), f"the run has no Service {subdomain}")
        elif item.kind == "JobSet":
            for at, value in enumerate(_pods.sequence(spec.get("replicatedJobs"))):
                group = _pods.mapping(value)
                inner = _pods.mapping(_pods.mapping(group.get("template")).get("spec"))
                name = f"{item.name}-{group.get('name')}-{_pods.number(group.get('replicas'), 1) - 1}"
                yield from _job(item, ("spec", "replicatedJobs", at, "template", "spec"), inner, name)


def _job(item: Rendered, path: Path, spec: Object, name: str) -> Iterator[Diagnostic]:
    pods, wanted = _pods.number(spec.get("parallelism"), 1), _pods.number(spec.get("completions"), 1)
    if pods != wanted:
        yield _pods.finding(ID, item, (*path, "parallelism"), f"{pods} of {wanted} ranks would run at once")
    host = f"{name}-{wanted - 1}"
    if len(host) > MOST:
        yield _pods.finding(ID, item, path, f"the host name {host} has {len(host)} characters, more than {MOST}")
