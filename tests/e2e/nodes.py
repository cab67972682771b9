"""Simulated nodes, and how long pods run on them.

In: node pools of a Cluster document. Out: Node objects that kwok keeps ready, volumes for claims, and kwok's stages: a pod of a Job
ends after the time and with the exit code that its first container's environment says (E2E_SECONDS, E2E_EXIT), by default after two
seconds with 0. Nothing in a pod is ever executed.
"""

import copy
from collections.abc import Iterable
from typing import Any

from tests.e2e import build
from tests.e2e.kube import Kube, Object

DEFAULT = 2000  # milliseconds
SUBMITTER, FIRST = "ray-job-submitter", ".spec.containers.[0].name"
HELD, RELEASE = "held-", "e2e.taugen.dev/release"
"""The submitter of a RayJob whose name begins with `held-` ends once its pod has the annotation."""
ENV = '.spec.containers.[0].env.[] | select( .name == "%s" ) | .value'
# What a pod of a Job says when it ends.
COMPLETE = """
{{ $now := Now }}
{{ $root := . }}
{{ $code := "0" }}
{{ range (index .spec.containers 0).env }}{{ if eq .name "E2E_EXIT" }}{{ $code = .value }}{{ end }}{{ end }}
containerStatuses:
{{ range $index, $item := .spec.containers }}
- image: {{ $item.image | Quote }}
  name: {{ $item.name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: {{ $code }}
      finishedAt: {{ $now | Quote }}
      reason: {{ if eq $code "0" }}Completed{{ else }}Error{{ end }}
      startedAt: {{ $now | Quote }}
{{ end }}
phase: {{ if eq $code "0" }}Succeeded{{ else }}Failed{{ end }}
"""


def stages() -> list[Object]:
    """kwok's own stages, that of completed pods replaced."""
    found = [item for item in build.objects("kwok") if item["kind"] == "Stage"]
    complete = next(item for item in found if item["metadata"]["name"] == "pod-complete")
    complete["spec"]["next"] = {"statusTemplate": COMPLETE}
    submitter = [copy.deepcopy(complete) for _ in range(2)]
    complete["spec"]["delay"] = {"durationMilliseconds": DEFAULT, "durationFrom": {"expressionFrom": ENV % "E2E_SECONDS"}}
    _wants(complete, FIRST, "NotIn", SUBMITTER)
    # A submitter follows its job and ends with it: KubeRay fails a job that goes on 30 s after its submitter has ended.
    for item, name in zip(submitter, ("submitter-complete", "submitter-released"), strict=True):
        item["metadata"]["name"] = name
        _wants(item, FIRST, "In", SUBMITTER)
    submitter[0]["spec"]["delay"] = {"durationMilliseconds": 5000}
    _wants(submitter[0], f'.metadata.name | startswith("{HELD}")', "NotIn", "true")
    _wants(submitter[1], f'.metadata.annotations["{RELEASE}"]', "In", "true")
    return [*found, *submitter]


def _wants(stage: Object, key: str, operator: str, value: str) -> None:
    stage["spec"]["selector"]["matchExpressions"].append({"key": key, "operator": operator, "values": [value]})


def node(name: str, labels: dict[str, str], allocatable: dict[str, str], taints: list[Object]) -> Object:
    """A Node as a kubelet would register it."""
    amounts = {"pods": "110", "ephemeral-storage": "1Ti"} | allocatable
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"} | labels,
        },
        "spec": {"taints": taints},
        "status": {"allocatable": amounts, "capacity": amounts, "phase": "Running", "conditions": []},
    }


def of_pools(pools: Iterable[dict[str, Any]], prefix: str = "") -> list[Object]:
    """The nodes of a Cluster document's `spec.nodePools`."""
    found: list[Object] = []
    for pool in pools:
        amounts = {key: str(value) for key, value in pool["allocatable"].items()}
        labels, taints = dict(pool.get("labels", {})), list(pool.get("taints", []))
        found += [node(f"{prefix}{pool['name']}-{number}", labels, amounts, taints) for number in range(pool["count"])]
    return found


def create(kube: Kube, nodes: Iterable[Object]) -> int:
    """Create nodes and wait until kwok calls the last one ready; returns their number."""
    names = []
    for item in nodes:
        name = item["metadata"]["name"]
        if not kube.get("v1/Node", name):
            kube.create(item)
            names.append(name)
    for name in names:
        kube.until("v1/Node", name, "", _ready, "Ready")
    return len(names)


def bind(kube: Kube, claims: Iterable[Object]) -> None:
    """A volume for each claim, as a storage class would make it."""
    for claim in claims:
        meta = claim["metadata"]
        spec = claim["spec"]
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"{meta['namespace']}-{meta['name']}"},
            "spec": {
                "capacity": spec["resources"]["requests"],
                "accessModes": spec["accessModes"],
                "storageClassName": spec.get("storageClassName", ""),
                "hostPath": {"path": "/e2e"},
                "claimRef": {"namespace": meta["namespace"], "name": meta["name"]},
            },
        }
        kube.apply(volume)
        kube.until(
            "v1/PersistentVolumeClaim",
            meta["name"],
            meta["namespace"],
            lambda item: item and (item.get("status") or {}).get("phase") == "Bound",
            "Bound",
        )


def _ready(item: Object | None) -> bool:
    conditions = ((item or {}).get("status") or {}).get("conditions") or []
    taints = ((item or {}).get("spec") or {}).get("taints") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions) and not any(
        t["key"] == "node.kubernetes.io/not-ready" for t in taints
    )
