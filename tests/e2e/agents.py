"""The check runner of a simulated node: the program that the cluster holds, its pod's token, a node of recordings.

In: a plane with the health objects applied. Out: a running process for a node, whose faults the test chooses. Nothing of the runner is
replaced but the programs that it asks.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.core import LOCAL
from tests.e2e.kube import Kube, Object
from tests.e2e.plane import Plane
from tests.e2e.processes import MARK, say
from tests.render.health.fakes import Node

NAMESPACE, ACCOUNT = "taugen-health", "taugen-gpu-health"

IMAGE = "registry.lab.example/python@sha256:" + "1" * 64
POLICY = f"""apiVersion: taugen.dev/v1alpha1
kind: HealthPolicy
metadata: {{name: h100}}
spec:
  gpuClasses: [h100-80gb]
  actions:
    - {{condition: GpuXid, taint: {{effect: NoSchedule}}, after: 2s, clearAfter: 3s}}
  maxTainted: 1
  images: {{runner: "{IMAGE}", nodeProblemDetector: "{IMAGE}", dcgmExporter: "{IMAGE}"}}
---
apiVersion: taugen.dev/v1alpha1
kind: HealthPolicy
metadata: {{name: t4}}
spec:
  gpuClasses: [t4-16gb]
  checks: [{{name: temperature}}, {{name: missing}}]
  actions:
    - {{condition: GpuHot, taint: {{effect: NoExecute}}, after: 1s, clearAfter: 2s}}
  running: drain
  maxTainted: 50%
  images: {{runner: "{IMAGE}"}}
"""
"""Node health of the lab: one class keeps what runs, the other drains."""


def pod_on(kube: Kube, node: str, app: str = "gpu-health") -> Object:
    """The pod that a DaemonSet of health has made for a node, once kwok runs it."""
    found: list[Object] = []

    def there(item: Object | None) -> bool:
        found[:] = [
            pod
            for pod in kube.list("v1/Pod", NAMESPACE, {"app.kubernetes.io/name": app})
            if pod["spec"].get("nodeName") == node and pod["status"].get("phase") == "Running"
        ]
        return bool(found)

    names = [item["metadata"]["name"] for item in kube.list("apps/v1/DaemonSet", NAMESPACE, {"app.kubernetes.io/name": app})]
    for name in names:
        if there(None):
            break
        kube.until("apps/v1/DaemonSet", name, NAMESPACE, there, f"a pod on {node}", 60)
    return found[0]


def token(kube: Kube, account: str = ACCOUNT, pod: Object | None = None) -> str:
    """A token of an account as a kubelet asks for it, bound to a pod; without one it names no node."""
    spec: Object = {"audiences": [], "expirationSeconds": 3600}
    if pod:
        meta = pod["metadata"]
        spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    answer = kube.request("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token", body)
    return str(answer["status"]["token"])


def mounted(kube: Kube, pod: Object, folder: Path) -> None:
    """Write the pod's projected volume `program` into a folder, as a kubelet would; rounds come every second."""
    (volume,) = (v for v in pod["spec"]["volumes"] if v["name"] == "program")
    for source in volume["projected"]["sources"]:
        data = (kube.get("v1/ConfigMap", source["configMap"]["name"], NAMESPACE) or {})["data"]
        for item in source["configMap"]["items"]:
            target = folder / item["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(data[item["key"]], encoding="utf-8")
    settings = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    (folder / "checks.json").write_text(json.dumps({**settings, "interval": 1}), encoding="utf-8")


class Agent:
    """The runner of one node; use as a context."""

    def __init__(self, plane: Plane, kube: Kube, node: str, folder: Path) -> None:
        self.name = node
        self.fakes = Node(folder / "node")
        pod = pod_on(kube, node)
        self.home, account = folder / "home", folder / "account"
        mounted(kube, pod, self.home)
        account.mkdir()
        (account / "token").write_text(token(kube, pod=pod), encoding="ascii")
        (account / "ca.crt").write_bytes(plane.site.certs.authority.read_bytes())
        (account / "namespace").write_text(NAMESPACE, encoding="ascii")
        self.env = {
            MARK: str(plane.folder),
            "NODE_NAME": node,
            "KUBERNETES_SERVICE_HOST": LOCAL,
            "KUBERNETES_SERVICE_PORT": str(plane.site.port("api")),
            "GPUHEALTH_ACCOUNT": str(account),
            "GPUHEALTH_PORT": "0",
            **self.fakes.env,
        }
        self.log = folder / "log"

    def __enter__(self) -> "Agent":
        say(f"the check runner of {self.name} starts")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", "-m", "gpuhealth"], cwd=self.home, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        assert self.process.wait(30) == 0, self.log.read_text()
