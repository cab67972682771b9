"""RDMA devices are an extended resource of the cluster.

A name without a prefix, or with one of Kubernetes' own, is refused by the API server; settings beside `enabled: false` do nothing.

Breaks:

    compute: {gpus: 8, rdma: {enabled: true, resource: infiniband}}

Mends:

    compute: {gpus: 8, rdma: {enabled: true, resource: rdma/ib}}

Source: Kubernetes core validation (ValidateResourceName, IsExtendedResourceName); TauGrid's rule (cli/internal/manifest).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path, names
from taugen.words.errors import shown

ID = "rdma-resource"

HINT = "write PREFIX/NAME as the device plugin advertises it, such as rdma/ib"
_OWN = ("kubernetes.io", "k8s.io")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`compute.rdma`."""
    del policy
    rdma = doc.spec.compute.rdma if doc.spec.compute is not None else None
    if rdma is None:
        return
    if rdma.enabled is False:
        for field in ("resource", "count"):
            if getattr(rdma, field) is not None:
                path: Path = ("compute", "rdma", field)
                yield doc.finding(ID, path, f"rdma.{field} has no effect: rdma is off", hint="remove it, or write enabled: true", key=True)
        return
    name = rdma.resource
    if name is None:
        return
    if (why := fault(name)) is not None:
        yield doc.finding(ID, ("compute", "rdma", "resource"), f"{shown(name)} {why}", hint=HINT)


def fault(name: str) -> str | None:
    """Why no device plugin can advertise a resource of that name."""
    prefix, slash, _ = name.partition("/")
    if any(prefix == own or prefix.endswith("." + own) for own in _OWN):
        return "has a prefix that belongs to Kubernetes"
    return None if slash and names.is_label_key(name) else "is no extended resource"
