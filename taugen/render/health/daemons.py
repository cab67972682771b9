"""The DaemonSets of a GPU class: the check runner, node-problem-detector, the DCGM exporter.

In: a policy and a GPU class. Out: DaemonSets, each with what it needs and no more. Fields that the API server would fill inside of lists
are written out, so that a reconciler never sees a difference. Each tolerates every taint: a node that a taint of health, of its pool or of
somebody else keeps free of work has to be watched all the more, or it would never be found well again.
"""

from collections.abc import Iterator

from taugen.policy.health_checks import chosen
from taugen.policy.health_nodes import Watched
from taugen.policy.set import Policy
from taugen.render.health import names, settings
from taugen.render.types import Object
from taugen.words import Json

PORT, DETECTOR_PORT, EXPORTER_PORT = 9408, 20257, 9400
HOME = "/taugen"
DRIVER = "/host/driver"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105
_TMP = "/tmp"  # noqa: S108
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/nvidia/bin"
_BINS = ("", "/bin", "/usr/bin", "/usr/local/bin")
_LIBS = ("/lib64", "/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")


def objects(policy: Policy, watched: Watched) -> Iterator[Object]:
    """The DaemonSets of a class."""
    images = watched.item.spec.images
    yield _daemonset(watched, names.RUNNER, _runner(policy, watched))
    if images.nodeProblemDetector is not None:
        yield _daemonset(watched, names.DETECTOR, _detector(images.nodeProblemDetector))
    if images.dcgmExporter is not None:
        yield _daemonset(watched, names.EXPORTER, _exporter(watched, images.dcgmExporter))


def _daemonset(watched: Watched, app: str, pod: Object) -> Object:
    labels = names.labels(app, watched)
    selector: dict[str, Json] = {key: labels[key] for key in sorted(labels)}
    template: Object = {"metadata": {"labels": {**selector}}, "spec": {**pod, **_everywhere(watched)}}
    spec: Object = {
        "selector": {"matchLabels": selector},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%", "maxSurge": 0}},
        # A pod that ends soon after its start has to hold up the next nodes.
        "minReadySeconds": 10,
        "template": template,
    }
    metadata = names.metadata(names.named(app, watched), wave=names.WAVE, extra=labels)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}


def _everywhere(watched: Watched) -> Object:
    """On each node of the class, whatever else runs there and whatever keeps others off."""
    terms: list[Json] = []
    for target in watched.targets:
        wanted: list[Json] = [{"key": key, "operator": "In", "values": [target.labels[key]]} for key in sorted(target.labels)]
        terms.append({"matchExpressions": wanted})
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
        "tolerations": [{"operator": "Exists"}],
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 30,
    }


# ------------------------------------------------------------------------------------------------------------------ runner


def _runner(policy: Policy, watched: Watched) -> Object:
    spec = watched.item.spec
    log = any(one.check.kernel_log for one in chosen(spec, watched.gpu_class, rdma=watched.rdma))
    container: Object = {
        "name": "runner",
        "image": spec.images.runner,
        "command": ["python3", "-B", "-m", settings.PACKAGE],
        "workingDir": HOME,
        "env": _environment(watched),
        "ports": [{"name": "metrics", "containerPort": PORT, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": _security(log=log, privileged=spec.driverRoot is not None),
        "livenessProbe": _alive(30),
        "readinessProbe": _alive(10),
        "volumeMounts": [
            {"name": "program", "mountPath": HOME, "readOnly": True},
            {"name": "answers", "mountPath": _TMP},
            _account_mount(),
        ],
    }
    volumes: list[Json] = [
        _program(policy, watched),
        {"name": "answers", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
        _account(),
    ]
    if spec.driverRoot is not None:
        mounts = container["volumeMounts"]
        assert isinstance(mounts, list)
        mounts.append({"name": "driver", "mountPath": DRIVER, "readOnly": True})
        volumes.append({"name": "driver", "hostPath": {"path": spec.driverRoot, "type": "Directory"}})
    pod: Object = {"serviceAccountName": names.RUNNER, "containers": [container], "volumes": volumes}
    return pod if spec.runtimeClass is None else {"runtimeClassName": spec.runtimeClass, **pod}


def _alive(seconds: int) -> Object:
    return {"httpGet": {"path": "/healthz", "port": "metrics", "scheme": "HTTP"}, "periodSeconds": seconds, "timeoutSeconds": 5}


def _environment(watched: Watched) -> list[Json]:
    """All GPUs are seen without being asked for: a full node must be checked too, and a request would take one away from work."""
    spec = watched.item.spec
    path, libraries = _PATH, ""
    if spec.driverRoot is not None:
        path = ":".join([_PATH, *(f"{DRIVER}{folder}" for folder in _BINS)])
        libraries = ":".join(f"{DRIVER}{folder}" for folder in _LIBS)
    env: list[Json] = [
        _field("NODE_NAME", "spec.nodeName"),
        _field("NODE_IP", "status.hostIP"),
        {"name": "GPUHEALTH_PORT", "value": str(PORT)},
        {"name": "GPUHEALTH_DCGM", "value": spec.dcgm or "$(NODE_IP):5555"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "utility"},
        {"name": "PATH", "value": path},
    ]
    return [*env, {"name": "LD_LIBRARY_PATH", "value": libraries}] if libraries else env


def _security(*, log: bool, privileged: bool) -> Object:
    """Root only where the kernel's log is read: added capabilities count for root alone. Devices without a runtime: a privileged pod."""
    out: Object = {"readOnlyRootFilesystem": True}
    if privileged:
        return {"privileged": True, "runAsUser": 0, **out}
    capabilities: Object = {"add": ["SYSLOG"], "drop": ["ALL"]} if log else {"drop": ["ALL"]}
    user: Object = {"runAsUser": 0} if log else {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532}
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": capabilities,
        **user,
        **out,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _program(policy: Policy, watched: Watched) -> Object:
    runner, checks = (_name(obj) for obj in (settings.scripts(), settings.checks(policy, watched)))
    sources: list[Json] = [
        {"configMap": {"name": runner, "items": settings.items()}},
        {"configMap": {"name": checks, "items": [{"key": settings.SETTINGS, "path": settings.SETTINGS}]}},
    ]
    return {"name": "program", "projected": {"defaultMode": 0o444, "sources": sources}}


def _name(obj: Object) -> Json:
    metadata = obj["metadata"]
    assert isinstance(metadata, dict)
    return metadata["name"]


def _account() -> Object:
    """The account's token, bound to the pod: the admission policy knows the node by it. Only who needs the API server gets it."""
    name: Object = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
    sources: list[Json] = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [name]}},
    ]
    return {"name": "account", "projected": {"defaultMode": 0o444, "sources": sources}}


