"""Kubernetes itself on loopback: etcd, API server, controller manager, scheduler, kwok.

In: a site (folder, ports, certificates, processes). Out: running, ready components. Every flag is there for a reason that its comment
says or its name.
"""

import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.e2e import build, nodes
from tests.e2e.certs import Certs
from tests.e2e.processes import Processes

LOCAL = "127.0.0.1"
# Offsets of ports from a plane's base port.
PORTS = (
    *("etcd", "etcd-peer", "api", "manager", "scheduler", "kwok", "kueue-hook", "kueue-health", "kueue-metrics", "jobset-hook"),
    *("jobset-health", "jobset-metrics", "kuberay-health", "kuberay-metrics", "dashboard", "git", "source-storage", "source-health"),
    *("source-metrics", "kustomize-health", "kustomize-metrics", "redis", "argo-repo", "argo-repo-metrics", "argo-metrics"),
)
SPAN = 40  # ports that a plane may use


@dataclass(frozen=True)
class Site:
    """What every component of one plane shares."""

    folder: Path
    base: int
    certs: Certs
    processes: Processes

    def port(self, name: str) -> int:
        """The port of that name."""
        return self.base + PORTS.index(name)

    def file(self, name: str, text: str) -> Path:
        """Write a configuration file; returns its path."""
        path = self.folder / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def kubeconfig(self, name: str, user: str, groups: tuple[str, ...] = ()) -> str:
        """Path of a kubeconfig with a client certificate of its own for `user`."""
        self.certs.client(name, user, groups)
        cluster = {"server": f"https://{LOCAL}:{self.port('api')}", "certificate-authority": str(self.certs.authority)}
        keys = {"client-certificate": str(self.certs.certificate(name)), "client-key": str(self.certs.key(name))}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "plane", "cluster": cluster}],
            "users": [{"name": name, "user": keys}],
            "contexts": [{"name": name, "context": {"cluster": "plane", "user": name}}],
            "current-context": name,
        }
        return str(self.file(f"{name}.kubeconfig", yaml.safe_dump(config)))

    def account(self, name: str, namespace: str) -> str:
        """A kubeconfig whose user is a service account, so that the roles a module ships are the ones that count."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return self.kubeconfig(f"{namespace}.{name}", f"system:serviceaccount:{namespace}:{name}", groups)

    def start(self, name: str, *args: str, program: str = "", env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        """Start a built component."""
        self.processes.start(name, (str(build.binary(program or name)), *args), env, cwd)

    def answers(self, url: str) -> bool:
        """Whether a health address says 200."""
        context = ssl.create_default_context(cafile=str(self.certs.authority))
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        try:
            with urllib.request.build_opener(*handlers).open(url, timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False


def start(site: Site) -> None:
    """Start the core and wait until it is ready. Raises processes.Died."""
    start_etcd(site)
    start_api(site)
    start_manager(site)
    start_scheduler(site)
    start_kwok(site)


def start_etcd(site: Site) -> None:
    """etcd with fsync off: a plane that loses power is thrown away."""
    client, peer = (f"http://{LOCAL}:{site.port(name)}" for name in ("etcd", "etcd-peer"))
    site.start(
        "etcd",
        f"--data-dir={site.folder / 'etcd'}",
        *(f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}"),
        *(f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}", "--unsafe-no-fsync", "--log-level=warn"),
    )
    site.processes.wait("etcd", lambda: site.answers(f"{client}/health"))


def start_api(site: Site) -> None:
    """kube-apiserver with RBAC and the default admission plugins, Pod Security among them."""
    certs = site.certs
    site.start(
        "kube-apiserver",
        f"--etcd-servers=http://{LOCAL}:{site.port('etcd')}",
        *(f"--bind-address={LOCAL}", f"--advertise-address={LOCAL}", f"--secure-port={site.port('api')}"),
        "--endpoint-reconciler-type=none",  # a loopback address can't be an endpoint
        *(f"--tls-cert-file={certs.certificate('server')}", f"--tls-private-key-file={certs.key('server')}"),
        f"--client-ca-file={certs.authority}",
        "--service-account-issuer=https://kubernetes.default.svc",
        *(f"--service-account-key-file={certs.key('accounts')}", f"--service-account-signing-key-file={certs.key('accounts')}"),
        *("--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=RBAC", "--allow-privileged=true"),
        *("--enable-priority-and-fairness=false", "--watch-cache=true", "--profiling=false"),
    )
    site.kubeconfig("admin", "admin", ("system:masters",))
    site.processes.wait("kube-apiserver", lambda: site.answers(f"https://{LOCAL}:{site.port('api')}/readyz"))


def start_manager(site: Site) -> None:
    """kube-controller-manager; every controller acts as an account of its own, as in a real cluster."""
    certs = site.certs
    config = site.kubeconfig("kube-controller-manager", "system:kube-controller-manager")
    site.start(
        "kube-controller-manager",
        *(f"--kubeconfig={config}", f"--bind-address={LOCAL}", f"--secure-port={site.port('manager')}", "--leader-elect=false"),
        *(f"--tls-cert-file={certs.certificate('server')}", f"--tls-private-key-file={certs.key('server')}"),
        *(f"--service-account-private-key-file={certs.key('accounts')}", f"--root-ca-file={certs.authority}"),
        *("--use-service-account-credentials=true", "--kube-api-qps=300", "--kube-api-burst=500", "--concurrent-job-syncs=10"),
    )
    site.processes.wait("kube-controller-manager", lambda: site.answers(f"https://{LOCAL}:{site.port('manager')}/healthz"))


def start_scheduler(site: Site) -> None:
    """kube-scheduler."""
    certs = site.certs
    site.start(
        "kube-scheduler",
        *(f"--kubeconfig={site.kubeconfig('kube-scheduler', 'system:kube-scheduler')}", "--leader-elect=false"),
        *(f"--bind-address={LOCAL}", f"--secure-port={site.port('scheduler')}"),
        *(f"--tls-cert-file={certs.certificate('server')}", f"--tls-private-key-file={certs.key('server')}"),
        *("--kube-api-qps=300", "--kube-api-burst=500"),
    )
    site.processes.wait("kube-scheduler", lambda: site.answers(f"https://{LOCAL}:{site.port('scheduler')}/healthz"))


def start_kwok(site: Site) -> None:
    """kwok, keeper of all nodes and of what runs on them."""
    options = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration", "options": {"nodeLeaseDurationSeconds": 40}}
    config = site.file("kwok.yaml", yaml.safe_dump_all([options, *nodes.stages()]))
    site.start(
        "kwok",
        *(f"--kubeconfig={site.kubeconfig('kwok', 'kwok', ('system:masters',))}", "--manage-all-nodes=true", f"--config={config}"),
        f"--server-address={LOCAL}:{site.port('kwok')}",
    )
    site.processes.wait("kwok", lambda: site.answers(f"http://{LOCAL}:{site.port('kwok')}/healthz"))
