"""What a component's module ships, applied to a plane: CRDs, webhook configurations, roles, accounts.

In: the module's objects. Out: objects in the cluster whose webhooks are reached on loopback, at a port of ours, with our authority's
certificate. Programs (Deployments), Services and aggregated APIs are left out: the program runs as a process.
"""

import base64
from collections.abc import Iterable
from pathlib import Path

from tests.e2e.kube import Kube, Object, Refused, holds

LEFT_OUT = {"Deployment", "StatefulSet", "DaemonSet", "Service", "APIService", "NetworkPolicy", "ServiceMonitor", "Stage"}
FIRST = ("Namespace", "CustomResourceDefinition")


def apply(kube: Kube, objects: Iterable[Object], hook_port: int, authority: Path, namespace: str = "") -> None:
    """Apply a module's objects, CRDs first, and wait until the CRDs are served. `namespace` is for those that name none."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    chosen = [item for item in objects if item["kind"] not in LEFT_OUT]
    for item in sorted(chosen, key=lambda item: FIRST.index(item["kind"]) if item["kind"] in FIRST else len(FIRST)):
        reach(item, hook_port, bundle)
        if namespace and item["kind"] in {"ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Secret"}:
            item["metadata"].setdefault("namespace", namespace)
        item.pop("status", None)
        _make(kube, item)
    for item in chosen:
        if item["kind"] == "CustomResourceDefinition":
            established(kube, item["metadata"]["name"])


def _make(kube: Kube, item: Object) -> None:
    """POST is the cheaper half of server-side apply, which is left for what exists already."""
    try:
        kube.create(item)
    except Refused as refused:
        if refused.code != 409:
            raise
        kube.apply(item, manager="e2e-install")


def established(kube: Kube, name: str) -> None:
    """Wait until a CRD is served."""
    kube.until("apiextensions.k8s.io/v1/CustomResourceDefinition", name, "", lambda item: holds(item, "Established"), "Established")


def reach(item: Object, port: int, bundle: str) -> None:
    """Rewrite each client configuration of webhooks, conversion among them, to our address."""
    if item["kind"] in {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}:
        for hook in item["webhooks"]:
            hook["clientConfig"] = _client(hook["clientConfig"], port, bundle)
    elif item["kind"] == "CustomResourceDefinition":
        hook = (item["spec"].get("conversion") or {}).get("webhook")
        if hook:
            hook["clientConfig"] = _client(hook["clientConfig"], port, bundle)


def ensure_namespace(kube: Kube, name: str) -> None:
    """Create a namespace unless it exists."""
    try:
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    except Refused as refused:
        if refused.code != 409:
            raise


def _client(config: Object, port: int, bundle: str) -> Object:
    path = (config.get("service") or {}).get("path", "")
    return {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
