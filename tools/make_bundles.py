"""Build the schema bundles that ship below `taugen/data/schemas` from the files that the projects publish.

    python tools/make_bundles.py --openapi DIR --crds DIR --out taugen/data/schemas

`--openapi DIR` holds a folder for each Kubernetes release: `v1.35/` with the OpenAPI v3 files, one a group and version, and `v1.36/` with
the OpenAPI v2 document. `--crds DIR` holds a folder for each entry of `PRODUCTS` with the CRD files of that release. Equal sources give
equal bytes.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from taugen.validate.bundles import QUANTITY, Schema, file_name, order
from taugen.validate.dialect import Compactor
from taugen.validate.hoist import dump
from taugen.validate.importing import assemble, crd_bundles


@dataclass(frozen=True)
class Product:
    """Where a product's schemas come from: the folder under `--openapi` or `--crds`, and what NOTICE says about it."""

    name: str
    version: str
    release: str
    folder: str
    repository: str
    kinds: tuple[str, ...]
    licence: str = "Apache-2.0"


KUBERNETES = (
    Product("kubernetes", "1.35", "v1.35", "v1.35", "kubernetes-sigs/kubectl-validate", ()),
    Product("kubernetes", "1.36", "v1.36", "v1.36", "kubernetes-client/python", ()),
)
RAY = ("ray.io/v1/RayCluster", "ray.io/v1/RayJob", "ray.io/v1/RayService")
KUEUE = (
    "AdmissionCheck",
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "MultiKueueCluster",
    "MultiKueueConfig",
    "ProvisioningRequestConfig",
    "ResourceFlavor",
    "Topology",
    "WorkloadPriorityClass",
)
PRODUCTS = (
    Product("kueue", "0.19", "v0.19.2", "kueue", "kubernetes-sigs/kueue", tuple(f"kueue.x-k8s.io/v1beta2/{kind}" for kind in KUEUE)),
    Product("kuberay", "1.6", "v1.6.2", "kuberay-1.6", "ray-project/kuberay", RAY),
    Product("kuberay", "1.7", "v1.7.0", "kuberay", "ray-project/kuberay", RAY),
    Product("jobset", "0.12", "v0.12.0", "jobset", "kubernetes-sigs/jobset", ("jobset.x-k8s.io/v1alpha2/JobSet",)),
    Product(
        "argocd", "3.5", "v3.5.1", "argo-cd", "argoproj/argo-cd", ("argoproj.io/v1alpha1/AppProject", "argoproj.io/v1alpha1/Application")
    ),
    # Flux is released as a whole, and each of its controllers has a repository and numbers of its own.
    Product("flux", "2.9", "v1.6.3", "flux", "fluxcd/helm-controller", ("helm.toolkit.fluxcd.io/v2/HelmRelease",)),
    Product("flux", "2.9", "v1.9.4", "flux", "fluxcd/kustomize-controller", ("kustomize.toolkit.fluxcd.io/v1/Kustomization",)),
    Product(
        "flux",
        "2.9",
        "v1.9.1",
        "flux",
        "fluxcd/source-controller",
        tuple(f"source.toolkit.fluxcd.io/v1/{kind}" for kind in ("GitRepository", "HelmRepository", "OCIRepository")),
    ),
    Product(
        "prometheusOperator",
        "0.93",
        "v0.93.0",
        "prometheus-operator",
        "prometheus-operator/prometheus-operator",
        tuple(f"monitoring.coreos.com/v1/{kind}" for kind in ("PodMonitor", "PrometheusRule", "ServiceMonitor")),
    ),
    Product(
        "nodeReadinessController",
        "0.5",
        "v0.5.0",
        "node-readiness-controller",
        "kubernetes-sigs/node-readiness-controller",
        ("readiness.node.x-k8s.io/v1alpha1/NodeReadinessRule",),
    ),
)

# The built-in kinds that manifests of this project hold. Secret is absent: a secret's value never comes into Git.
BUILT_IN = (
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
    "apps/v1/DaemonSet",
    "apps/v1/Deployment",
    "batch/v1/CronJob",
    "batch/v1/Job",
    "networking.k8s.io/v1/NetworkPolicy",
    "rbac.authorization.k8s.io/v1/ClusterRole",
    "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
    "rbac.authorization.k8s.io/v1/Role",
    "rbac.authorization.k8s.io/v1/RoleBinding",
    "scheduling.k8s.io/v1/PriorityClass",
    "storage.k8s.io/v1/StorageClass",
    "v1/ConfigMap",
    "v1/LimitRange",
    "v1/Namespace",
    "v1/PersistentVolumeClaim",
    "v1/ResourceQuota",
    "v1/Service",
    "v1/ServiceAccount",
)

