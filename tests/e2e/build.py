"""The programs of a control plane, built from the Go modules that pins/ names.

In: the name of a component. Out: a binary in a cache outside the repository, and the objects that the component's module ships (CRDs,
webhook configurations, roles) as JSON beside it. What stands in the cache is never built again; two builders at once wait for each
other. Without Go nothing is tried: `missing()` says in one sentence what is needed.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINS = Path(__file__).with_name("pins")
KUBERNETES = "v1.36.3"
VERSION = " ".join(
    f"-X {name}={value}"
    for name, value in (
        ("k8s.io/component-base/version.gitVersion", KUBERNETES),
        ("k8s.io/component-base/version.gitMajor", "1"),
        ("k8s.io/component-base/version.gitMinor", "36"),
        ("k8s.io/client-go/pkg/version.gitVersion", KUBERNETES),
    )
)


@dataclass(frozen=True)
class Component:
    """A program: the folder of its pins, its package, and the folders of its module that hold its objects."""

    pins: str
    package: str
    flags: str = ""
    module: str = ""
    folders: tuple[str, ...] = ()


COMPONENTS = {
    "etcd": Component("k8s", "go.etcd.io/etcd/server/v3"),
    "kube-apiserver": Component("k8s", "k8s.io/kubernetes/cmd/kube-apiserver", VERSION),
    "kube-controller-manager": Component("k8s", "k8s.io/kubernetes/cmd/kube-controller-manager", VERSION),
    "kube-scheduler": Component("k8s", "k8s.io/kubernetes/cmd/kube-scheduler", VERSION),
    "kwok": Component("kwok", "sigs.k8s.io/kwok/cmd/kwok", "", "sigs.k8s.io/kwok", ("kustomize/stage/fast",)),
    "kueue": Component("kueue", "sigs.k8s.io/kueue/cmd/kueue", "", "sigs.k8s.io/kueue", ("config/default",)),
    "jobset": Component("jobset", "sigs.k8s.io/jobset", "", "sigs.k8s.io/jobset", ("config/default",)),
    "kuberay": Component(
        "kuberay", "github.com/ray-project/kuberay/ray-operator", "", "github.com/ray-project/kuberay/ray-operator", ("config/default",)
    ),
    "source-controller": Component(
        "flux-source", "github.com/fluxcd/source-controller", "", "github.com/fluxcd/source-controller", ("config/crd", "config/rbac")
    ),
    "kustomize-controller": Component(
        "flux-kustomize",
        "github.com/fluxcd/kustomize-controller",
        "",
        "github.com/fluxcd/kustomize-controller",
        ("config/crd", "config/rbac"),
    ),
    "argocd": Component(
        "argocd",
        "github.com/argoproj/argo-cd/v3/cmd",
        "",
        "github.com/argoproj/argo-cd/v3",
        (
            "manifests/crds",
            "manifests/cluster-rbac/application-controller",
            "manifests/base/application-controller-roles",
            "manifests/base/config",
        ),
    ),
    "versitygw": Component("versitygw", "github.com/versity/versitygw/cmd/versitygw"),
}
# What a word of --with brings beside the core.
CORE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
PARTS = {
    "kueue": ("kueue",),
    "kuberay": ("kuberay",),
    "jobset": ("jobset",),
    "flux": ("source-controller", "kustomize-controller"),
    "argocd": ("argocd",),
    "s3": ("versitygw",),
}


# What go says when it gets no module, no toolchain or no room: this machine's lack, nothing that a pin or a flag could mend.
UNREACHED = re.compile(
    r'dial (?:tcp|udp)|no such host|i/o timeout|connection (?:refused|reset)|TLS handshake|proxyconnect|Get "https?://.*EOF'
    r"|module lookup disabled|Service Unavailable|Bad Gateway|Gateway Timeout|Too Many Requests|requires go >=|toolchain not available"
    r"|no space left on device"
)


class BuildError(Exception):
    """A component could not be built; the text ends with the compiler's own words."""


class Unbuildable(BuildError):
    """This machine can't build a component here and now: no network, no room on the disk, an older Go, or no time left."""


def missing(parts: tuple[str, ...] = ()) -> str:
    """One sentence about what this machine lacks for a control plane with `parts`; empty when nothing."""
    if shutil.which("go") is None and not all(binary(name).exists() for name in needed(parts)):
        return "The end-to-end tests build a real control plane and need Go 1.26 or newer on the path; make test passes without it."
    for program, package in (("kubectl", "kubectl"), ("openssl", "openssl"), ("unshare", "util-linux")):
        if shutil.which(program) is None:
            return f"The end-to-end tests need {program} on the path (package {package})."
    if "argocd" in parts and shutil.which("redis-server") is None:
        return "Argo CD needs redis-server on the path: apt-get install redis-server."
    return ""


