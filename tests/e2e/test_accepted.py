"""Every object that the compiler makes of the shipped fleet and of the tests' own is accepted, webhooks included, and applying it again
changes nothing.
"""

import json
from pathlib import Path

import pytest

from tests.e2e import build, install, nodes, runs
from tests.e2e.fleet import ACME, Fleet, of_kinds, pools, read
from tests.e2e.kube import Kube, Object, Refused, condition
from tests.e2e.plane import Plane
from tests.e2e.processes import ROOT

WITH = ("jobset", "kuberay", "kueue")
MANAGERS = {"fjord": "argocd-controller", "mesa": "kustomize-controller"}
# What a reconciler leaves alone once it exists: Kueue and KubeRay write into it (the rendered annotation and ignoreDifferences say so).
ONCE = ("RayJob",)


def trees() -> list[tuple[str, str, Path | None]]:
    """(name, cluster, deploy tree; None: rendered from acme)."""
    return [
        (f"{source}-{cluster}", cluster, ROOT / "clusters" / cluster if source == "examples" else None)
        for source in ("examples", "acme")
        for cluster in MANAGERS
    ]


@pytest.fixture(scope="module", autouse=True)
def _kinds_of_the_reconcilers(plane: Plane, kube: Kube) -> None:
    """The CRDs of Flux and Argo CD; their programs are not needed to accept an object."""
    for name in ("source-controller", "kustomize-controller", "argocd"):
        crds = of_kinds(build.objects(name), "CustomResourceDefinition")
        install.apply(kube, crds, 0, plane.site.certs.authority)
    for namespace in ("flux-system", "argocd"):
        install.ensure_namespace(kube, namespace)


@pytest.mark.parametrize(("name", "cluster", "folder"), trees(), ids=[name for name, *_ in trees()])
def test_a_deploy_tree_is_accepted_and_stays_as_it_was_applied(kube: Kube, tmp_path: Path, name: str, cluster: str, folder: Path | None):
    objects = read(folder) if folder else Fleet(tmp_path / "acme", ACME).render(cluster)
    manager = MANAGERS[cluster]
    policy = (ROOT / "examples" if folder else ACME) / "policy"
    nodes.create(kube, nodes.of_pools(pools(policy, cluster), prefix=f"{name}-"))
    refused = apply_all(kube, objects, manager)
    assert not refused, "\n".join(refused)
    for item in of_kinds(objects, "Job", "JobSet"):
        decided(kube, item)
    changed = [
        f"{place(item)}: {difference}" for item in objects if item["kind"] not in ONCE and (difference := reapply(kube, item, manager))
    ]
    assert not changed, "\n".join(changed)


def test_the_webhooks_were_called(kube: Kube):
    calls = [line for line in kube.request("GET", "/metrics").splitlines() if line.startswith("apiserver_admission_webhook_request_total")]
    names = {
        part.partition('"')[2].partition('"')[0] for line in calls for part in line.split(",") if part.partition("=")[0].endswith("name")
    }
    assert {"mjob.kb.io", "vclusterqueue.kb.io", "vresourceflavor.kb.io", "mjobset.kb.io"} <= names, names


def decided(kube: Kube, item: Object) -> None:
    """Wait until Kueue has looked at a run: whatever it writes into admitted objects then stands there."""
    workload = runs.workload(kube, item)
    kube.until(
        runs.WORKLOAD,
        workload["metadata"]["name"],
        item["metadata"]["namespace"],
        lambda found: condition(found, "QuotaReserved"),
        "considered",
    )


def apply_all(kube: Kube, objects: list[Object], manager: str) -> list[str]:
    """Refusals, with the server's words."""
    refused = []
    for item in objects:
        try:
            kube.apply(item, manager=manager)
        except Refused as error:
            refused.append(f"{place(item)}: {error}")
    return refused


def reapply(kube: Kube, item: Object, manager: str) -> str:
    """What a second apply changes; empty when nothing. Another look tells the controllers' own changes from ours."""
    kind, name, namespace = f"{item['apiVersion']}/{item['kind']}", item["metadata"]["name"], item["metadata"].get("namespace", "")
    for _ in range(2):
        before = seen(kube.get(kind, name, namespace) or {}, manager)
        try:
            after = seen(kube.apply(item, manager=manager), manager)
        except Refused as error:
            return str(error)
        if before == after:
            return ""
    return "\n".join(f"  {key}: {json.dumps(before[key])} -> {json.dumps(after[key])}" for key in before if before[key] != after[key])


def seen(item: Object, manager: str) -> Object:
    """What an apply may change in an object."""
    meta = item["metadata"]
    owned = [
        entry.get("fieldsV1") for entry in meta.get("managedFields", ()) if entry["manager"] == manager and entry["operation"] == "Apply"
    ]
    rest = {key: value for key, value in item.items() if key not in {"metadata", "status"}}
    return rest | {
        "generation": meta.get("generation"),
        "labels": meta.get("labels"),
        "annotations": meta.get("annotations"),
        "owned": owned,
    }


def place(item: Object) -> str:
    """Kind and name."""
    return f"{item['kind']} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}"