# Types whose published schema says less than their decoder accepts or refuses.
SPECIAL: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"], "pattern": QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": True, "format": "int32"},
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": {"type": "object"},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
}

# What the API server's validation holds values to and its OpenAPI leaves out: the constants of the types in kubernetes/api, and the ranges
# of pkg/apis/*/validation. Key: type and field, with [] for the items of a list.
_PORT = {"minimum": 1, "maximum": 65535}
_PROTOCOL = {"enum": ["TCP", "UDP", "SCTP"], "default": "TCP"}
_COUNT = {"minimum": 0}
_SELECT = ["In", "NotIn", "Exists", "DoesNotExist"]
_PROFILE = {"enum": ["Localhost", "RuntimeDefault", "Unconfined"]}
VALUES: dict[str, Schema] = {
    "admissionregistration.v1.MatchResources.matchPolicy": {"enum": ["Exact", "Equivalent"]},
    "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec.validationActions[]": {"enum": ["Deny", "Warn", "Audit"]},
    "admissionregistration.v1.ValidatingAdmissionPolicySpec.failurePolicy": {"enum": ["Ignore", "Fail"]},
    "apps.v1.DaemonSetUpdateStrategy.type": {"enum": ["OnDelete", "RollingUpdate"]},
    "apps.v1.DeploymentSpec.replicas": _COUNT,
    "apps.v1.DeploymentStrategy.type": {"enum": ["Recreate", "RollingUpdate"]},
    "batch.v1.CronJobSpec.concurrencyPolicy": {"enum": ["Allow", "Forbid", "Replace"]},
    "batch.v1.JobSpec.activeDeadlineSeconds": _COUNT,
    "batch.v1.JobSpec.backoffLimit": _COUNT,
    "batch.v1.JobSpec.backoffLimitPerIndex": _COUNT,
    "batch.v1.JobSpec.completionMode": {"enum": ["NonIndexed", "Indexed"]},
    "batch.v1.JobSpec.completions": _COUNT,
    "batch.v1.JobSpec.maxFailedIndexes": _COUNT,
    "batch.v1.JobSpec.parallelism": _COUNT,
    "batch.v1.JobSpec.podReplacementPolicy": {"enum": ["TerminatingOrFailed", "Failed"]},
    "batch.v1.JobSpec.ttlSecondsAfterFinished": _COUNT,
    "batch.v1.PodFailurePolicyOnExitCodesRequirement.operator": {"enum": ["In", "NotIn"]},
    "batch.v1.PodFailurePolicyRule.action": {"enum": ["FailJob", "FailIndex", "Ignore", "Count"]},
    "core.v1.AppArmorProfile.type": _PROFILE,
    "core.v1.Container.imagePullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
    "core.v1.Container.terminationMessagePolicy": {"enum": ["File", "FallbackToLogsOnError"]},
    "core.v1.ContainerPort.containerPort": _PORT,
    "core.v1.ContainerPort.protocol": _PROTOCOL,
    "core.v1.EmptyDirVolumeSource.medium": {"pattern": "^(|Memory|HugePages(-.+)?)$"},
    "core.v1.HTTPGetAction.scheme": {"enum": ["HTTP", "HTTPS"]},
    "core.v1.HostPathVolumeSource.type": {
        "enum": ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"]
    },
    "core.v1.NodeSelectorRequirement.operator": {"enum": [*_SELECT, "Gt", "Lt"]},
    "core.v1.PersistentVolumeClaimSpec.accessModes[]": {"enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]},
    "core.v1.PersistentVolumeClaimSpec.volumeMode": {"enum": ["Block", "Filesystem"]},
    "core.v1.PodSecurityContext.fsGroupChangePolicy": {"enum": ["OnRootMismatch", "Always"]},
    "core.v1.PodSpec.activeDeadlineSeconds": {"minimum": 1},
    "core.v1.PodSpec.dnsPolicy": {"enum": ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]},
    "core.v1.PodSpec.preemptionPolicy": {"enum": ["PreemptLowerPriority", "Never"]},
    "core.v1.PodSpec.restartPolicy": {"enum": ["Always", "OnFailure", "Never"]},
    "core.v1.PodSpec.terminationGracePeriodSeconds": _COUNT,
    "core.v1.SeccompProfile.type": _PROFILE,
    "core.v1.ServicePort.port": _PORT,
    "core.v1.ServicePort.protocol": _PROTOCOL,
    "core.v1.ServiceSpec.externalTrafficPolicy": {"enum": ["Cluster", "Local"]},
    "core.v1.ServiceSpec.internalTrafficPolicy": {"enum": ["Cluster", "Local"]},
    "core.v1.ServiceSpec.ipFamilyPolicy": {"enum": ["SingleStack", "PreferDualStack", "RequireDualStack"]},
    "core.v1.ServiceSpec.sessionAffinity": {"enum": ["ClientIP", "None"]},
    "core.v1.ServiceSpec.type": {"enum": ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]},
    "core.v1.Toleration.effect": {"enum": ["", "NoSchedule", "PreferNoSchedule", "NoExecute"]},
    # Lt and Gt stand behind a feature gate that a cluster may have open.
    "core.v1.Toleration.operator": {"enum": ["Exists", "Equal", "Lt", "Gt"]},
    "core.v1.TopologySpreadConstraint.nodeAffinityPolicy": {"enum": ["Honor", "Ignore"]},
    "core.v1.TopologySpreadConstraint.nodeTaintsPolicy": {"enum": ["Honor", "Ignore"]},
    "core.v1.TopologySpreadConstraint.whenUnsatisfiable": {"enum": ["DoNotSchedule", "ScheduleAnyway"]},
    "core.v1.VolumeMount.mountPropagation": {"enum": ["None", "HostToContainer", "Bidirectional"]},
    "meta.v1.LabelSelectorRequirement.operator": {"enum": _SELECT},
    "networking.v1.NetworkPolicyPort.protocol": {"enum": ["TCP", "UDP", "SCTP"]},
    "networking.v1.NetworkPolicySpec.policyTypes[]": {"enum": ["Ingress", "Egress"]},
    "rbac.v1.RoleRef.kind": {"enum": ["ClusterRole", "Role"]},
    "rbac.v1.Subject.kind": {"enum": ["Group", "ServiceAccount", "User"]},
    "scheduling.v1.PriorityClass.preemptionPolicy": {"enum": ["PreemptLowerPriority", "Never"]},
    "storage.v1.StorageClass.reclaimPolicy": {"enum": ["Delete", "Recycle", "Retain"]},
    "storage.v1.StorageClass.volumeBindingMode": {"enum": ["Immediate", "WaitForFirstConsumer"]},
}


