import copy
import pickle
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taugen.validate import bundles
from taugen.validate.bundles import index, shipped
from taugen.validate.faults import SchemaFault
from taugen.validate.schemas import UnknownVersion, Validator, shipped_versions
from taugen.words import dotted
from tests.validate import schemagen

ALL = [
    (product, version, *name.rsplit("/", 1))
    for product, versions in index().items()
    for version, names in versions.items()
    for name in names
]


def ids(row):
    return "-".join(row)


@cache
def validator(product: str, version: str) -> Validator:
    return Validator({product: version})


def both(row, obj) -> list[SchemaFault]:
    """The faults, after both backends have agreed on them."""
    subject = validator(*row[:2])
    faults = subject.faults(obj)
    assert faults == subject.reference_faults(obj)
    return faults


@pytest.mark.parametrize("row", ALL, ids=ids)
def test_good_objects_are_good_for_both_backends(row):
    bundle = shipped(*row)
    assert both(row, schemagen.minimal(bundle)) == []
    assert both(row, schemagen.full(bundle)) == []


@pytest.mark.parametrize("row", ALL, ids=ids)
def test_both_backends_find_every_broken_part_and_nothing_else(row):
    bundle = shipped(*row)
    good, subject = schemagen.full(bundle), validator(*row[:2])
    variants = {breaker.__name__: schemagen.broken(good, bundle, breaker) for breaker in schemagen.BREAKERS}
    variants |= {made.__name__: made(good, bundle) for made in (schemagen.misspelt, schemagen.incomplete, schemagen.doubled)}
    for name, (bad, places) in variants.items():
        faults = subject.faults(bad)
        assert {fault.path for fault in faults} == places, name
        assert faults == subject.reference_faults(bad), name
    assert all(variants[name][1] for name in ("wrong_type", "null", "text_as_number", "misspelt"))


scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3), max_leaves=6
)


def test_every_way_to_break_a_schema_breaks_one():
    """Or the test above would pass by doing nothing."""
    some = [shipped(*row) for row in ALL if row[3] in ("Job", "ClusterQueue", "RayJob", "JobSet", "Application", "LocalQueue")]
    for breaker in schemagen.BREAKERS:
        assert any(schemagen.broken(schemagen.full(bundle), bundle, breaker)[1] for bundle in some), breaker.__name__
    for made in (schemagen.misspelt, schemagen.incomplete, schemagen.doubled):
        assert any(made(schemagen.full(bundle), bundle)[1] for bundle in some), made.__name__


@pytest.mark.parametrize(
    "row", [("kubernetes", "1.35", "batch/v1", "Job"), ("kueue", "0.19", "kueue.x-k8s.io/v1beta2", "ClusterQueue")], ids=ids
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_both_backends_agree_on_whatever_stands_anywhere(row, data):
    bundle = shipped(*row)
    obj = copy.deepcopy(JOB) if row[3] == "Job" else schemagen.full(bundle)
    places = [path for path, _, _ in schemagen.walk(obj, bundle, bundle) if path and path[0] not in ("apiVersion", "kind")]
    schemagen.put(obj, data.draw(st.sampled_from(places)), data.draw(values))
    both(row, obj)


# Words ------------------------------------------------------------------------------------------------------------------------------

TWICE = "server-side apply refuses a list that holds the same key twice"
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "research"},
    "spec": {
        "backoffLimit": 0,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "main",
                        "image": "python:3.12",
                        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                        "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
                        "resources": {"limits": {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "1"}},
                    }
                ],
            }
        },
    },
}
MAIN = ("spec", "template", "spec", "containers", 0)


def job_with(path, value):
    obj = copy.deepcopy(JOB)
    schemagen.put(obj, path, value)
    return obj


