"""Every pod meets the Pod Security level of its namespace.

The API server refuses the pods of an object that does not, one after the other: the object exists, holds its quota and never starts.
KubeRay's own pods take the security context of the run's first container.

Breaks:

    target: {kind: Job, name: "align-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, securityContext: {allowPrivilegeEscalation: true}}]}}}}

Mends:

    target: {kind: Job, name: "align-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, securityContext: {readOnlyRootFilesystem: true}}]}}}}

Source: Kubernetes docs, Pod Security Standards; k8s.io/pod-security-admission policy checks
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods, _security

ID = "pod-security"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        workspace = _pods.known(policy).workspace(pod.item)
        if workspace is None or workspace.spec.podSecurity == "privileged":
            continue
        level = workspace.spec.podSecurity
        for path, what in _security.violations(pod, restricted=level == "restricted"):
            hint = f"mend the overlay or the run, or let the platform team write another podSecurity for Workspace {workspace.name}"
            message = f"{what}, which Pod Security {level} forbids"
            yield pod.finding(ID, path, message, hint, workspace.span(("podSecurity",), key=True) if workspace.document else None)
