"""The lab: a fleet with small quotas, its nodes, and runs written by a few words.

In: which profile, kind and queue a run should have. Out: tau.yaml texts that the compiler takes, their rendered objects, applied or
published.
"""

import secrets
from pathlib import Path

import yaml

from tests.e2e import fleet, nodes, runs
from tests.e2e.fleet import LAB, Fleet
from tests.e2e.kube import Kube, Object

FLUX, ARGO = "north", "south"
# In a plane that stays up the same run would have ended long ago: each start of the tests writes its own.
SALT = secrets.token_hex(4)


def tau(name: str, profile: str = "cpu", kind: str = "job", cluster: str = FLUX, seconds: float = 2, exits: int = 0, **more: object) -> str:
    """A run whose pods end after `seconds` with code `exits`. `more` are further sections; `policy` and `runtime` are merged."""
    document = {
        "name": name,
        "run": {"entrypoint": "hello.py", "workload_kind": kind} | dict(more.pop("run", {})),  # type: ignore[call-overload]
        "policy": {"profile": profile, "cluster": cluster} | dict(more.pop("policy", {})),  # type: ignore[call-overload]
        "runtime": {"env": {"E2E_SECONDS": f"{seconds}s", "E2E_EXIT": str(exits), "E2E_SALT": SALT}},
    }
    return yaml.safe_dump(document | more, sort_keys=False)


class Lab:
    """A fleet repository whose runs are applied one by one, as a reconciler would."""

    def __init__(self, folder: Path, kube: Kube, cluster: str = FLUX) -> None:
        self.fleet = Fleet(folder, LAB)
        self.kube = kube
        self.cluster = cluster
        nodes.create(kube, nodes.of_pools(fleet.pools(LAB / "policy", cluster)))
        for item in self.fleet.render(cluster):
            if item["metadata"].get("namespace") not in {"flux-system", "argocd"} and item["kind"] not in {"Job"}:
                kube.apply(item, manager="kustomize-controller")
        self.applied: list[Object] = []

    def submit(self, name: str, profile: str = "cpu", workspace: str = "red", **more: object) -> Object:
        """Write a run, render it, apply its objects; returns the one that Kueue queues."""
        text = tau(name, profile, cluster=self.cluster, **more)  # type: ignore[arg-type]
        self.fleet.commit({f"workspaces/{workspace}/{name}/tau.yaml": text, f"workspaces/{workspace}/{name}/hello.py": "print('hello')\n"})
        objects = [item for item in yaml.safe_load_all(self.fleet.taugen("render", "-o", "-", f"{workspace}/{name}")) if item]
        for item in fleet.ordered(objects):
            self.kube.apply(item, manager="kustomize-controller")
        queued = next(item for item in objects if "kueue.x-k8s.io/queue-name" in item["metadata"].get("labels", {}))
        self.applied.append(queued)
        return queued

    def clear(self) -> None:
        """Delete every run, so that the next test finds all quota free."""
        for item in self.applied:
            self.kube.delete(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"])
        for item in self.applied:
            self.kube.until(
                runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"], lambda found: found is None, "deleted"
            )
        self.applied = []