class OpenApi:
    """The definitions of one Kubernetes release, references resolved on demand. OpenAPI v2 and v3 differ only in where they keep them."""

    def __init__(self, folder: Path) -> None:
        self.definitions: dict[str, Schema] = {}
        self.origin: dict[str, Path] = {}
        for path in sorted(folder.glob("*.json")):
            document = json.loads(path.read_bytes())
            found = document.get("definitions") or document["components"]["schemas"]
            for name, definition in found.items():
                if name not in self.definitions:
                    self.definitions[name], self.origin[name] = definition, path
        if not self.definitions:
            raise SystemExit(f"no OpenAPI files in {folder}")
        self.kinds = dict(self._kinds())
        self.used: set[str] = set()
        self._resolved: dict[str, Schema] = {}

    def _kinds(self) -> Iterator[tuple[str, str]]:
        for name in sorted(self.definitions):
            for gvk in self.definitions[name].get("x-kubernetes-group-version-kind", ()):
                group = f"{gvk['group']}/" if gvk["group"] else ""
                yield f"{group}{gvk['version']}/{gvk['kind']}", name

    def definition(self, name: str) -> Schema:
        """A definition with everything below it resolved and `VALUES` added. The same object each time."""
        if name not in self._resolved:
            self._resolved[name] = dict(SPECIAL.get(name) or self._resolve(self.definitions[name]))
            short = name.removeprefix("io.k8s.api.").removeprefix("io.k8s.apimachinery.pkg.apis.")
            for field, node in self._resolved[name].get("properties", {}).items():
                self._add(f"{short}.{field}", node)
        return self._resolved[name]

    def _add(self, place: str, node: Schema) -> None:
        for key, holder in ((place, node), (f"{place}[]", node.get("items"))):
            if key in VALUES and holder is not None:
                self.used.add(key)
                holder.update(VALUES[key])

    def _resolve(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref") or (len(node.get("allOf", ())) == 1 and node["allOf"][0].get("$ref"))
        if isinstance(reference, str):
            return self.definition(reference.rsplit("/", 1)[1])
        return {key: self._resolve(value) for key, value in node.items()}


def borrow(node: Schema, real: Schema) -> None:
    """Give a CRD's copy of a built-in type the values that the built-in one is held to.

    The API server takes the CRD's object without them, and its controller then fails to make the pods: the run hangs.
    """
    for key, value in real.items():
        if key in ("enum", "pattern", "minimum", "maximum") and key not in node and node.get("type") == real.get("type"):
            node[key] = value
    for key, child in node.get("properties", {}).items():
        if key in real.get("properties", {}):
            borrow(child, real["properties"][key])
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict) and isinstance(real.get(key), dict):
            borrow(node[key], real[key])