def _account_mount() -> Json:
    return {"name": "account", "mountPath": _TOKEN, "readOnly": True}


def _field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


# ------------------------------------------------------------------------------------------------- what policy may add


def _detector(image: str) -> Object:
    """node-problem-detector with the configuration of its image. It follows /dev/kmsg, which containers see only when privileged."""
    container: Object = {
        "name": "node-problem-detector",
        "image": image,
        "command": [
            "/node-problem-detector",
            "--logtostderr",
            "--config.system-log-monitor=/config/kernel-monitor.json,/config/readonly-monitor.json",
            "--prometheus-address=0.0.0.0",
            f"--prometheus-port={DETECTOR_PORT}",
        ],
        "env": [_field("NODE_NAME", "spec.nodeName")],
        "ports": [{"name": "metrics", "containerPort": DETECTOR_PORT, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "200Mi"}},
        "securityContext": {"privileged": True, "readOnlyRootFilesystem": True},
        "volumeMounts": [{"name": "kmsg", "mountPath": "/dev/kmsg", "readOnly": True}, _account_mount()],
    }
    volumes: list[Json] = [{"name": "kmsg", "hostPath": {"path": "/dev/kmsg", "type": "CharDevice"}}, _account()]
    return {"serviceAccountName": names.DETECTOR, "containers": [container], "volumes": volumes}


def _exporter(watched: Watched, image: str) -> Object:
    """The DCGM exporter, without rights at the API server. The kubelet's socket tells it which pod has which GPU."""
    spec = watched.item.spec
    env: list[Json] = [
        {"name": "DCGM_EXPORTER_LISTEN", "value": f":{EXPORTER_PORT}"},
        {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
        _field("NODE_NAME", "spec.nodeName"),
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "utility"},
    ]
    security: Object = {"privileged": True, "runAsUser": 0}
    if spec.driverRoot is None:
        security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsUser": 0}
    container: Object = {
        "name": "dcgm-exporter",
        "image": image,
        "env": env,
        "ports": [{"name": "metrics", "containerPort": EXPORTER_PORT, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": security,
        "volumeMounts": [{"name": "pod-resources", "mountPath": "/var/lib/kubelet/pod-resources", "readOnly": True}],
    }
    volumes: list[Json] = [{"name": "pod-resources", "hostPath": {"path": "/var/lib/kubelet/pod-resources", "type": "Directory"}}]
    if spec.driverRoot is not None:
        container["env"] = [*env, {"name": "LD_LIBRARY_PATH", "value": ":".join(f"{DRIVER}{folder}" for folder in _LIBS)}]
        container["volumeMounts"] = [
            {"name": "pod-resources", "mountPath": "/var/lib/kubelet/pod-resources", "readOnly": True},
            {"name": "driver", "mountPath": DRIVER, "readOnly": True},
        ]
        volumes.append({"name": "driver", "hostPath": {"path": spec.driverRoot, "type": "Directory"}})
    pod: Object = {"containers": [container], "volumes": volumes}
    return pod if spec.runtimeClass is None else {"runtimeClassName": spec.runtimeClass, **pod}