@pytest.mark.parametrize(
    ("path", "value", "where", "message"),
    [
        (("spec", "paralelism"), 2, None, "there is no field `paralelism`; did you mean `parallelism`?"),
        (("spec", "backoff_limit"), 0, None, "there is no field `backoff_limit`; did you mean `backoffLimit`?"),
        (("status",), {}, None, "`status` is written by the cluster; a manifest leaves it out"),
        (("spec", "backoffLimit"), "0", None, "must be a whole number, but is a text: write 0 without quotes"),
        (("spec", "backoffLimit"), 1.5, None, "must be a whole number, but is a number (1.5)"),
        (("spec", "backoffLimit"), -1, None, "-1 is out of range: at least 0 is allowed"),
        (("spec", "backoffLimit"), 2**31, None, "2147483648 is out of range: at most 2147483647 is allowed"),
        (("spec", "suspend"), "true", None, "must be true or false, but is a text: write true without quotes"),
        (("spec", "template"), None, None, "must be a mapping, but is null"),
        ((*MAIN, "env", 0, "value"), 1, None, 'must be a text, but is a whole number: write "1" in quotes'),
        ((*MAIN, "env", 0, "value"), True, None, 'must be a text, but is true or false: write "true" in quotes'),
        ((*MAIN, "env", 1, "name"), "A", (*MAIN, "env", 1), f'repeats name "A" of `{dotted((*MAIN, "env", 0))}`: {TWICE}'),
        (
            (*MAIN, "ports", 1, "protocol"), "TCP", (*MAIN, "ports", 1),
            f'repeats containerPort 80, protocol "TCP" of `{dotted((*MAIN, "ports", 0))}`: {TWICE}',
        ),
        ((*MAIN, "resources", "limits", "memory"), "4GB", None, '"4GB" isn\'t a quantity such as 500m, 2 or 4Gi'),
        ((*MAIN, "resources", "limits", "cpu"), [], None, "must be a text or a number, but is a list"),
        (
            ("spec", "template", "spec", "restartPolicy"), "never", None,
            '"never" isn\'t one of "Always", "OnFailure", "Never"; did you mean "Never"?',
        ),
        (("spec", "template", "spec"), {}, None, "`containers` is missing"),
        (("metadata",), {"namespace": "a"}, None, "`name` is missing"),
        (("metadata", "name"), "", None, "has 0 characters; at least 1 is allowed"),
        (("spec",), 5, None, "must be a mapping, but is a whole number (5)"),
    ],
)  # fmt: skip
def test_a_fault_says_what_is_there_and_what_is_allowed(path, value, where, message):
    row = ("kubernetes", "1.35", "batch/v1", "Job")
    assert both(row, job_with(path, value)) == [
        SchemaFault(path if where is None else where, message, path[-1] if "no field" in message or path == ("status",) else "")
    ]


def test_all_faults_at_once_in_the_order_of_their_places():
    obj = copy.deepcopy(JOB)
    obj["spec"]["template"]["spec"]["containers"] = [{"name": "a", "imag": "x"}, {"image": "y", "tty": "no"}] + [
        {"name": f"c{i}", "tty": 1} for i in range(9)
    ]
    obj["spec"]["x"], obj["kindd"] = 1, 2
    found = [
        dotted(fault.path).replace("spec.template.spec.containers", "c") for fault in both(("kubernetes", "1.35", "batch/v1", "Job"), obj)
    ]
    assert found == ["kindd", "c[0].imag", "c[1]", "c[1].tty", *(f"c[{i}].tty" for i in range(2, 11)), "spec.x"]


def test_a_good_object_has_no_faults():
    assert Validator({}).faults(JOB) == []


@pytest.mark.parametrize("key", ["", "a/b", "~1", "0", "01", "+1", "-1", "1e3", "١", " ", "é"])
def test_the_place_of_any_key_is_kept(key):
    obj = job_with(("metadata", "annotations"), {key: 1, "z": 2})
    found = {fault.path for fault in both(("kubernetes", "1.35", "batch/v1", "Job"), obj)}
    assert found == {("metadata", "annotations", key), ("metadata", "annotations", "z")}


@pytest.mark.parametrize("value", [b"bytes", {1: 2}, "\ud800", object()])
def test_what_json_cannot_hold_is_a_fault(value):
    faults = Validator({}).faults(job_with((*MAIN, "resources", "limits", "cpu"), value))
    assert len(faults) == 1
    assert faults[0].message.startswith("the object holds what JSON can't")


@pytest.mark.parametrize("obj", [{}, {"kind": "Job"}, {"apiVersion": "batch/v1"}, {"apiVersion": 1, "kind": "Job"}])
def test_an_object_without_a_kind_is_a_fault(obj):
    faults = Validator({}).faults(obj)
    assert faults
    assert all("is missing or isn't a text" in fault.message for fault in faults)


# Kinds and versions -----------------------------------------------------------------------------------------------------------------


def test_an_unknown_kind_is_one_fault_that_says_what_to_run():
    subject = Validator({})
    assert not subject.knows("acme.dev/v1", "Widget")
    assert [fault.message for fault in subject.faults({"apiVersion": "acme.dev/v1", "kind": "Widget", "spec": {"a": 1}})] == [
        "there is no schema of acme.dev/v1 Widget: run `taugen schema import` with its CRD"
    ]


def test_a_wrong_api_version_names_the_right_one():
    (fault,) = Validator({}).faults({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "a"}})
    assert "there is one of kueue.x-k8s.io/v1beta2" in fault.message


def test_a_built_in_kind_that_is_never_rendered_does_not_send_for_a_crd():
    (fault,) = Validator({}).faults({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}})
    assert fault.message == "v1 Secret isn't among the kinds of Kubernetes that taugen renders, so it has no schema here"