def borrow_all(node: Any, pod: Schema, job: Schema) -> None:
    """`borrow` wherever a CRD embeds a pod or a Job, known by the fields that nothing else has together."""
    if isinstance(node, dict):
        names = node.get("properties", {}).keys()
        if {"completions", "completionMode", "template"} <= names:
            borrow(node, job)
        elif {"containers", "restartPolicy", "tolerations"} <= names:
            borrow(node, pod)
        else:
            for child in [*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")]:
                borrow_all(child, pod, job)


def source_of(product: Product, path: Path) -> dict[str, str]:
    """What `x-source` says."""
    return {
        "product": product.name,
        "version": product.version,
        "release": product.release,
        "repository": f"https://github.com/{product.repository}",
        "licence": product.licence,
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def built_in(product: Product, api: OpenApi) -> Iterator[tuple[str, str, Schema]]:
    """The bundles of one Kubernetes release."""
    compactor = Compactor(crd=False)
    meta = compactor.schema(api.definition(META))
    for full in BUILT_IN:
        api_version, kind = full.rsplit("/", 1)
        name = api.kinds[full]
        definition = api.definition(name)
        without = {**definition, "properties": {k: v for k, v in definition["properties"].items() if k not in ("status", "metadata")}}
        yield api_version, kind, assemble(compactor.schema(without), meta, api_version, kind, source_of(product, api.origin[name]))
    # A misspelt entry would check nothing.
    if api.used != VALUES.keys():
        raise SystemExit(f"{product.name} {product.version} has no field {', '.join(sorted(VALUES.keys() - api.used))}")


META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def custom(product: Product, folder: Path, meta: Schema, pod: Schema, job: Schema) -> Iterator[tuple[str, str, Schema]]:
    """The bundles of one release of another project: its kinds in `product.kinds`, all of them."""
    import yaml

    missing = set(product.kinds)
    for path in sorted(folder.glob("*.yaml")):
        for crd in yaml.load_all(path.read_bytes(), yaml.CSafeLoader):
            served = [v for v in crd["spec"]["versions"] if f"{crd['spec']['group']}/{v['name']}/{crd['spec']['names']['kind']}" in missing]
            for version in served:
                borrow_all(version["schema"]["openAPIV3Schema"], pod, job)
            wanted = {**crd, "spec": {**crd["spec"], "versions": served}}
            for api_version, kind, bundle in crd_bundles(wanted, meta, source_of(product, path)):
                missing.discard(f"{api_version}/{kind}")
                yield api_version, kind, bundle
    if missing:
        raise SystemExit(f"{folder} has no {', '.join(sorted(missing))}")


def build(openapi: Path, crds: Path) -> dict[str, bytes]:
    """File name below the output folder -> bytes."""
    files: dict[str, bytes] = {}
    index: dict[str, dict[str, list[str]]] = {}

    def keep(product: Product, made: Iterator[tuple[str, str, Schema]]) -> None:
        for api_version, kind, bundle in made:
            files[f"{product.name}/{product.version}/{file_name(api_version, kind)}"] = dump(bundle)
            index.setdefault(product.name, {}).setdefault(product.version, []).append(f"{api_version}/{kind}")

    apis = {product: OpenApi(openapi / product.folder) for product in KUBERNETES}
    for product, api in apis.items():
        keep(product, built_in(product, api))
    newest = apis[max(apis, key=lambda product: order(product.version))]
    meta = Compactor(crd=False).schema(newest.definition(META))
    pod, job = newest.definition("io.k8s.api.core.v1.PodSpec"), newest.definition("io.k8s.api.batch.v1.JobSpec")
    for product in PRODUCTS:
        keep(product, custom(product, crds / product.folder, meta, pod, job))
    listed = {name: {version: sorted(kinds) for version, kinds in versions.items()} for name, versions in index.items()}
    files["index.json"] = (json.dumps(listed, indent=1, sort_keys=True) + "\n").encode()
    return files


def main() -> None:
    """Write the bundles; what was in the folder before is gone."""
    parser = argparse.ArgumentParser(description="Build the schema bundles that ship with taugen.")
    for option in ("--openapi", "--crds", "--out"):
        parser.add_argument(option, type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    files = build(options.openapi, options.crds)
    shutil.rmtree(options.out, ignore_errors=True)
    for name, data in files.items():
        path = options.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")


if __name__ == "__main__":
    main()
