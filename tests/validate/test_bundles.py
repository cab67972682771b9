import json
import re
from pathlib import Path

import pytest

from taugen.validate import bundles
from taugen.validate.bundles import SHIPPED, BadBundle, file_name, imported, index, shipped
from taugen.validate.dialect import KEYWORDS
from taugen.validate.schemas import Validator
from tests.validate import schemagen

ROOT = Path(__file__).parents[2]
ALL = [
    (product, version, *name.rsplit("/", 1))
    for product, versions in index().items()
    for version, names in versions.items()
    for name in names
]


def ids(row):
    return "-".join(row)


def keywords(node, inside_properties=False):
    if isinstance(node, dict):
        for key, value in node.items():
            if not inside_properties:
                yield key
            if key not in ("enum", "const", "x-keys", "x-source", "required"):
                yield from keywords(value, inside_properties=not inside_properties and key in ("properties", "$defs"))
    elif isinstance(node, list):
        for value in node:
            yield from keywords(value)


def test_the_index_lists_exactly_the_files():
    files = {str(path.relative_to(SHIPPED)) for path in SHIPPED.rglob("*.json")} - {"index.json"}
    assert files == {f"{product}/{version}/{file_name(api, kind)}" for product, version, api, kind in ALL}


def test_the_pinned_versions_ship():
    versions = {product: sorted(found) for product, found in index().items()}
    assert versions["kubernetes"] == ["1.35", "1.36"]
    assert versions["kuberay"] == ["1.6", "1.7"]
    assert (versions["kueue"], versions["jobset"]) == (["0.19"], ["0.12"])
    assert not any(name.endswith("v1beta1/ClusterQueue") for name in bundles.products())


def test_secrets_have_no_schema():
    assert not [row for row in ALL if row[3] == "Secret"]


def test_small_enough_to_ship_and_to_read():
    sizes = {path: path.stat().st_size for path in SHIPPED.rglob("*.json")}
    assert max(sizes.values()) < 100_000
    assert sum(sizes.values()) < 1_000_000


@pytest.mark.parametrize("row", ALL, ids=ids)
def test_a_bundle_is_strict_small_and_names_its_source(row):
    product, version, api_version, kind = row
    bundle = shipped(*row)
    assert set(keywords(bundle)) <= KEYWORDS
    assert bundle["properties"]["apiVersion"] == {"const": api_version}
    assert bundle["properties"]["kind"] == {"const": kind}
    assert {"apiVersion", "kind", "metadata"} <= set(bundle["required"])
    assert "status" not in bundle["properties"]
    assert bundle["additionalProperties"] is False
    metadata = schemagen.resolve(bundle["properties"]["metadata"], bundle)
    assert "name" in metadata["required"]
    assert {"labels", "annotations", "namespace", "ownerReferences"} <= metadata["properties"].keys()
    source = bundle["x-source"]
    assert (source["product"], source["version"]) == (product, version)
    assert re.fullmatch("[0-9a-f]{64}", source["sha256"])
    assert source["licence"] == "Apache-2.0"
    assert kind in bundle["title"]
    assert version in bundle["title"]


@pytest.mark.parametrize("row", ALL, ids=ids)
def test_every_mapping_with_named_fields_is_strict_or_says_that_it_is_free(row):
    bundle = shipped(*row)
    free = [
        path
        for path, node, _ in schemagen.walk(schemagen.full(bundle), bundle, bundle)
        if "properties" in node and node.get("additionalProperties") is not False
    ]
    assert free == []


def test_notice_names_every_source():
    notice = (ROOT / "NOTICE").read_text()
    rows = {re.sub(" +", " ", line) for line in notice.splitlines()}
    for row in ALL:
        source = shipped(*row)["x-source"]
        assert f"{bundles.TITLES[row[0]]} {row[1]} {source['release']} {source['licence']} {source['repository']}" in rows


def test_one_line_for_each_definition():
    lines = (SHIPPED / "kuberay/1.7/ray.io_v1_RayJob.json").read_text().splitlines()
    assert '"$defs":{' in lines
    assert len(lines) > 40
    assert lines == (SHIPPED / "kuberay/1.7/ray.io_v1_RayJob.json").read_text().split("\n")[:-1]


def test_versions_are_ordered_as_numbers():
    assert sorted(["0.19", "0.9", "0.10"], key=bundles.order) == ["0.9", "0.10", "0.19"]
    assert bundles.short("v1.35.2") == "1.35"


WIDGET = {"properties": {"apiVersion": {"const": "acme.dev/v1"}, "kind": {"const": "Widget"}}}


def write(folder: Path, content: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "acme.dev_v1_Widget.json").write_bytes(content)
    return folder


def test_the_last_source_wins(tmp_path):
    first = write(tmp_path / "a", json.dumps({**WIDGET, "title": "a"}).encode())
    second = {"acme.dev_v1_Widget.json": json.dumps({**WIDGET, "title": "b"}).encode()}
    assert imported([first, second], "acme.dev/v1", "Widget")["title"] == "b"
    assert imported([second, first], "acme.dev/v1", "Widget")["title"] == "a"
    assert imported([first], "acme.dev/v1", "Other") is None
    assert imported([tmp_path / "missing"], "acme.dev/v1", "Widget") is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "isn't JSON"),
        (b"\xff\xfe", "isn't JSON"),
        (b"[" * 100_000, "isn't JSON"),
        (b"[]", "isn't a schema of acme.dev/v1 Widget"),
        (b'{"properties": []}', "isn't a schema of acme.dev/v1 Widget"),
        (b'{"properties": {"kind": {"const": "Other"}, "apiVersion": {"const": "acme.dev/v1"}}}', "isn't a schema of acme.dev/v1 Widget"),
        (json.dumps({**WIDGET, "allOf": [{"$ref": "http://127.0.0.1:9/x"}]}).encode(), "refers to 'http://127.0.0.1:9/x'"),
        (json.dumps({**WIDGET, "items": {"$ref": "file:///etc/passwd"}}).encode(), "refers to 'file:///etc/passwd'"),
        (json.dumps({**WIDGET, "$id": "http://127.0.0.1:9/"}).encode(), "refers to"),
        (b" " * (bundles.MAX_BYTES + 1), "has more than 4 MiB"),
    ],
)
def test_a_bad_bundle_is_said_to_be_bad(tmp_path, content, why):
    folder = write(tmp_path / "schemas", content)
    with pytest.raises(BadBundle, match=re.escape(why)):
        imported([folder], "acme.dev/v1", "Widget")
    faults = Validator({}, [folder]).faults({"apiVersion": "acme.dev/v1", "kind": "Widget", "metadata": {"name": "a"}})
    assert [(fault.path, "taugen schema import" in fault.message) for fault in faults] == [((), True)]


@pytest.mark.parametrize("kind", ["../x", "a/../../etc/passwd", "a\0b", "", "..", "a\\b"])
def test_a_kind_never_leads_out_of_the_folder(tmp_path, kind):
    (tmp_path / "x.json").write_bytes(b"{}")
    folder = tmp_path / "schemas"
    folder.mkdir()
    assert imported([folder], "v1", kind) is None
    assert not bundles.has_import([folder], "v1", kind)
