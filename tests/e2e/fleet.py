"""A GitOps repository of a test, and what the compiler makes of it.

In: a folder of sources, the address of the deploy repository. Out: commits, published branches, rendered objects. The compiler is run
as a user would run it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from tests.e2e.kube import Object
from tests.e2e.processes import ROOT
from tests.gitkit import commit, git

LAB = Path(__file__).with_name("lab")
ACME = ROOT / "tests" / "fixtures" / "acme"
ADDRESSES = (
    "https://git.lab.example/fleet.git",
    "https://git.tern.example/platform/fleet.git",
    "https://git.meridian.example/platform/fleet.git",
)
# Objects that are applied before others, as both reconcilers order them.
FIRST = (
    "Namespace",
    "Topology",
    "ResourceFlavor",
    "WorkloadPriorityClass",
    "Cohort",
    "ClusterQueue",
    "ServiceAccount",
    "LocalQueue",
    "Role",
    "ConfigMap",
    "Service",
)


class Fleet:
    """The repository at `path`."""

    def __init__(self, path: Path, source: Path, url: str = "") -> None:
        self.path = path
        shutil.copytree(source, path, symlinks=False, ignore=shutil.ignore_patterns(".git", ".taugen"))
        for file in path.rglob("*.y*ml"):
            text = file.read_text(encoding="utf-8")
            for address in ADDRESSES:
                text = text.replace(address, url or address)
            file.write_text(text, encoding="utf-8")
        git(path, "init", "-q")
        self.seconds = 0
        self.commit({}, "first")

    def commit(self, files: Mapping[str, str | None], message: str = "change") -> str:
        """Write files and commit, each time a minute later; returns the commit's id."""
        self.seconds += 1
        return commit(self.path, dict(files), message, f"2026-03-04T05:{self.seconds // 60:02d}:{self.seconds % 60:02d}+00:00")

    def taugen(self, *args: str, fails: int = 0) -> str:
        """Run the compiler; returns what it said. `fails` is the exit code that is expected."""
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-m", "taugen", *args], cwd=self.path, env=env, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == fails, f"taugen {' '.join(args)} ended with {done.returncode}:\n{said}"
        return said

    def publish(self, *args: str, to: str, fails: int = 0) -> str:
        """Publish HEAD to a repository."""
        return self.taugen("publish", "--to", to, *args, fails=fails)

    def render(self, cluster: str) -> list[Object]:
        """All objects of one cluster, as `taugen render` writes them."""
        out = self.path.parent / f"{self.path.name}-rendered"
        self.taugen("render", "-o", str(out))
        return read(out / "clusters" / cluster)


def read(folder: Path) -> list[Object]:
    """The objects of a deploy tree, in the order in which they can be applied."""
    found = [yaml.load(file.read_bytes(), yaml.CSafeLoader) for file in sorted(folder.rglob("*.yaml"))]
    return ordered(found)


def ordered(objects: Iterable[Object]) -> list[Object]:
    """Namespaces first, queues before what waits in them."""
    return sorted(objects, key=lambda item: FIRST.index(item["kind"]) if item["kind"] in FIRST else len(FIRST))


def of_kinds(objects: Iterable[Object], *kinds: str) -> list[Object]:
    """Those of the kinds."""
    return [item for item in objects if item["kind"] in kinds]


def pools(policy: Path, cluster: str) -> list[Object]:
    """The node pools of a cluster, from its policy document."""
    for file in sorted(policy.rglob("*.y*ml")):
        for item in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if item and item.get("kind") == "Cluster" and item["metadata"]["name"] == cluster:
                return list(item["spec"]["nodePools"])
    raise LookupError(f"no Cluster {cluster} below {policy}")
