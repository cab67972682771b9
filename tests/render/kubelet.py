"""What a node does with a rendered pod, as far as a program can see it: volumes, expanded text, processes.

ConfigMap volumes are laid out as the kubelet does it: a folder with the files, ``..data`` pointing to it, and a link for each top-level
name. Absolute paths of the container are moved below a folder of the test."""

import base64
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taugen.render.expand import expand
from taugen.render.types import Rendered

MOVED = ("/tau/", "/tmp/tau-setup", "/ckpt", "/mnt", "/data")


def pod_spec(obj: dict[str, Any], group: str = "head") -> dict[str, Any]:
    """The pod of a Job or JobSet; of a RayJob the head's or the workers'."""
    spec = obj["spec"]
    if obj["kind"] == "RayJob":
        cluster = spec["rayClusterSpec"]
        return (cluster["headGroupSpec"] if group == "head" else cluster["workerGroupSpecs"][0])["template"]["spec"]
    if obj["kind"] == "JobSet":
        spec = spec["replicatedJobs"][0]["template"]["spec"]
    return spec["template"]["spec"]


@dataclass
class Node:
    """Runs the containers of one run below `root`."""

    root: Path
    objects: Sequence[Rendered]
    path: str = os.environ["PATH"]
    extra: dict[str, str] = field(default_factory=dict)
    """Environment that the image or the controller gives."""

    @property
    def run(self) -> dict[str, Any]:
        return self.objects[-1].obj

    @property
    def configmap(self) -> dict[str, Any]:
        return next(o.obj for o in self.objects if o.kind == "ConfigMap")

    def place(self, path: str) -> Path:
        """Where a path of the container is in the test."""
        return self.root / path.lstrip("/")

    def moved(self, text: str) -> str:
        for prefix in MOVED:
            text = text.replace(prefix, f"{self.root}{prefix}")
        return text

    def mount(self, group: str = "head", container: dict[str, Any] | None = None) -> None:
        """Lay out the volumes of a container (the main one)."""
        spec = pod_spec(self.run, group)
        by_name = {v["name"]: v for v in spec["volumes"]}
        for mount in (container or spec["containers"][0])["volumeMounts"]:
            place, volume = self.place(mount["mountPath"]), by_name[mount["name"]]
            place.mkdir(parents=True, exist_ok=True)
            if "configMap" in volume:
                self.project(place, volume["configMap"], launch=mount["mountPath"] == "/tau/launch")

    def project(self, place: Path, volume: dict[str, Any], *, launch: bool) -> None:
        data = {key: text.encode() for key, text in self.configmap["data"].items()}
        data |= {key: base64.b64decode(text) for key, text in self.configmap.get("binaryData", {}).items()}
        inner = place / "..2025_11_30_12_00_00.1234"
        inner.mkdir()
        for item in volume["items"]:
            target = inner / item["path"]
            assert ".." not in Path(item["path"]).parts
            target.parent.mkdir(parents=True, exist_ok=True)
            content = data[item["key"]]
            target.write_bytes(self.moved(content.decode()).encode() if launch else content)
            target.chmod(item.get("mode", 0o644))
        (place / "..data").symlink_to(inner.name)
        for top in sorted({item["path"].partition("/")[0] for item in volume["items"]}):
            (place / top).symlink_to(f"..data/{top}")

    def environment(self, container: dict[str, Any]) -> dict[str, str]:
        """The variables as the kubelet sets them: each may use those before it."""
        env: dict[str, str] = {}
        for entry in container.get("env", []):
            env[entry["name"]] = expand(entry.get("value", ""), env) if "valueFrom" not in entry else "secret"
        return {"PATH": self.path, "HOME": str(self.root), **{k: self.moved(v) for k, v in env.items()}, **self.extra}

    def start(self, group: str = "head", **changes: str) -> subprocess.Popen[str]:
        """Start the main container; on Ray what the submitted job runs on the head."""
        container = pod_spec(self.run, group)["containers"][0]
        env = self.environment(container) | changes
        if self.run["kind"] == "RayJob":
            argv = ["/bin/bash", "-c", self.moved(self.run["spec"]["entrypoint"])]
        else:
            argv = [self.moved(expand(word, env)) for word in [*container["command"], *container.get("args", [])]]
        where = self.place(container["workingDir"]) if "workingDir" in container else self.root
        where.mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(argv, env=env, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def out(self, group: str = "head", **changes: str) -> str:
        """The output of a program that must succeed."""
        process = self.start(group, **changes)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return out


def fake_python(folder: Path, body: str) -> str:
    """A PATH whose python3 does `body` for some calls and is the real one for the others."""
    folder.mkdir()
    script = folder / "python3"
    script.write_text(f'#!/bin/sh\n{body}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"
