"""The lab: a fleet with small quotas, its nodes, and runs written by a few words.

In: which profile, kind and queue a run should have. Out: tau.yaml texts that the compiler takes, their rendered objects, applied or
published.
"""

import secrets
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.e2e import fleet, nodes, runs
from tests.e2e.fleet import LAB, Fleet
from tests.e2e.kube import Kube, Object

FLUX, ARGO = "north", "south"
RECONCILERS = ("flux-system", "argocd")
"""Namespaces whose objects need programs that a lab has not."""
# In a plane that stays up the same run would have ended long ago: each start of the tests writes its own.
SALT = secrets.token_hex(4)


def tau(name: str, profile: str = "cpu", kind: str = "job", cluster: str = FLUX, seconds: float = 2, exits: int = 0, **more: object) -> str:
    """A run whose pods end after `seconds` with code `exits`. `more` are further sections; `policy` and `runtime` are merged."""
    document = {
        "name": name,
        "run": {"entrypoint": "hello.py", "workload_kind": kind} | dict(more.pop("run", {})),  # type: ignore[call-overload]
        "policy": {"profile": profile, "cluster": cluster} | dict(more.pop("policy", {})),  # type: ignore[call-overload]
        "runtime": {"env": {"E2E_SECONDS": f"{seconds}s", "E2E_EXIT": str(exits), "E2E_SALT": SALT}} | dict(more.pop("runtime", {})),  # type: ignore[call-overload]
    }
    return yaml.safe_dump(document | more, sort_keys=False)


class Lab:
    """A fleet repository whose runs are applied one by one, as a reconciler would."""

    def __init__(self, folder: Path, kube: Kube, cluster: str = FLUX) -> None:
        self.fleet = Fleet(folder, LAB)
        self.kube = kube
        self.cluster = cluster
        self.applied: list[Object] = []
        self.rendered: dict[str, list[Object]] = {}
        nodes.create(kube, nodes.of_pools(fleet.pools(LAB / "policy", cluster)))
        self.edit(lambda document: None)

    def edit(self, change: Callable[[Object], None]) -> None:
        """Let `change` have every document of policy, commit what it left, apply the platform and no run."""
        files = {}
        for file in sorted((self.fleet.path / "policy").glob("*.yaml")):
            documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
            for document in documents:
                change(document)
            files[f"policy/{file.name}"] = yaml.safe_dump_all(documents, sort_keys=False)
        self.fleet.commit(files, "policy")
        for item in self.fleet.render(self.cluster):
            if item["metadata"].get("namespace") not in RECONCILERS and "taugen.dev/run" not in item["metadata"].get("labels", {}):
                self.kube.apply(item, manager="kustomize-controller")

    def quota(self, queue: str, flavor: str, **change: object) -> None:
        """Edit a queue's quota of GPUs of a flavor: nominal, borrow, lend."""

        def edit(document: Object) -> None:
            if document["kind"] == "Queue" and document["metadata"]["name"] == queue:
                for entry in document["spec"]["quotas"]:
                    if entry["flavor"] == flavor:
                        entry["resources"]["nvidia.com/gpu"].update(change)

        self.edit(edit)

    def set(self, kind: str, name: str, **fields: object) -> None:
        """Edit fields of the spec of one document of policy."""

        def edit(document: Object) -> None:
            if document["kind"] == kind and document["metadata"]["name"] == name:
                document["spec"].update(fields)

        self.edit(edit)

    def submit(self, name: str, profile: str = "cpu", workspace: str = "red", **more: object) -> Object:
        """Write a run, render it, apply its objects; returns the one that Kueue queues. Its document goes at once: no later edit of policy
        is held against it, as none is against what is published."""
        files = {"hello.py": "print('hello')\n"} | dict(more.pop("files", {}))  # type: ignore[call-overload]
        files["tau.yaml"] = tau(name, profile, cluster=self.cluster, **more)  # type: ignore[arg-type]
        written = {f"workspaces/{workspace}/{name}/{file}": text for file, text in files.items()}
        self.fleet.commit(written)
        try:
            objects = [item for item in yaml.safe_load_all(self.fleet.taugen("render", "-o", "-", f"{workspace}/{name}")) if item]
        finally:
            self.fleet.commit(dict.fromkeys(written))
        self.rendered[name] = objects
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
