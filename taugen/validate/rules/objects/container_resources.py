"""Every container asks for amounts that the API server and Kueue take.

Not negative, not the resource `pods`, no request above its limit; devices are whole and the same in both. A program without a request of
CPU and memory would be charged nothing and starve others.

Breaks:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, resources: {requests: {nvidia.com/gpu: "2"}}}]}}}}

Mends:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, resources: {requests: {cpu: "2"}}}]}}}}

Source: Kubernetes core validation (ValidateResourceRequirements), Kueue jobframework/validation.go (resources of pod sets)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.words import Json, Path, quantity

ID = "container-resources"
WANTED = ("cpu", "memory")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        for path, container in pod.containers:
            resources = _pods.mapping(container.get("resources"))
            yield from _container(pod, (*path, "resources"), resources)


def _container(pod: Pod, path: Path, resources: Object) -> Iterator[Diagnostic]:
    requests, limits = _pods.mapping(resources.get("requests")), _pods.mapping(resources.get("limits"))
    for field, amounts in (("requests", requests), ("limits", limits)):
        for name, amount in amounts.items():
            if name == "pods":
                yield pod.finding(ID, (*path, field, name), "pods is no resource of a container")
            elif str(amount).startswith("-"):
                yield pod.finding(ID, (*path, field, name), f"{amount} is below 0")
    for name in WANTED:
        if name not in requests and name not in limits:
            yield pod.finding(ID, (*path, "requests"), f"a container asks for no {name}", f"write a request of {name} for it")
    for name, request in requests.items():
        limit = limits.get(name)
        if request == limit:
            continue
        if "/" in name:
            message = f"the request of {name} is {request} and its limit {limit}: devices need both alike"
            yield pod.finding(ID, (*path, "limits", name), message)
        elif limit is not None and _above(request, limit):
            yield pod.finding(ID, (*path, "requests", name), f"the request {request} of {name} is above its limit {limit}")


def _above(request: Json, limit: Json) -> bool:
    try:
        return quantity.compare(str(request), str(limit)) > 0
    except quantity.QuantityError:
        return False