def test_versions_that_do_not_ship_are_named_with_those_that_do():
    with pytest.raises(UnknownVersion) as caught:
        Validator({"kueue": "0.15"})
    assert caught.value.shipped == shipped_versions("kueue") == ("0.19",)
    assert str(caught.value) == "no schemas of Kueue 0.15 ship with taugen; there are those of 0.19"
    with pytest.raises(UnknownVersion, match=r"1\.35, 1\.36"):
        Validator({"kubernetes": "1.20"})


@pytest.mark.parametrize("version", ["1.35", "v1.35", "1.35.4", "v1.35.4"])
def test_patch_releases_are_of_their_minor_release(version):
    assert Validator({"kubernetes": version}).faults(JOB) == []


def test_products_without_schemas_are_passed_over():
    assert Validator({"trainer": "2.3", "gitops": "any"}).faults(JOB) == []


def test_a_field_that_the_pinned_version_lacks_names_the_version_that_has_it():
    old, new = Validator({"kuberay": "1.6"}), Validator({"kuberay": "1.7"})
    path = next(path for path in differences("kuberay", "1.7", "1.6", "ray.io/v1", "RayCluster") if len(path) > 1)
    assert old.version_with("ray.io/v1", "RayCluster", path) == "1.7"
    assert new.version_with("ray.io/v1", "RayCluster", path) is None
    obj = schemagen.full(shipped("kuberay", "1.7", "ray.io/v1", "RayCluster"))
    assert new.faults(obj) == []
    faults = old.faults(obj)
    assert f"there is no field `{path[-1]}` in KubeRay 1.6; KubeRay 1.7 has it" in [fault.message for fault in faults if fault.path == path]
    assert new.version_with("ray.io/v1", "RayCluster", ("spec", "nonsense")) is None


def test_a_field_that_is_gone_names_the_last_version_that_had_it():
    path = next(iter(differences("kubernetes", "1.35", "1.36", "batch/v1", "Job")))
    assert Validator({"kubernetes": "1.36"}).version_with("batch/v1", "Job", path) == "1.35"


def differences(product, having, lacking, api_version, kind):
    """Places of fields that one version has and the other lacks, parents only."""
    bundle = shipped(product, having, api_version, kind)
    faults = validator(product, lacking).faults(schemagen.full(bundle))
    return [fault.path for fault in faults if fault.unknown]


def test_values_that_would_hang_a_run_are_faults_in_custom_resources_too():
    """The CRDs take any text there; the pods would then be refused one by one."""
    obj = schemagen.full(shipped("kuberay", "1.7", "ray.io/v1", "RayJob"))
    pods = [
        path
        for path, node, _ in schemagen.walk(obj, *[shipped("kuberay", "1.7", "ray.io/v1", "RayJob")] * 2)
        if path[-1:] == ("restartPolicy",) and "enum" in node
    ]
    assert len(pods) >= 1
    schemagen.put(obj, pods[0], "Sometimes")
    assert [fault.path for fault in Validator({}).faults(obj)] == [pods[0]]


# Cost -------------------------------------------------------------------------------------------------------------------------------


def test_only_the_bundle_of_the_object_is_read(monkeypatch):
    read = []
    monkeypatch.setattr(bundles, "shipped", lambda *row: read.append(row) or shipped(*row))
    subject = Validator({"kubernetes": "1.35"})
    assert read == []
    for _ in range(3):
        subject.faults(JOB)
    assert read == [("kubernetes", "1.35", "batch/v1", "Job")]


def test_a_validator_pickles_as_its_settings():
    subject = Validator({"kubernetes": "1.35"}, [{"a.json": b"{}"}])
    empty = len(pickle.dumps(subject))
    subject.faults(JOB)
    subject.reference_faults(JOB)
    assert len(pickle.dumps(subject)) == empty < 1000
    again = pickle.loads(pickle.dumps(subject))
    assert again.faults(JOB) == []
    assert again.faults(job_with(("spec", "x"), 1)) == subject.faults(job_with(("spec", "x"), 1))


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_the_engines_are_imported_with_the_first_object():
    code = "import sys; from taugen.validate.schemas import Validator; Validator({})"
    assert run_python(f"{code}; print({{'jsonschema', 'jsonschema_rs', 'yaml'}} & set(sys.modules))") == "set()"


def test_without_the_fast_engine_the_reference_one_judges():
    obj = job_with(("spec", "x"), 1)
    code = "import sys; sys.modules['jsonschema_rs'] = None; from taugen.validate.schemas import Validator"
    code += f"; print([fault.message for fault in Validator({{}}).faults({obj!r})])"
    assert "there is no field `x`" in run_python(code)
