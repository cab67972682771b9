"""The loop from a commit to the cluster: a source repository, a deploy repository on the Git server, a reconciler that follows it.

In: a plane with Flux or Argo CD. Out: published commits that have arrived. Only the first sync is set up by hand, as an installation
would.
"""

import secrets
import time
from pathlib import Path

import yaml

from tests.e2e import fleet, gitserver, lab, nodes, reconcilers
from tests.e2e.fleet import LAB, Fleet
from tests.e2e.kube import Kube, Object, holds
from tests.e2e.plane import Plane
from tests.gitkit import git

KUSTOMIZATION = "kustomize.toolkit.fluxcd.io/v1/Kustomization"
SOURCE = "source.toolkit.fluxcd.io/v1/GitRepository"
ASK = "reconcile.fluxcd.io/requestedAt"


class Loop:
    """Sources at `fleet`, deploy branch at `bare`."""

    def __init__(self, folder: Path, plane: Plane, kube: Kube, cluster: str) -> None:
        self.plane, self.kube, self.cluster = plane, kube, cluster
        site = plane.site
        name = f"fleet-{secrets.token_hex(4)}"  # on a plane that stays up the last one's is there
        self.url = f"http://127.0.0.1:{site.port('git')}/{name}.git"
        self.bare = gitserver.create(reconcilers.repositories(site), name)
        self.fleet = Fleet(folder / "sources", LAB, self.url)
        nodes.create(kube, nodes.of_pools(fleet.pools(LAB / "policy", cluster)))

    def write(self, name: str, workspace: str = "red", **more: object) -> str:
        """Commit a run."""
        folder = f"workspaces/{workspace}/{name}"
        text = lab.tau(name, cluster=self.cluster, **more)  # type: ignore[arg-type]
        return self.fleet.commit({f"{folder}/tau.yaml": text, f"{folder}/hello.py": "print('hello')\n"}, f"run {name}")

    def publish(self, *args: str, fails: int = 0) -> str:
        """Publish HEAD over HTTP; returns what the command said."""
        return self.fleet.publish(*args, to=self.url, fails=fails)

    def head(self) -> str:
        """The deploy branch's commit."""
        return git(self.bare, "rev-parse", "deploy")

    def files(self, folder: str) -> list[Object]:
        """The objects below a folder of the deploy branch."""
        names = git(self.bare, "ls-tree", "-r", "--name-only", "deploy", folder).splitlines()
        return [yaml.safe_load(git(self.bare, "show", f"deploy:{name}")) for name in names]

    def object(self, name: str, workspace: str = "red") -> Object:
        """The queued object of a run, as it stands on the deploy branch."""
        for item in self.files(f"clusters/{self.cluster}/runs/{workspace}/"):
            labels = item["metadata"].get("labels", {})
            if labels.get("taugen.dev/name") == name and "kueue.x-k8s.io/queue-name" in labels:
                return item
        raise LookupError(f"no {name} on the deploy branch")


