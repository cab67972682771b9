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


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    configmaps = {item.name for item in objects if item.kind == "ConfigMap"}
    for pod in _pods.pods(objects):
        workspace = _pods.workspace_of(pod.item, policy)
        if workspace is None:
            continue
        known = {"secret": frozenset(workspace.spec.secrets), "claim": _claims(workspace, policy), "ConfigMap": frozenset(configmaps)}
        for what, path, name in _references(pod):
            if name not in known[what]:
                yield _unknown(pod, path, what, name, workspace)
        account, identity = pod.spec.get("serviceAccountName"), workspace.spec.identity
        if account is not None and (identity is None or account != identity.serviceAccount):
            message = f"the service account {account} is not that of workspace {workspace.name}"
            yield pod.finding(ID, ("spec", "serviceAccountName"), message, origin=_origin(workspace, "identity"))


def _claims(workspace: Item[Workspace], policy: Policy) -> frozenset[str]:
    storages = [policy.storages[name] for name in workspace.spec.storage if name in policy.storages]
    return frozenset(s.spec.claim.existing or s.name for s in storages if workspace.name in s.spec.workspaces)


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
    for at, entry in enumerate(_pods.sequence(pod.spec.get("imagePullSecrets"))):
        yield "secret", ("spec", "imagePullSecrets", at, "name"), _pods.mapping(entry).get("name")
    for at, entry in enumerate(_pods.sequence(pod.spec.get("volumes"))):
        yield from _volume(("spec", "volumes", at), _pods.mapping(entry))
    for path, container in pod.containers():
        below = path[len(pod.path) :]
        for at, entry in enumerate(_pods.sequence(container.get("env"))):
            source = _pods.mapping(_pods.mapping(entry).get("valueFrom"))
            if source:
                yield from _named((*below, "env", at, "valueFrom"), source, "secretKeyRef", "configMapKeyRef")
        for at, entry in enumerate(_pods.sequence(container.get("envFrom"))):
            yield from _named((*below, "envFrom", at), _pods.mapping(entry), "secretRef", "configMapRef")


def _volume(path: Path, volume: Object) -> Iterator[tuple[str, Path, Json]]:
    if "secret" in volume:
        yield "secret", (*path, "secret", "secretName"), _pods.mapping(volume["secret"]).get("secretName")
    if "configMap" in volume:
        yield "ConfigMap", (*path, "configMap", "name"), _pods.mapping(volume["configMap"]).get("name")
    if "persistentVolumeClaim" in volume:
        yield "claim", (*path, "persistentVolumeClaim", "claimName"), _pods.mapping(volume["persistentVolumeClaim"]).get("claimName")
    for at, source in enumerate(_pods.sequence(_pods.mapping(volume.get("projected")).get("sources"))):
        yield from _named((*path, "projected", "sources", at), _pods.mapping(source), "secret", "configMap")


def _named(path: Path, source: Object, secret: str, configmap: str) -> Iterator[tuple[str, Path, Json]]:
    for field, what in ((secret, "secret"), (configmap, "ConfigMap")):
        if field in source:
            yield what, (*path, field, "name"), _pods.mapping(source[field]).get("name")
