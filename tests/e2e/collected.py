"""Evidence of a loop: a repository of it, and the two commands that write it and act on it, run as a user runs them.

In: a loop whose first sync is still to come. Out: commits on the evidence branch, and on the deploy branch what follows from them.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e import fleet, gitserver, lab, nodes, reconcilers, trainer
from tests.e2e.kube import Kube
from tests.e2e.loop import ArgoLoop, FluxLoop, Loop
from tests.e2e.plane import Plane
from tests.gitkit import git


class Evidence:
    """The loop with a repository of evidence, and the two commands that close it."""

    def __init__(self, folder: Path, loop: Loop) -> None:
        self.folder, self.loop = folder, loop
        site = loop.plane.site
        name = f"evidence-{lab.SALT}"
        self.bare = gitserver.create(reconcilers.repositories(site), name)
        self.url = f"http://127.0.0.1:{site.port('git')}/{name}.git"
        self.claim = folder / "claim"
        self.claim.mkdir(parents=True)
        project = (loop.fleet.path / "taugen.yaml").read_text(encoding="utf-8")
        assert "evidence:" not in project
        with_evidence = f'{project.rstrip()}\n  evidence: {{url: "{self.url}"}}\n'
        spaces = (loop.fleet.path / "policy/workspaces.yaml").read_text(encoding="utf-8")
        spaces = spaces.replace("  namespace: lab-red\n", "  namespace: lab-red\n  storage: [ckpt]\n")
        loop.fleet.commit(
            {"policy/storage.yaml": trainer.STORAGE, "policy/workspaces.yaml": spaces, "taugen.yaml": with_evidence}, "evidence"
        )

    def collect(self) -> str:
        """Look once; what the command said."""
        options = ("--cluster", self.loop.cluster, "--once", "--kubeconfig", self.loop.plane.kubeconfig())
        places = ("--folder", str(self.folder / "collector"), "--deploy", self.loop.url, "--mount", f"lab-red/ckpt={self.claim}")
        return self.loop.fleet.taugen("collect", *options, *places)

    def advance(self) -> str:
        """Act on it, and let the reconciler apply what follows."""
        said = self.loop.fleet.taugen("advance", "--to", self.loop.url)
        self.loop.sync()
        return said

    def files(self) -> list[str]:
        """Names of all files of evidence."""
        return git(self.bare, "ls-tree", "-r", "--name-only", "evidence").splitlines()


def bind(kube: Kube) -> None:
    """A volume for the claim of the checkpoints, without which no pod gets a node."""
    claim = kube.get("v1/PersistentVolumeClaim", "ckpt", "lab-red")
    assert claim
    nodes.bind(kube, [claim])


@contextmanager
def rebuilt(loop: FluxLoop | ArgoLoop, parts: tuple[str, ...], folder: Path) -> Iterator[Kube]:
    """A plane of its own, empty at first, that has synced what the loop's deploy branch holds, as where a cluster's state was lost."""
    plane = Plane(folder)
    plane.up(parts, owned=True)
    try:
        with plane.kube() as kube:
            again = copy.copy(loop)
            again.plane, again.kube = plane, kube
            nodes.create(kube, nodes.of_pools(fleet.pools(fleet.LAB / "policy", loop.cluster)))
            again.bootstrap()
            yield kube
    finally:
        plane.down()


def names(kube: Kube) -> set[str]:
    """The names of the runs whose Jobs stand in the workspace."""
    return {job["metadata"]["labels"].get("taugen.dev/name") for job in kube.list("batch/v1/Job", "lab-red")}
