"""A run refers only to what its workspace owns: secrets, claims, service account, its own ConfigMap.

A name that does not exist keeps the pods pending with their quota held; one of somebody else's, where the namespace has it, would give the
run what nobody granted.

Breaks:

    target: {kind: PodTemplate, labelSelector: taugen.dev/workspace=speech}
    patch: {spec: {imagePullSecrets: [{name: registry-login}]}}

Mends:

    target: {kind: PodTemplate, labelSelector: taugen.dev/workspace=speech}
    patch: {spec: {imagePullSecrets: [{name: tracker}]}}

Source: Kubernetes docs, Secrets and Volumes (references within a namespace)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic, Span
from taugen.policy.model import Workspace
from taugen.policy.set import Item, Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.words import Json, Path

ID = "own-references"
VOLUMES = {
    "configMap": ("ConfigMap", "name"),
    "persistentVolumeClaim": ("claim", "claimName"),
    "secret": ("secret", "secretName"),
    "projected": ("", ""),
}
"""Kinds of volumes that refer to an object: which, and in which field."""


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    known = _pods.known(policy)
    configmaps = {item.name for item in objects if item.kind == "ConfigMap"}
    for pod in _pods.pods(objects):
        workspace = known.workspace(pod.item)
        if workspace is None:
            continue
        granted = {"secret": workspace.spec.secrets, "claim": known.claims[workspace.name], "ConfigMap": configmaps}
        for what, path, name in _references(pod):
            if name not in granted[what]:
                yield _unknown(pod, path, what, name, workspace)
        account, identity = pod.spec.get("serviceAccountName"), workspace.spec.identity
        if account is not None and (identity is None or account != identity.serviceAccount):
            message = f"the service account {account} is not that of workspace {workspace.name}"
            yield pod.finding(ID, ("spec", "serviceAccountName"), message, origin=_origin(workspace, "identity"))


def _unknown(pod: Pod, path: Path, what: str, name: Json, workspace: Item[Workspace]) -> Diagnostic:
    if what == "ConfigMap":
        return pod.finding(ID, path, f"the ConfigMap {name} is not delivered with the run")
    field = "secrets" if what == "secret" else "storage"
    hint = f"list it under {field} of Workspace {workspace.name}, or do not refer to it"
    return pod.finding(ID, path, f"the {what} {name} is none of workspace {workspace.name}", hint, _origin(workspace, field))


def _origin(workspace: Item[Workspace], field: str) -> Span:
    return workspace.span((field,), key=True)


def _references(pod: Pod) -> Iterator[tuple[str, Path, Json]]:
    """(kind, path below the template, name) of everything that the pod refers to by name."""
    spec = pod.spec
    for at, entry in enumerate(_pods.sequence(spec.get("imagePullSecrets"))):
        yield "secret", ("spec", "imagePullSecrets", at, "name"), _pods.mapping(entry).get("name")
    for at, entry in enumerate(_pods.sequence(spec.get("volumes"))):
        volume = _pods.mapping(entry)
        for kind in VOLUMES:
            if kind in volume:
                yield from _volume(("spec", "volumes", at, kind), kind, _pods.mapping(volume[kind]))
    for path, container in pod.containers:
        for at, entry in enumerate(_pods.sequence(container.get("env"))):
            if isinstance(entry, dict) and "valueFrom" in entry:
                yield from _named((*path, "env", at, "valueFrom"), _pods.mapping(entry["valueFrom"]), "secretKeyRef", "configMapKeyRef")
        for at, entry in enumerate(_pods.sequence(container.get("envFrom"))):
            yield from _named((*path, "envFrom", at), _pods.mapping(entry), "secretRef", "configMapRef")


def _volume(path: Path, kind: str, source: Object) -> Iterator[tuple[str, Path, Json]]:
    if kind == "projected":
        for at, value in enumerate(_pods.sequence(source.get("sources"))):
            yield from _named((*path, "sources", at), _pods.mapping(value), "secret", "configMap")
    else:
        what, field = VOLUMES[kind]
        yield what, (*path, field), source.get(field)


def _named(path: Path, source: Object, secret: str, configmap: str) -> Iterator[tuple[str, Path, Json]]:
    for field, what in ((secret, "secret"), (configmap, "ConfigMap")):
        if field in source:
            yield what, (*path, field, "name"), _pods.mapping(source[field]).get("name")