class FluxLoop(Loop):
    """The loop with source-controller and kustomize-controller."""

    def bootstrap(self) -> None:
        """What `flux bootstrap` leaves: one source and one Kustomization, of the gitops folder."""
        self.publish()
        meta = {"name": "root", "namespace": reconcilers.FLUX}
        source = {"url": self.url, "ref": {"branch": "deploy"}, "interval": "1h"}
        self.kube.apply({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": meta, "spec": source})
        spec = {
            "sourceRef": {"kind": "GitRepository", "name": "root"},
            "path": f"./clusters/{self.cluster}/gitops",
            "prune": True,
            "interval": "1h",
            "retryInterval": "2s",
        }
        self.kube.apply({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": meta, "spec": spec})
        self.sync()

    def sync(self, seconds: float = 120) -> None:
        """Ask for the deploy branch's commit and wait until every Kustomization has applied it."""
        head = self.head()
        self._ask(SOURCE, "root")
        self.kube.until(KUSTOMIZATION, "root", reconcilers.FLUX, lambda item: applied(item, head), f"applied {head[:8]}", seconds)
        for item in self.kube.list(SOURCE, reconcilers.FLUX):
            self._ask(SOURCE, item["metadata"]["name"])
        for name in self.kustomizations():
            self.kube.until(KUSTOMIZATION, name, reconcilers.FLUX, lambda item: applied(item, head), f"applied {head[:8]}", seconds)

    def reconcile(self) -> None:
        """Let every Kustomization reconcile once more."""
        for name in self.kustomizations():
            stamp = self._ask(KUSTOMIZATION, name)
            done = lambda item, stamp=stamp: (  # noqa: E731
                item is None or ((item.get("status") or {}).get("lastHandledReconcileAt") == stamp and holds(item, "Ready"))
            )
            self.kube.until(KUSTOMIZATION, name, reconcilers.FLUX, done, "reconciled")

    def kustomizations(self) -> list[str]:
        """Names of all Kustomizations."""
        return [item["metadata"]["name"] for item in self.kube.list(KUSTOMIZATION, reconcilers.FLUX)]

    def _ask(self, kind: str, name: str) -> str:
        stamp = f"{time.time():.6f}"
        self.kube.note(kind, name, reconcilers.FLUX, ASK, stamp)
        return stamp


def applied(item: Object | None, head: str) -> bool:
    """Whether a Kustomization has applied a commit and is Ready, or is gone: one that leaves is there until all that it made is."""
    return item is None or bool(head in (item.get("status") or {}).get("lastAppliedRevision", "") and holds(item, "Ready"))


APPLICATION = "argoproj.io/v1alpha1/Application"


class ArgoLoop(Loop):
    """The loop with Argo CD's application controller and repository server."""

    def bootstrap(self) -> None:
        """What an installation has: the default project, taugen's health rules, one Application of the gitops folder."""
        self.publish()
        everything = {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}
        project = everything | {"clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}
        meta = {"name": "default", "namespace": reconcilers.ARGO}
        self.kube.apply({"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": meta, "spec": project})
        for item in self.files(f"clusters/{self.cluster}/bootstrap/"):
            self.kube.apply(item, manager="taugen-health")
        spec = {
            "project": "default",
            "source": {"repoURL": self.url, "targetRevision": "deploy", "path": f"clusters/{self.cluster}/gitops"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": reconcilers.ARGO},
            "syncPolicy": {"automated": {"prune": True, "selfHeal": True}, "syncOptions": ["ServerSideApply=true"]},
        }
        root = {"name": "root", "namespace": reconcilers.ARGO}
        self.kube.apply({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": root, "spec": spec})
        self.sync(240)

    def sync(self, seconds: float = 120) -> None:
        """Ask for the deploy branch's commit and wait until every Application is Synced with it."""
        head = self.head()
        self.refresh("root")
        self.kube.until(APPLICATION, "root", reconcilers.ARGO, lambda item: synced(item, head), f"Synced {head[:8]}", seconds)
        for name in self.applications():
            self.refresh(name)
        for name in self.applications():
            self.kube.until(APPLICATION, name, reconcilers.ARGO, lambda item: synced(item, head), f"Synced {head[:8]}", seconds)

    def reconcile(self) -> None:
        """Let every Application be compared once more, and healed if need be."""
        for name in self.applications():
            self.refresh(name)
        for name in self.applications():
            compared = lambda item: item is None or "argocd.argoproj.io/refresh" not in item["metadata"].get("annotations", {})  # noqa: E731
            self.kube.until(APPLICATION, name, reconcilers.ARGO, compared, "compared")

    def refresh(self, name: str) -> None:
        """Ask for a comparison with the branch as it is now."""
        self.kube.note(APPLICATION, name, reconcilers.ARGO, "argocd.argoproj.io/refresh", "normal")

    def applications(self) -> list[str]:
        """Names of all Applications."""
        return [item["metadata"]["name"] for item in self.kube.list(APPLICATION, reconcilers.ARGO)]

    def health(self, workspace: str, item: Object, wanted: str, seconds: float = 60) -> None:
        """Wait until a run's Application tells a health of its object."""
        name = f"taugen-{self.cluster}-runs-{workspace}"
        self.refresh(name)
        self.kube.until(
            APPLICATION, name, reconcilers.ARGO, lambda app: told(app, item) == wanted, f"{item['metadata']['name']} {wanted}", seconds
        )


def synced(item: Object | None, head: str) -> bool:
    """Whether an Application stands at a commit and its last operation is over, or is gone."""
    if item is None:
        return True
    status = item.get("status") or {}
    sync = status.get("sync", {})
    return bool(
        sync.get("status") == "Synced" and sync.get("revision") == head and (status.get("operationState") or {}).get("phase") != "Running"
    )


def told(application: Object | None, item: Object) -> str:
    """The health that an Application tells of an object."""
    for entry in ((application or {}).get("status") or {}).get("resources", ()):
        if entry["kind"] == item["kind"] and entry["name"] == item["metadata"]["name"]:
            return str((entry.get("health") or {}).get("status", ""))
    return ""
