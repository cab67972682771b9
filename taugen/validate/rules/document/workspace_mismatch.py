"""The folder says which workspace a run belongs to.

Reviews and CODEOWNERS go by the folder. A file that names another workspace or namespace would run where nobody of that workspace has
looked.

Breaks: in workspaces/vision/

    workspace: nlp

Mends:

    workspace: vision

Source: the project's layout, workspaces/<workspace>/.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "workspace-mismatch"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`workspace` and `policy.namespace`."""
    spec = doc.spec
    if spec.workspace is not None and spec.workspace != doc.workspace:
        text = f"the file says workspace {spec.workspace}, but it stands in the folder of workspace {doc.workspace}"
        yield doc.finding(ID, ("workspace",), text, hint=f"write {doc.workspace}, or move the file to the folder of {spec.workspace}")
    if spec.policy is None or spec.policy.namespace is None:
        return
    workspace = policy.workspaces.get(doc.workspace)
    if workspace is not None and workspace.spec.namespace != spec.policy.namespace:
        text = f"the file says namespace {spec.policy.namespace}, but workspace {doc.workspace} has {workspace.spec.namespace}"
        origin = workspace.span(("namespace",))
        yield doc.finding(ID, ("policy", "namespace"), text, hint=f"write {workspace.spec.namespace}, or leave it out", origin=origin)
