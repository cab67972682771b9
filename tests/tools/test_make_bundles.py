"""The generator, on small definitions of its own; on the projects' files where they are at hand.

TAUGEN_OPENAPI and TAUGEN_CRDS name the folders that `tools/make_bundles.py` describes at its head.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from taugen.validate.bundles import SHIPPED
from taugen.validate.dialect import Compactor

ROOT = Path(__file__).parents[2]


def load():
    spec = importlib.util.spec_from_file_location("make_bundles", ROOT / "tools" / "make_bundles.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_bundles"] = module
    spec.loader.exec_module(module)
    return module


make_bundles = load()

CONTAINER = {
    "properties": {
        "imagePullPolicy": {"type": "string"},
        "ports": {"type": "array", "items": {"properties": {"containerPort": {"type": "integer", "format": "int32"}}, "type": "object"}},
        "image": {"type": "string", "default": ""},
    },
    "type": "object",
}
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def api(folder, document):
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(document))
    return make_bundles.OpenApi(folder)


def thing(prefix, wrapped):
    reference = {"$ref": f"{prefix}io.k8s.api.core.v1.Container"}
    properties = {
        "main": {"allOf": [reference], "default": {}} if wrapped else reference,
        "size": {"$ref": f"{prefix}{QUANTITY}"},
        "other": {"type": "array", "items": reference},
    }
    gvk = [{"group": "acme", "kind": "Thing", "version": "v1"}, {"group": "", "kind": "Thing", "version": "v1"}]
    return {"properties": properties, "type": "object", "x-kubernetes-group-version-kind": gvk}


def definitions(prefix, wrapped):
    return {"io.k8s.api.core.v1.Container": CONTAINER, QUANTITY: {"type": "string"}, "Thing": thing(prefix, wrapped)}


def test_openapi_2_and_3_give_one_schema_with_the_values_that_they_leave_out(tmp_path):
    two = api(tmp_path / "two", {"definitions": definitions("#/definitions/", False)})
    three = api(tmp_path / "three", {"components": {"schemas": definitions("#/components/schemas/", True)}})
    assert two.kinds == three.kinds == {"acme/v1/Thing": "Thing", "v1/Thing": "Thing"}
    first, second = (Compactor(crd=False).schema(found.definition("Thing")) for found in (two, three))
    assert first == second
    assert first["properties"]["main"] == first["properties"]["other"]["items"]
    assert first["properties"]["main"]["properties"]["imagePullPolicy"] == {"type": "string", "enum": ["Always", "IfNotPresent", "Never"]}
    assert first["properties"]["size"]["type"] == ["string", "number"]
    assert two.used == three.used == {"core.v1.Container.imagePullPolicy"}


def test_a_folder_without_definitions_stops(tmp_path):
    with pytest.raises(SystemExit, match="no OpenAPI files"):
        make_bundles.OpenApi(tmp_path)


def test_pods_inside_custom_resources_borrow_the_values_of_real_ones():
    real = {
        "type": "object",
        "properties": {
            "restartPolicy": {"type": "string", "enum": ["Never"]},
            "containers": {"type": "array", "items": {"properties": {"n": {"type": "integer", "minimum": 1}}}},
        },
    }
    pod = {
        "type": "object",
        "properties": {
            "restartPolicy": {"type": "string"},
            "tolerations": {},
            "containers": {"type": "array", "items": {"properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}}},
        },
    }
    lookalike = {"type": "object", "properties": {"restartPolicy": {"type": "string"}}}
    root = {"properties": {"a": {"items": {"properties": {"spec": pod}}}, "b": lookalike}}
    make_bundles.borrow_all(root, real, {})
    assert pod["properties"]["restartPolicy"]["enum"] == ["Never"]
    assert pod["properties"]["containers"]["items"]["properties"] == {"n": {"type": "integer", "minimum": 1}, "m": {"type": "integer"}}
    assert lookalike["properties"]["restartPolicy"] == {"type": "string"}


def test_a_crd_that_lacks_a_kind_stops(tmp_path):
    product = make_bundles.Product("a", "1", "v1", "a", "a/a", ("acme.dev/v1/Widget",))
    with pytest.raises(SystemExit, match=r"acme\.dev/v1/Widget"):
        list(make_bundles.custom(product, tmp_path, {}, {}, {}))


@pytest.mark.skipif(
    not {"TAUGEN_OPENAPI", "TAUGEN_CRDS"} <= os.environ.keys(),
    reason="set TAUGEN_OPENAPI and TAUGEN_CRDS to the folders with the projects' API definitions",
)
def test_the_shipped_bundles_are_what_the_sources_give(tmp_path):
    command = [
        sys.executable,
        ROOT / "tools" / "make_bundles.py",
        "--openapi",
        os.environ["TAUGEN_OPENAPI"],
        "--crds",
        os.environ["TAUGEN_CRDS"],
        "--out",
    ]
    made = []
    for seed in ("0", "1"):
        out = tmp_path / seed
        subprocess.run([*command, out], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}, timeout=300)
        made.append({str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.json"))})
    shipped = {str(path.relative_to(SHIPPED)): path.read_bytes() for path in sorted(SHIPPED.rglob("*.json"))}
    assert made[0] == made[1] == shipped
