"""Pods of a run: containers, volumes, security, placement.

In: a `Frame` and what its ConfigMap delivers. Out: pod templates as Kubernetes wants them, keys in the usual order. A pod template that
Kueue manages never holds `nodeSelector` or `schedulingGates`: Kueue writes them at admission, and a re-apply would fight it."""

from msgspec import Struct

from taugen.render.configmap import Delivered
from taugen.render.env import HOT_DIR, LAUNCH_DIR, program_file
from taugen.render.expand import escape
from taugen.render.frame import ATTEMPT_LABEL, AZURE_LABEL, Frame
from taugen.render.launch import CHECKOUT
from taugen.render.types import Object
from taugen.resolve.run import Resources
from taugen.words import Json

CODE_VOLUME, LAUNCH_VOLUME, HOT_VOLUME, SHM_VOLUME, KEY_VOLUME = "tau-code", "tau-launch", "tau-hot", "dshm", "tau-git"
OWN_VOLUMES = frozenset((CODE_VOLUME, LAUNCH_VOLUME, HOT_VOLUME, SHM_VOLUME, KEY_VOLUME))
KEY_DIR = "/tau/git"
UNPRIVILEGED, RAY_USER, RAY_GROUP = 65532, 1000, 100
"""Users of restricted pods: nobody's, and that of the Ray images, whose Python lies in its home (rayproject/ray docker/base-deps)."""
PROXY = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "GIT_SSL_CAINFO", "SSL_CERT_FILE"))
"""Variables of the run without which a checkout may not reach its server."""
COPY = 'if [ -d "$1" ]; then cp -R -- "$1"/. "$2"; else cp -- "$1" "$2"; fi && chmod -R a+rX "$2"'


class Volumes(Struct, frozen=True):
    """Volumes of a pod and where its main container mounts them."""

    volumes: list[Json]
    mounts: list[Json]


def volumes(f: Frame, delivered: Delivered, *, shm: bool = True) -> Volumes:
    """Code, launch script, shared memory, scratch, then the run's own storage. `shm` False: KubeRay gives the Ray head its own."""
    run = f.run
    source: dict[str, Json] = {"name": f.base}
    out: list[Json] = []
    mounts: list[Json] = []
    if delivered.code:
        out.append({"name": CODE_VOLUME, "configMap": {**source, "items": delivered.code}})
        mounts.append({"name": CODE_VOLUME, "mountPath": run.code.root, "readOnly": True})
    elif run.code.delivery == "git":
        out.append({"name": CODE_VOLUME, "emptyDir": {}})
        mounts.append({"name": CODE_VOLUME, "mountPath": run.code.root})
    out.append({"name": LAUNCH_VOLUME, "configMap": {**source, "items": delivered.launch}})
    mounts.append({"name": LAUNCH_VOLUME, "mountPath": LAUNCH_DIR, "readOnly": True})
    if shm and run.shm is not None:
        out.append({"name": SHM_VOLUME, "emptyDir": {"medium": "Memory", "sizeLimit": run.shm}})
        mounts.append({"name": SHM_VOLUME, "mountPath": "/dev/shm"})  # noqa: S108
    if HOT_DIR not in {mount.path for mount in run.mounts} | {copy.mount_path for copy in run.copies}:
        out.append({"name": HOT_VOLUME, "emptyDir": {}})
        mounts.append({"name": HOT_VOLUME, "mountPath": HOT_DIR})
    for mount in run.mounts:
        name = volume_name(mount.name)
        out.append({"name": name, "persistentVolumeClaim": {"claimName": mount.claim}})
        place: dict[str, Json] = {"name": name, "mountPath": mount.path}
        if mount.read_only:
            place["readOnly"] = True
        mounts.append(place)
    for copy in run.copies:
        out.append({"name": f"copy-{copy.name}", "emptyDir": {}})
        place = {"name": f"copy-{copy.name}", "mountPath": copy.mount_path}
        if copy.mount_path != run.code.root:
            place["readOnly"] = True
        mounts.append(place)
    return Volumes(out, mounts)


def volume_name(name: str) -> str:
    """The volume of a user's mount, out of the way of taugen's own."""
    return f"user-{name}" if name in OWN_VOLUMES or name.startswith("copy-") else name


def container(
    f: Frame,
    name: str,
    image: str,
    resources: Object,
    *,
    command: tuple[str, ...] = (),
    args: tuple[str, ...] = (),
    working_dir: str | None = None,
    ports: list[Json] | None = None,
    env: list[Json] | None = None,
    mounts: list[Json] | None = None,
) -> Object:
    """A container, its keys in the usual order. Command and arguments arrive as given: what Kubernetes would expand is escaped."""
    out: Object = {"name": name, "image": image}
    if command:
        out["command"] = [escape(word) for word in command]
    if args:
        out["args"] = [escape(word) for word in args]
    if working_dir is not None:
        out["workingDir"] = working_dir
    if ports:
        out["ports"] = ports
    if env:
        out["env"] = env
    out["resources"] = resources
    if mounts:
        out["volumeMounts"] = mounts
    out["securityContext"] = container_security(f)
    return out


def resources(wanted: Resources) -> Object:
    """Requests and limits: equal for memory and devices; a CPU limit only where one was asked for."""
    requests: dict[str, Json] = {"cpu": wanted.cpu, "memory": wanted.memory}
    limits: dict[str, Json] = {"memory": wanted.memory_limit}
    if wanted.cpu_limit is not None:
        limits = {"cpu": wanted.cpu_limit, **limits}
    if wanted.disk is not None:
        requests["ephemeral-storage"] = wanted.disk
    for name in sorted(wanted.extended):
        if wanted.extended[name]:
            requests[name] = limits[name] = str(wanted.extended[name])
    return {"requests": requests, "limits": limits}


