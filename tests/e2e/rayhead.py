"""A real Ray, from the package index, in place of the simulated pods of a RayJob.

In: a RayJob that KubeRay has brought up, a folder. Out: a head and a worker that run as processes with the rendered environment,
parameters and files, and the submitter's own command played against them. Paths of the container stand below the folder.
"""

import base64
import hashlib
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from tests.e2e import build, nodes
from tests.e2e.kube import Object
from tests.e2e.plane import Plane
from tests.e2e.processes import say
from tests.render.kubelet import Node, pod_spec

VERSION = "2.51.0"


def environment() -> tuple[Path, str]:
    """(the folder of Ray's programs, why there is none): a virtual environment in the cache, made when it is first needed."""
    home = build.cache() / f"ray-{VERSION}-{sys.version_info[0]}.{sys.version_info[1]}"
    if not (home / "done").exists():
        say(f"installing Ray {VERSION} into {home}")
        shutil.rmtree(home, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", str(home)],
            [str(home / "bin/python"), "-m", "pip", "install", "-q", f"ray[default]=={VERSION}"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return home / "bin", f"Ray {VERSION} can't be installed here: {done.stderr.strip().splitlines()[-1:]}"
        (home / "done").touch()
    return home / "bin", ""


def wheel(folder: Path, name: str, text: str) -> None:
    """A package of one module, for pip to find without an index."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: e2e\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(content.encode())}")
        archive.writestr(f"{info}/RECORD", "\n".join([*lines, f"{info}/RECORD,,"]) + "\n")


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on, from where no kernel takes a client's port: where its own is taken Ray looks for another in silence."""
    found: list[int] = []
    for port in random.sample(range(28000, 32700), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == number:
            return found
    raise RuntimeError("no free ports")


@dataclass
class Cluster:
    """The head and the worker of one RayJob."""

    plane: Plane
    folder: Path
    objects: list[Object]
    programs: Path
    extra: dict[str, str]

    def __post_init__(self) -> None:
        path = f"{self.programs}:/usr/bin:/bin"
        objects = [SimpleNamespace(kind=item["kind"], obj=item) for item in self.objects]
        self.node = Node(self.folder, objects, path, self.extra | {"RAY_USAGE_STATS_ENABLED": "0"})  # type: ignore[arg-type]
        self.gcs, self.port, *self.more = free_ports(8)

    @property
    def spec(self) -> Object:
        """The RayJob's cluster."""
        found: Object = self.node.run["spec"]["rayClusterSpec"]
        return found

    def start(self) -> None:
        """Start head and worker, and wait until the dashboard answers."""
        self.node.mount("head")
        head = self.spec["headGroupSpec"]["rayStartParams"] | {"dashboard-host": "127.0.0.1", "dashboard-port": str(self.port)}
        first = ["--head", f"--port={self.gcs}", f"--temp-dir={self.folder / 't'}", "--ray-client-server-port", str(self.more[0])]
        self._ray("head", [*first, *(f"--{key}={value}" for key, value in head.items())], self.more[1:4])
        self.plane.processes.wait("ray-head", lambda: self.plane.site.answers(f"http://127.0.0.1:{self.port}/api/version"), 240)
        self._ray("worker", [f"--address=127.0.0.1:{self.gcs}", "--num-cpus=1"], self.more[3:6], self._apart())

    def submit(self, pod: Object, seconds: float = 300) -> str:
        """Play the command of KubeRay's submitter; returns what it printed."""
        container = pod["spec"]["containers"][0]
        assert container["name"] == nodes.SUBMITTER
        env = self.node.environment(container)
        words = [
            re.sub(r"http://[\w.-]+:8265", f"http://127.0.0.1:{self.port}", word) for word in (*container["command"], *container["args"])
        ]
        argv = [self.node.moved(word) for word in words]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=seconds, check=False)
        return done.stdout + done.stderr

    def stop(self) -> None:
        """End both."""
        for name in ("ray-worker", "ray-head"):
            self.plane.processes.stop(name)

    def _apart(self) -> list[str]:
        """What makes a command see a folder of its own where the session keeps runtime environments.

        Nodes on one machine share the session's folder, and each node's agent makes an environment anew in the same place: the worker's
        would pull away the one that the driver runs in. In a cluster each pod has a file system of its own.
        """
        own = self.folder / "worker-resources"
        own.mkdir()
        shared = self.folder / "t" / "session_latest" / "runtime_resources"
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        return ["unshare", *rights, "--mount", "sh", "-c", f'mount --bind "{own}" "{shared.resolve()}" && exec "$@"', "sh"]

    def _ray(self, role: str, options: list[str], ports: list[int], before: Sequence[str] = ()) -> None:
        container = pod_spec(self.node.run, role)["containers"][0]
        agent = ("--dashboard-agent-listen-port", "--dashboard-agent-grpc-port", "--metrics-export-port")
        own = [f"{name}={port}" for name, port in zip(agent, ports, strict=False)]
        argv = [
            *before,
            str(self.programs / "ray"),
            "start",
            "--block",
            "--node-ip-address=127.0.0.1",
            "--object-store-memory=100000000",
            *options,
            *own,
        ]
        self.plane.processes.start(f"ray-{role}", argv, self.node.environment(container), self.folder)
