"""Evidence is never on a branch that is synced.

Each commit on a tracked branch makes Argo CD or Flux look at everything again, and a collector that can write there could change what
runs.

Breaks:

    kind: Project
    metadata: {name: tern}
    spec:
      output: {branch: deploy}
      evidence: {branch: deploy}

Mends:

    kind: Project
    metadata: {name: tern}
    spec:
      output: {branch: deploy}
      evidence: {branch: evidence}

Source: Argo CD docs, high availability; Flux kustomize-controller (source predicates)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "evidence-branch"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    project = policy.project
    output, evidence = project.spec.output, project.spec.evidence
    if evidence.branch == output.branch and evidence.url == output.url:
        message = f"evidence and the deploy tree are both on branch {output.branch}"
        origin = project.span(("output", "branch"))
        yield project.finding(ID, ("evidence", "branch"), message, hint="write a branch of its own, such as evidence", origin=origin)
