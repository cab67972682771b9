"""The project of a workspace's runs permits its namespace and the run kinds, nothing else.

Argo CD applies with the rights of the whole cluster: only the project keeps a workspace's folder from holding another's objects, or
cluster-scoped ones.

Breaks:

    target: {kind: AppProject, name: taugen-fjord-runs-speech}
    patch:
      spec: {namespaceResourceWhitelist: [{group: "*", kind: "*"}]}

Mends:

    target: {kind: AppProject, name: taugen-fjord-runs-speech}
    patch:
      spec: {namespaceResourceWhitelist: [{group: batch, kind: Job}, {group: "", kind: ConfigMap}]}

Source: Argo CD docs/user-guide/projects.md
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render import meta
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import cluster, finding, items, mapping
from taugen.words import at

ID = "argocd-project"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    projects = {(cluster(item), item.name): item for item in objects if item.kind == "AppProject"}
    for app in objects:
        if app.kind != "Application" or "/runs/" not in str(at(app.obj, "spec", "source", "path")):
            continue
        name = str(at(app.obj, "spec", "project"))
        project = projects.get((cluster(app), name))
        if project is None:
            yield finding(ID, app, f"its project {name} is not rendered, so nothing holds it to its namespace")
            continue
        workspace = policy.workspaces.get(str(at(app.obj, "metadata", "labels", meta.WORKSPACE)))
        for message in _project(project, workspace.spec.namespace if workspace else ""):
            yield finding(ID, project, message)


def _project(project: Rendered, namespace: str) -> Iterator[str]:
    spaces = {str(mapping(d).get("namespace")) for d in items(at(project.obj, "spec", "destinations"))}
    if spaces != {namespace}:
        yield f"it permits the namespaces {', '.join(sorted(spaces)) or 'of all'}, but the runs are in {namespace}"
    permitted = items(at(project.obj, "spec", "namespaceResourceWhitelist"))
    kinds = {(str(mapping(k).get("group")), str(mapping(k).get("kind"))) for k in permitted}
    foreign = sorted(kind for group, kind in kinds - set(meta.RUN_KINDS))
    if foreign or not kinds:
        yield f"it permits {', '.join(foreign) or 'every kind'}, and runs consist of {', '.join(kind for _, kind in meta.RUN_KINDS)}"
    if items(at(project.obj, "spec", "clusterResourceWhitelist")):
        yield "it permits cluster-scoped kinds"