def needed(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Names of all components of the core and of `parts`, in the order in which they start."""
    return (*CORE, *(name for part in PARTS if part in parts for name in PARTS[part]))


def cache() -> Path:
    """Where binaries stand: $TAUGEN_E2E_CACHE, else below the user's cache folder."""
    chosen = os.environ.get("TAUGEN_E2E_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(chosen) if chosen else base / "taugen" / "e2e"


def folder(name: str) -> Path:
    """Cache folder of a component: named by everything that its bytes depend on."""
    component = COMPONENTS[name]
    pins = PINS / component.pins
    digest = hashlib.sha256()
    for part in (*((pins / file).read_bytes() for file in ("go.mod", "go.sum")), repr(component).encode()):
        digest.update(hashlib.sha256(part).digest())
    return cache() / digest.hexdigest()[:16]


def binary(name: str) -> Path:
    """Path of the component's binary, whether it stands there or not."""
    return folder(name) / "bin" / name


def objects(name: str) -> list[dict[str, Any]]:
    """The objects that a component's module ships; the module is fetched if need be, the program is not built."""
    file = folder(name) / "objects.json"
    if not file.exists():
        with _scratch(name) as scratch:
            _go(scratch, name, "mod", "download", COMPONENTS[name].module)
            source = _go(scratch, name, "list", "-m", "-f", "{{.Dir}}", COMPONENTS[name].module).strip()
        made = [item for part in COMPONENTS[name].folders for item in _kustomize(Path(source, part))]
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(made), encoding="utf-8")
        part.rename(file)
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def build(names: tuple[str, ...], seconds: float | None = None) -> None:
    """Build what is not in the cache, one after another, saying so; in all within `seconds`. Raises BuildError, Unbuildable among them."""
    end = None if seconds is None else time.monotonic() + seconds
    for number, name in enumerate(names, 1):
        if binary(name).exists():
            continue
        with _lock(end):
            if not binary(name).exists():
                print(f"e2e: building {name} ({number} of {len(names)}; minutes the first time)", file=sys.stderr, flush=True)
                began = time.monotonic()
                _build(name, end)
                print(f"e2e: built {name} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    for name in names:
        if COMPONENTS[name].folders:
            objects(name)


def _build(name: str, end: float | None) -> None:
    component = COMPONENTS[name]
    binary(name).parent.mkdir(parents=True, exist_ok=True)
    target = binary(name).with_name(f".{name}.part")
    with _scratch(name) as scratch:
        _go(scratch, name, "build", "-p", "2", "-ldflags", component.flags, "-o", str(target), component.package, end=end)
    target.rename(binary(name))


@contextmanager
def _scratch(name: str) -> Iterator[str]:
    """A folder with a copy of the pins, so that go never writes into ours."""
    with tempfile.TemporaryDirectory() as scratch:
        for file in ("go.mod", "go.sum"):
            shutil.copyfile(PINS / COMPONENTS[name].pins / file, Path(scratch, file))
        yield scratch


def _go(where: str, name: str, *args: str, end: float | None = None) -> str:
    """Run go in a folder that holds the pins, until `end` at most. Raises BuildError with its last words, or Unbuildable."""
    # The same flags as everybody's: what one builder compiled, the next one finds in Go's own cache.
    env = os.environ | {"GOFLAGS": "-buildvcs=false -mod=mod", "GOMAXPROCS": "2", "GOWORK": "off"}
    command = ["nice", "-n", "10", "go", *args]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=where, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            out, words = process.communicate(timeout=None if end is None else max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Unbuildable(f"no time was left to build {name}; what was compiled is kept, the next build goes on there") from None
        finally:
            if process.poll() is None:  # the compilers that go started go with it
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        kind = Unbuildable if UNREACHED.search(words) else BuildError
        raise kind(f"{name}: go {args[0]} failed:\n{words[-3000:]}")
    return out


def _kustomize(place: Path) -> list[dict[str, Any]]:
    import yaml

    done = subprocess.run(["kubectl", "kustomize", str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"kubectl kustomize {place}: {done.stderr[-2000:]}")
    return [item for item in yaml.load_all(done.stdout, yaml.CSafeLoader) if item]


@contextmanager
def _lock(end: float | None) -> Iterator[None]:
    """One builder at a time. Raises Unbuildable when another one takes longer than until `end`."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX if end is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if end is not None and time.monotonic() > end:
                    raise Unbuildable("another build took all the time that was left") from None
                time.sleep(0.5)
        yield


def main(args: list[str]) -> int:
    """`python -m tests.e2e.build [PART…]`: build the core and the parts, all of them by default."""
    parts = tuple(args) or tuple(PARTS)
    if reason := missing(tuple(part for part in parts if part != "argocd")):
        print(reason, file=sys.stderr)
        return 0
    try:
        build(needed(parts))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
