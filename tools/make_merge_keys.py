"""Builds taugen/data/merge_keys.json: by which keys the lists of the kinds that taugen renders are merged.

In: a folder of Kubernetes' OpenAPI v3 files (one a group and version, as in kubernetes/kubernetes api/openapi-spec/v3) and folders of
CRDs. Out: a compact table. A list is merged by `x-kubernetes-list-map-keys` where it is a map, else by `x-kubernetes-patch-merge-key`;
sets are united; every other list is atomic.

    tools/make_merge_keys.py OPENAPI_FOLDER CRD_FOLDER... > taugen/data/merge_keys.json
"""

import json
import sys
from pathlib import Path

import yaml

BUILTIN = {
    "api__v1.json": ["ConfigMap", "LimitRange", "Namespace", "PersistentVolumeClaim", "ResourceQuota", "Service", "ServiceAccount"],
    "apis_batch__v1.json": ["Job"],
    "apis_networking.k8s.io__v1.json": ["NetworkPolicy"],
    "apis_rbac.authorization.k8s.io__v1.json": ["Role", "RoleBinding"],
}
GROUP = {
    "api__v1.json": "core.v1", "apis_batch__v1.json": "batch.v1", "apis_networking.k8s.io__v1.json": "networking.v1",
    "apis_rbac.authorization.k8s.io__v1.json": "rbac.v1",
}  # fmt: skip
CUSTOM = {
    "AppProject": "v1alpha1", "Application": "v1alpha1", "ClusterQueue": "v1beta2", "Cohort": "v1beta2", "GitRepository": "v1",
    "JobSet": "v1alpha2", "Kustomization": "v1", "LocalQueue": "v1beta2", "RayJob": "v1", "ResourceFlavor": "v1beta2",
    "Topology": "v1beta2", "WorkloadPriorityClass": "v1beta2",
}  # fmt: skip
OURS = {("RayJob", ("spec", "rayClusterSpec", "workerGroupSpecs")): ["groupName"]}
"""Atomic for the API server, but KubeRay demands that group names differ: a patch of one group is meant so."""


class Table:
    """Shapes, each once: `[keys or null, {field: shape}]`."""

    def __init__(self) -> None:
        self.shapes: list[list] = []
        self.known: dict[str, int] = {}

    def add(self, keys: list[str] | None, fields: dict[str, int]) -> int | None:
        """The number of a shape; None for one that says nothing."""
        if keys is None and not fields:
            return None
        text = json.dumps([keys, fields], sort_keys=True)
        if text not in self.known:
            self.known[text] = len(self.shapes)
            self.shapes.append([keys, fields])
        return self.known[text]


def build(table: Table, schema: dict, definitions: dict, kind: str, path: tuple[str, ...] = ()) -> int | None:
    """The shape of a schema."""
    schema = resolved(schema, definitions)
    if schema.get("type") == "array" or "items" in schema:
        keys = OURS.get((kind, path), merge_keys(schema))
        if keys is None:
            return None
        items = resolved(schema["items"], definitions)
        return table.add(keys, properties(table, items, definitions, kind, path) if keys else {})
    return table.add(None, properties(table, schema, definitions, kind, path))


def properties(table: Table, schema: dict, definitions: dict, kind: str, path: tuple[str, ...]) -> dict[str, int]:
    """Shapes of an object's fields, those that say something."""
    found = {}
    for name, below in sorted(schema.get("properties", {}).items()):
        if name == "status" and not path:
            continue
        shape = build(table, below, definitions, kind, (*path, name))
        if shape is not None:
            found[name] = shape
    return found


def resolved(schema: dict, definitions: dict) -> dict:
    """Follow `$ref`, also where it stands alone in allOf."""
    outer = schema
    while True:
        if "allOf" in schema and len(schema["allOf"]) == 1:
            schema = {**schema["allOf"][0], **{k: v for k, v in schema.items() if k != "allOf"}}
        if "$ref" not in schema:
            return {**schema, **{k: v for k, v in outer.items() if k.startswith("x-kubernetes")}}
        schema = definitions[schema["$ref"].rpartition("/")[2]]


def merge_keys(schema: dict) -> list[str] | None:
    """Keys of a merged list, none for a set, None for an atomic list."""
    kind, strategy = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-patch-strategy", "")
    if kind == "map":
        return list(schema["x-kubernetes-list-map-keys"])
    if kind == "atomic" and "merge" not in strategy:
        return None
    if "merge" in strategy:
        key = schema.get("x-kubernetes-patch-merge-key")
        return [key] if key else []
    return [] if kind == "set" else None


def main(openapi: Path, crds: list[Path]) -> None:
    """Write the table to standard output."""
    table, kinds = Table(), {}
    core = json.loads((openapi / "api__v1.json").read_text())["components"]["schemas"]
    meta = build(table, core["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"], core, "")
    for file, names in BUILTIN.items():
        definitions = json.loads((openapi / file).read_text())["components"]["schemas"]
        for name in names:
            kinds[name] = build(table, definitions[f"io.k8s.api.{GROUP[file]}.{name}"], definitions, name)
    kinds["PodTemplate"] = build(table, core["io.k8s.api.core.v1.PodTemplateSpec"], core, "")
    for file in sorted(p for folder in crds for p in folder.rglob("*.yaml")):
        for crd in yaml.load_all(file.read_text(), yaml.CSafeLoader):
            name = crd["spec"]["names"]["kind"] if crd and crd.get("kind") == "CustomResourceDefinition" else None
            for version in crd["spec"]["versions"] if name in CUSTOM else ():
                if version["name"] == CUSTOM[name]:
                    schema = version["schema"]["openAPIV3Schema"]
                    fields = properties(table, schema, {}, name, ())
                    kinds[name] = table.add(None, {**fields, "metadata": meta})
    missing = sorted({*CUSTOM} - {*kinds})
    if missing:
        sys.exit(f"no CRD of {', '.join(missing)}")
    rows = ",\n".join("  " + json.dumps(row, sort_keys=True, separators=(",", ":")) for row in table.shapes)
    names = json.dumps(dict(sorted(kinds.items())), separators=(",", ":"))
    print(f'{{\n "kinds": {names},\n "shapes": [\n{rows}\n ]\n}}')


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(arg) for arg in sys.argv[2:]])
