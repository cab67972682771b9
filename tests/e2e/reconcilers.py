"""Flux and Argo CD as processes, and the Git server that feeds them.

In: a site whose core is up. Out: running reconcilers that read http://127.0.0.1:PORT/<name>.git, each with the roles of its own release.
"""

import base64
import shutil
from pathlib import Path

from tests.e2e import build, install
from tests.e2e.core import LOCAL, Site
from tests.e2e.kube import Kube, Object
from tests.e2e.processes import ROOT

FLUX = "flux-system"
ARGO = "argocd"


def start_git(site: Site) -> None:
    """The Git server, if it is not up."""
    if "git" in site.processes.running():
        return
    repositories(site).mkdir(parents=True, exist_ok=True)
    argv = (shutil.which("python3") or "python3", "-m", "tests.e2e.gitserver", str(repositories(site)), str(site.port("git")))
    site.processes.start("git", argv, cwd=ROOT)
    site.processes.wait("git", lambda: site.answers(f"http://{LOCAL}:{site.port('git')}/healthz"))


def repositories(site: Site) -> Path:
    """The folder whose bare repositories are served."""
    return site.folder / "repositories"


def start_flux(site: Site, kube: Kube) -> None:
    """source-controller and kustomize-controller; they notice changes when asked (annotation) and at their intervals."""
    start_git(site)
    install.ensure_namespace(kube, FLUX)
    for name in ("source-controller", "kustomize-controller"):
        chosen = [
            _for_account(item, name)
            for item in build.objects(name)
            if item["kind"] in {"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}
        ]
        install.apply(kube, chosen, 0, site.certs.authority, FLUX)
    common = (
        "--watch-all-namespaces",
        "--enable-leader-election=false",
        "--events-addr=",
        "--log-level=info",
        "--interval-jitter-percentage=0",
    )
    storage = f"{LOCAL}:{site.port('source-storage')}"
    for name in ("source-controller", "kustomize-controller"):
        short = name.partition("-")[0]
        extra = (
            (f"--storage-path={_folder(site, 'artifacts')}", f"--storage-addr={storage}", f"--storage-adv-addr={storage}")
            if short == "source"
            else ()
        )
        health = f"{LOCAL}:{site.port(f'{short}-health')}"
        site.start(
            name,
            *(*common, *extra, f"--health-addr={health}", f"--metrics-addr={LOCAL}:{site.port(f'{short}-metrics')}"),
            *(("--requeue-dependency=2s",) if short == "kustomize" else ()),
            env={"RUNTIME_NAMESPACE": FLUX, "KUBECONFIG": site.account(name, FLUX), "TMPDIR": str(_folder(site, "tmp"))},
        )
        site.processes.wait(name, lambda health=health: site.answers(f"http://{health}/healthz"))  # type: ignore[misc]


def start_argocd(site: Site, kube: Kube) -> None:
    """Application controller, repository server and redis, as `core` installations have them."""
    start_git(site)
    install.ensure_namespace(kube, ARGO)
    objects = [_for_account(item, "argocd-application-controller", ARGO) for item in build.objects("argocd")]
    install.apply(kube, objects, 0, site.certs.authority, ARGO)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret", "namespace": ARGO}}
    kube.apply(secret | {"data": {"server.secretkey": base64.b64encode(b"e2e").decode()}})
    redis = f"{LOCAL}:{site.port('redis')}"
    argv = ("--bind", LOCAL, "--port", str(site.port("redis")), "--save", "", "--appendonly", "no", "--dir", str(_folder(site, "tmp")))
    site.processes.start("redis", (shutil.which("redis-server") or "redis-server", *argv))
    program = build.binary("argocd")
    env = _argocd_environment(site)
    repo = (
        "--address",
        LOCAL,
        "--port",
        str(site.port("argo-repo")),
        "--metrics-address",
        LOCAL,
        "--metrics-port",
        str(site.port("argo-repo-metrics")),
    )
    site.processes.start(
        "argocd-repo-server", (str(program), *repo, "--disable-tls", "--redis", redis), env | {"ARGOCD_BINARY_NAME": "argocd-repo-server"}
    )
    site.processes.wait("argocd-repo-server", lambda: site.answers(f"http://{LOCAL}:{site.port('argo-repo-metrics')}/healthz"))
    controller = (
        "--repo-server",
        f"{LOCAL}:{site.port('argo-repo')}",
        "--repo-server-plaintext",
        "--redis",
        redis,
        "--metrics-port",
        str(site.port("argo-metrics")),
    )
    # Shorter than the defaults, since a test waits for it; the health of every object is kept where a test can read it.
    quick = (
        "--persist-resource-health",
        "--app-resync",
        "10",
        "--app-resync-jitter",
        "0",
        "--self-heal-timeout-seconds",
        "2",
        "--self-heal-backoff-timeout-seconds",
        "1",
        "--self-heal-backoff-cap-seconds",
        "3",
    )
    site.processes.start(
        "argocd-application-controller",
        (str(program), *controller, *quick, "--namespace", ARGO),
        env | {"ARGOCD_BINARY_NAME": "argocd-application-controller"},
    )
    site.processes.wait("argocd-application-controller", lambda: site.answers(f"http://{LOCAL}:{site.port('argo-metrics')}/healthz"))


def _argocd_environment(site: Site) -> dict[str, str]:
    """Everything that Argo CD would else look for at fixed places of its image."""
    folders = {
        name: str(_folder(site, f"argocd/{name.lower()}"))
        for name in (
            "ARGOCD_SSH_DATA_PATH",
            "ARGOCD_TLS_DATA_PATH",
            "ARGOCD_GPG_DATA_PATH",
            "ARGOCD_GNUPGHOME",
            "ARGOCD_APP_CONF_PATH",
            "ARGOCD_PLUGINSOCKFILEPATH",
        )
    }
    return folders | {
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_ASK_PASS_SOCK": str(site.folder / "askpass.sock"),
        "KUBECONFIG": site.account("argocd-application-controller", ARGO),
        "TMPDIR": str(_folder(site, "tmp")),
    }


def _folder(site: Site, name: str) -> Path:
    path = site.folder / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def _for_account(item: Object, name: str, namespace: str = FLUX) -> Object:
    """Bindings name the account that the process acts as, whatever its module's kustomization would have put there."""
    for subject in item.get("subjects", ()):
        subject.update(name=name, namespace=namespace)
    return item
