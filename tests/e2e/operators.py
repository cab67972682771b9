"""Kueue, JobSet and KubeRay as processes.

In: a site whose core is up. Out: running operators with their CRDs, webhooks and roles in place; each acts as the service account that
its own module binds.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import build, install
from tests.e2e.core import LOCAL, Site
from tests.e2e.kube import Kube

KUEUE: dict[str, Any] = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "leaderElection": {"leaderElect": False},
    "internalCertManagement": {"enable": False},
    "clientConnection": {"qps": 300, "burst": 500},
    "integrations": {"frameworks": ["batch/job", "ray.io/rayjob", "ray.io/raycluster", "jobset.x-k8s.io/jobset"]},
}


def start_kueue(site: Site, kube: Kube, extra: dict[str, object] | None = None) -> None:
    """Kueue with the defaults of its release; `extra` is laid over its configuration."""
    install.apply(kube, build.objects("kueue"), site.port("kueue-hook"), site.certs.authority, "kueue-system")
    run_kueue(site, kube, extra)


def run_kueue(site: Site, kube: Kube, extra: dict[str, object] | None = None) -> None:
    """Kueue's process, where its objects are there already."""
    frameworks = [name for name in KUEUE["integrations"]["frameworks"] if _served(kube, name)]
    config = KUEUE | {
        "integrations": {"frameworks": frameworks},
        "health": {"healthProbeBindAddress": f"{LOCAL}:{site.port('kueue-health')}"},
        "metrics": {"bindAddress": f"{LOCAL}:{site.port('kueue-metrics')}"},
        "webhook": {"host": LOCAL, "port": site.port("kueue-hook"), "certDir": str(_hook_certs(site))},
    }
    file = site.file("kueue.yaml", yaml.safe_dump(config | (extra or {})))
    command = [
        *(str(build.binary("kueue")), f"--config={file}", "--feature-gates=VisibilityOnDemand=false", "--zap-log-level=info"),
        f"--kubeconfig={site.account('kueue-controller-manager', 'kueue-system')}",
    ]
    site.processes.start("kueue", _with_etc(site, command))
    site.processes.wait("kueue", lambda: site.answers(f"http://{LOCAL}:{site.port('kueue-health')}/readyz"))


def start_jobset(site: Site, kube: Kube) -> None:
    """JobSet."""
    install.apply(kube, build.objects("jobset"), site.port("jobset-hook"), site.certs.authority, "jobset-system")
    config = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "health": {"healthProbeBindAddress": f"{LOCAL}:{site.port('jobset-health')}"},
        "metrics": {"bindAddress": f"{LOCAL}:{site.port('jobset-metrics')}", "certDir": str(_hook_certs(site))},
        "webhook": {"host": LOCAL, "port": site.port("jobset-hook"), "certDir": str(_hook_certs(site))},
    }
    account = site.account("jobset-controller-manager", "jobset-system")
    site.start("jobset", f"--config={site.file('jobset.yaml', yaml.safe_dump(config))}", f"--kubeconfig={account}")
    site.processes.wait("jobset", lambda: site.answers(f"http://{LOCAL}:{site.port('jobset-health')}/readyz"))


def start_kuberay(site: Site, kube: Kube) -> None:
    """KubeRay as its default installation has it (without webhooks); its calls to Ray's dashboards go to one small server."""
    namespace = "ray-system"
    install.ensure_namespace(kube, namespace)
    objects = [item for item in build.objects("kuberay") if item["metadata"]["name"] != "raycronjobs.ray.io"]  # behind a gate that is off
    for item in objects:
        if item["kind"] == "CustomResourceDefinition":  # each version costs the API server seconds, and nobody speaks v1alpha1 any more
            item["spec"]["versions"] = [version for version in item["spec"]["versions"] if version["storage"]]
        for subject in item.get("subjects", ()):
            subject["namespace"] = namespace
        if item["metadata"].get("namespace"):
            item["metadata"]["namespace"] = namespace
    install.apply(kube, objects, 0, site.certs.authority, namespace)
    site.processes.start(
        "dashboard", (shutil.which("python3") or "python3", str(Path(__file__).with_name("dashboard.py")), str(site.port("dashboard")))
    )
    site.processes.wait("dashboard", lambda: site.answers(f"http://{LOCAL}:{site.port('dashboard')}/healthz"))
    site.start(
        "kuberay",
        *("--enable-leader-election=false", f"--health-probe-bind-address={LOCAL}:{site.port('kuberay-health')}"),
        *(f"--metrics-addr={LOCAL}:{site.port('kuberay-metrics')}", f"--kubeconfig={site.account('kuberay-operator', namespace)}"),
        env={"HTTP_PROXY": f"http://{LOCAL}:{site.port('dashboard')}", "http_proxy": "", "NO_PROXY": "", "no_proxy": ""},
    )
    site.processes.wait("kuberay", lambda: site.answers(f"http://{LOCAL}:{site.port('kuberay-health')}/readyz"))


def _hook_certs(site: Site) -> Path:
    """A folder with the server's certificate under the names that controller-runtime looks for."""
    folder = site.folder / "hook-certs"
    if folder.exists():  # never under the eyes of a component that reads it
        return folder
    folder.mkdir()
    shutil.copyfile(site.certs.certificate("server"), folder / "tls.crt")
    shutil.copyfile(site.certs.key("server"), folder / "tls.key")
    return folder


def _with_etc(site: Site, command: list[str]) -> list[str]:
    """Kueue reads /etc/kueue/metrics/certs and can't be told otherwise: it gets a mount namespace where /etc is an overlay of ours."""
    upper = site.folder / "kueue-etc"
    certs = upper / "kueue" / "metrics" / "certs"
    certs.mkdir(parents=True, exist_ok=True)
    for file in _hook_certs(site).iterdir():
        shutil.copyfile(file, certs / file.name)
    work = site.folder / "kueue-etc-work"
    work.mkdir(exist_ok=True)
    mount = f'mount -t overlay overlay -o "lowerdir=/etc,upperdir={upper},workdir={work}" /etc && exec "$@"'
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *rights, "--mount", "sh", "-c", mount, "sh", *command]


def _served(kube: Kube, framework: str) -> bool:
    """Whether the CRD of a framework is there: Kueue waits for ever for one that never comes."""
    group, _, _ = framework.partition("/")
    return group == "batch" or any(entry["name"] == group for entry in kube.request("GET", "/apis")["groups"])