def container_security(f: Frame) -> Object:
    """What a container may: no privilege escalation; in a restricted run no capability and no root; with RDMA the pinning of memory."""
    out: Object = {"allowPrivilegeEscalation": False}
    capabilities: dict[str, Json] = {}
    if f.run.restricted:
        out["runAsNonRoot"] = True
        capabilities["drop"] = ["ALL"]
    if f.run.rdma:
        capabilities["add"] = ["IPC_LOCK"]
    if capabilities:
        out["capabilities"] = capabilities
    return out


def pod_security(f: Frame) -> Object:
    """The pod's part: the runtime's seccomp profile; in a restricted run a user without rights, who owns what is mounted."""
    seccomp: Json = {"type": "RuntimeDefault"}
    if not f.run.restricted:
        return {"seccompProfile": seccomp}
    user, group = (RAY_USER, RAY_GROUP) if f.run.kind == "rayjob" else (UNPRIVILEGED, UNPRIVILEGED)
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": group,
        "fsGroup": group,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": seccomp,
    }


def pod(
    f: Frame,
    main: Object,
    *,
    volumes: list[Json] | None = None,
    init: list[Json] | None = None,
    subdomain: str | None = None,
    placed: bool = True,
    program: bool = True,
) -> Object:
    """A pod template. `placed`: it goes where the run wants its GPUs; `program`: user code runs in it, so that it needs time to save and
    the run's identity."""
    run = f.run
    labels: dict[str, Json] = {**f.labels, ATTEMPT_LABEL: str(f.number)}
    if f.run.azure_identity:
        labels[AZURE_LABEL] = "true"
    meta: Object = {"labels": dict(sorted(labels.items()))}
    if placed and run.placement.topology is not None:
        kind, level = run.placement.topology
        meta["annotations"] = {f"kueue.x-k8s.io/podset-{kind}-topology": level}
    spec: Object = {"restartPolicy": "Never"}
    if program:
        spec["terminationGracePeriodSeconds"] = run.grace_period
        if run.service_account is not None:
            spec["serviceAccountName"] = run.service_account
    spec["automountServiceAccountToken"] = run.token and program
    if subdomain is not None:
        spec["subdomain"] = subdomain
    if placed:
        if run.placement.affinity is not None:
            spec["affinity"] = dict(run.placement.affinity)
        if run.placement.tolerations:
            spec["tolerations"] = [dict(t) for t in run.placement.tolerations]
    spec["securityContext"] = pod_security(f)
    if init:
        spec["initContainers"] = init
    spec["containers"] = [main]
    if volumes:
        spec["volumes"] = volumes
    return {"metadata": meta, "spec": spec}


def init_containers(f: Frame, size: Resources) -> list[Json]:
    """What runs before the program: the checkout, copies out of images. Each may use what the program asks for but its devices: the pod is
    no larger for it."""
    run = f.run
    if run.code.delivery != "git" and not run.copies:
        return []
    small = resources(Resources(size.cpu, size.memory, size.cpu_limit, size.memory_limit))
    out: list[Json] = []
    if run.code.delivery == "git":
        out.append(_checkout(f, small))
    for copy in run.copies:
        mounts: list[Json] = [{"name": f"copy-{copy.name}", "mountPath": copy.mount_path}]
        args = (copy.source_path, copy.mount_path)
        out.append(container(f, f"copy-{copy.name}", copy.image, small, command=("/bin/sh", "-c", COPY, "copy"), args=args, mounts=mounts))
    return out


def _checkout(f: Frame, size: Object) -> Object:
    """The checkout: Git comes with the run's own image, the one image that policy has allowed. The key is mounted here only."""
    code = f.run.code
    assert code.url is not None
    assert code.commit is not None
    env: list[Json] = [{"name": "TAU_GIT_COMMIT", "value": code.commit}]
    mounts: list[Json] = [{"name": CODE_VOLUME, "mountPath": code.root}, {"name": LAUNCH_VOLUME, "mountPath": LAUNCH_DIR, "readOnly": True}]
    if code.secret is not None:
        env.append({"name": "TAU_GIT_KEY", "value": f"{KEY_DIR}/key"})
        mounts.append({"name": KEY_VOLUME, "mountPath": KEY_DIR, "readOnly": True})
    if f.run.program.launcher == "shell":
        env.append({"name": "TAU_GIT_PROGRAM", "value": escape(program_file(f.run) or "")})
    env.append({"name": "TAU_GIT_ROOT", "value": code.root})
    env.append({"name": "TAU_GIT_URL", "value": escape(code.url)})
    proxy: list[Json] = [{"name": v.name, "value": escape(v.value)} for v in f.run.env if v.name.upper() in PROXY and v.secret is None]
    return container(f, "checkout", f.run.image, size, command=("/bin/sh", f"{LAUNCH_DIR}/{CHECKOUT}"), env=proxy + env, mounts=mounts)


def key_volume(f: Frame) -> list[Json]:
    """The volume with the key of a private repository, for the checkout alone."""
    if f.run.code.delivery != "git" or f.run.code.secret is None:
        return []
    name, key = f.run.code.secret
    return [{"name": KEY_VOLUME, "secret": {"secretName": name, "items": [{"key": key, "path": "key"}]}}]
