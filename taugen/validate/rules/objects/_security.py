"""What Pod Security forbids in a pod, at the levels baseline and restricted.

In: a pod. Out: (path below the template, what is wrong). Source: Kubernetes docs, Pod Security Standards; k8s.io/pod-security-admission
policy checks of 1.36. Windows pods are not rendered and not judged.
"""

from collections.abc import Iterator

from taugen.render.types import Object
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.words import Json, Path

Fault = tuple[Path, str]

HOST = ("hostNetwork", "hostPID", "hostIPC")
CAPABILITIES = frozenset((
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP",
    "SETUID", "SYS_CHROOT",
))  # fmt: skip
SYSCTLS = frozenset((
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
))  # fmt: skip
SELINUX = frozenset(("container_t", "container_init_t", "container_kvm_t", "container_engine_t", "", None))
VOLUMES = frozenset(("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"))
CONFINED = ("RuntimeDefault", "Localhost")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
REACHING = frozenset(("ports", "lifecycle", *PROBES))
_MOST = 1024


def violations(pod: Pod, *, restricted: bool) -> Iterator[Fault]:
    """Everything that the level forbids."""
    spec = pod.spec
    context = _pods.mapping(spec.get("securityContext"))
    own_users = spec.get("hostUsers") is False
    yield from _baseline_pod(spec, context)
    for path, container in pod.containers:
        if not REACHING.isdisjoint(container):
            yield from _reach(path, container)
        own = _pods.mapping(container.get("securityContext"))
        for field, what in _context(repr(own), repr(context), own, context, restricted=restricted, own_users=own_users):
            yield (*path, "securityContext", *field), what
    if restricted:
        yield from _restricted_pod(spec, context)


_contexts: dict[tuple[str, str, bool, bool], tuple[Fault, ...]] = {}


def _context(key: str, pod_key: str, own: Object, context: Object, *, restricted: bool, own_users: bool) -> tuple[Fault, ...]:
    """What is wrong with a container's security context; the few that there are get judged once."""
    found = _contexts.get((key, pod_key, restricted, own_users))
    if found is None:
        if len(_contexts) >= _MOST:
            _contexts.clear()
        faults = list(_baseline_container(own))
        if own.get("procMount", "Default") != "Default" and (restricted or not own_users):
            faults.append((("procMount",), "a container sees all of /proc"))
        if restricted:
            faults += _restricted_container(own, context)
            faults += [] if own_users else _root(own, context)
        found = _contexts[key, pod_key, restricted, own_users] = tuple(faults)
    return found


def _reach(path: Path, container: Object) -> Iterator[Fault]:
    """Ports of the host, and probes and hooks that call other hosts."""
    for at, port in enumerate(_pods.sequence(container.get("ports"))):
        if _pods.mapping(port).get("hostPort"):
            yield (*path, "ports", at, "hostPort"), "a container takes a port of the host"
    handlers = [((*path, name), _pods.mapping(container.get(name))) for name in PROBES]
    lifecycle = _pods.mapping(container.get("lifecycle"))
    handlers += [((*path, "lifecycle", name), _pods.mapping(lifecycle.get(name))) for name in HOOKS]
    for where, handler in handlers:
        for way in ("httpGet", "tcpSocket"):
            if _pods.mapping(handler.get(way)).get("host"):
                yield (*where, way, "host"), "a probe or hook calls another host"


def _baseline_pod(spec: Object, context: Object) -> Iterator[Fault]:
    for field in HOST:
        if spec.get(field):
            yield ("spec", field), f"the pod has {field}"
    for at, volume in enumerate(_pods.sequence(spec.get("volumes"))):
        if isinstance(volume, dict) and "hostPath" in volume:
            yield ("spec", "volumes", at, "hostPath"), "a volume is a path of the host"
    for at, entry in enumerate(_pods.sequence(context.get("sysctls"))):
        name = _pods.mapping(entry).get("name")
        if name not in SYSCTLS:
            yield ("spec", "securityContext", "sysctls", at), f"the pod sets {name}"
    yield from _shared(("spec", "securityContext"), context)


def _baseline_container(own: Object) -> Iterator[Fault]:
    if own.get("privileged"):
        yield ("privileged",), "a container is privileged"
    for name in _pods.sequence(_pods.mapping(own.get("capabilities")).get("add")):
        if name not in CAPABILITIES:
            yield ("capabilities", "add"), f"a container adds the capability {name}"
    yield from _shared((), own)


def _shared(path: Path, context: Object) -> Iterator[Fault]:
    """What the pod's and a container's security context have in common."""
    if _profile(context, "seccompProfile") == "Unconfined":
        yield (*path, "seccompProfile"), "seccomp is off"
    if _profile(context, "appArmorProfile") == "Unconfined":
        yield (*path, "appArmorProfile"), "AppArmor is off"
    selinux = _pods.mapping(context.get("seLinuxOptions"))
    if selinux.get("type") not in SELINUX or selinux.get("user") or selinux.get("role"):
        yield (*path, "seLinuxOptions"), "SELinux is loosened"


def _restricted_pod(spec: Object, context: Object) -> Iterator[Fault]:
    for at, volume in enumerate(_pods.sequence(spec.get("volumes"))):
        for kind in _pods.mapping(volume):
            if kind not in VOLUMES and kind not in {"name", "hostPath"}:
                yield ("spec", "volumes", at, kind), f"a volume is of kind {kind}"
    if spec.get("hostUsers") is False:
        return
    if context.get("runAsUser") == 0:
        yield ("spec", "securityContext", "runAsUser"), "the pod runs as root"
    if context.get("runAsNonRoot", True) is not True:
        yield ("spec", "securityContext", "runAsNonRoot"), "the pod may run as root"


def _root(own: Object, context: Object) -> Iterator[Fault]:
    """Root; in a user namespace of the pod's own it is none (Kubernetes 1.35)."""
    if own.get("runAsNonRoot", context.get("runAsNonRoot")) is not True:
        yield ("runAsNonRoot",), "a container may run as root"
    if own.get("runAsUser") == 0:
        yield ("runAsUser",), "a container runs as root"


def _restricted_container(own: Object, pod: Object) -> Iterator[Fault]:
    if own.get("allowPrivilegeEscalation") is not False:
        yield ("allowPrivilegeEscalation",), "a container may gain privileges"
    if (_profile(own, "seccompProfile") or _profile(pod, "seccompProfile")) not in CONFINED:
        yield ("seccompProfile",), "a container has no seccomp profile"
    capabilities = _pods.mapping(own.get("capabilities"))
    if "ALL" not in _pods.sequence(capabilities.get("drop")):
        yield ("capabilities", "drop"), "a container does not drop all capabilities"
    for name in _pods.sequence(capabilities.get("add")):
        if name in CAPABILITIES and name != "NET_BIND_SERVICE":
            yield ("capabilities", "add"), f"a container adds the capability {name}"


def _profile(context: Object, field: str) -> Json:
    return _pods.mapping(context.get(field)).get("type")
