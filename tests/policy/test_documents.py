"""What is wrong with the head, the metadata and the fields of a policy document, each as one finding with its place."""

import pytest

from taugen.diag import Diagnostic, ordered
from taugen.policy import model
from taugen.policy.load import load_policy
from tests.policykit import fixture_with

QUEUE = """\
apiVersion: taugen.dev/v1alpha1
kind: Queue
metadata:
  name: extra
spec:
  quotas:
    - flavor: cpu
      resources: {cpu: {nominal: 1}, memory: {nominal: 1Gi}}
"""


def read(text: str) -> list[Diagnostic]:
    tree = fixture_with()
    tree.files["policy/zz.yaml"] = text.encode()
    policy, found = load_policy(tree)
    assert policy is not None
    return found


def one(text: str) -> Diagnostic:
    found = read(text)
    assert len(found) == 1, found
    assert found[0].span.file == "policy/zz.yaml"
    return found[0]


def test_a_good_document_has_no_finding() -> None:
    assert read(QUEUE) == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "line", "path", "words"),
    [
        ("apiVersion: taugen.dev/v1alpha1\n", "", "policy-api-version", 1, "", ["apiVersion: taugen.dev/v1alpha1"]),
        ("v1alpha1", "v1", "policy-api-version", 1, "apiVersion", ['"v1"', "v1alpha1"]),
        ("taugen.dev/v1alpha1", "apps/v1", "policy-api-version", 1, "apiVersion", ["apps/v1"]),
        ("taugen.dev/v1alpha1", "5", "policy-api-version", 1, "apiVersion", ["no text"]),
        ("kind: Queue\n", "", "policy-kind", 1, "kind", ["kind is missing", "Workspace"]),
        ("kind: Queue", "kind: 5", "policy-kind", 2, "kind", ["not a word"]),
        ("kind: Queue", "kind: Quene", "policy-kind", 2, "kind", ["Quene", "did you mean Queue?"]),
        ("kind: Queue", "kind: Quеue", "policy-kind", 2, "kind", ["CYRILLIC SMALL LETTER IE"]),
        ("kind: Queue", "kind: ClusterQueue", "policy-kind", 2, "kind", ["write a Queue"]),
        ("kind: Queue", "kind: Dataset", "policy-kind-later", 2, "kind", ["not supported yet"]),
        ("kind: Queue", "kind: Whatever", "policy-kind", 2, "kind", ["Platform, Cluster"]),
        ("metadata:\n  name: extra\n", "", "field-missing", 1, "", ["metadata is missing"]),
        ("metadata:\n  name: extra", "metadata: extra", "field-missing", 3, "metadata", ["not a mapping"]),
        ("  name: extra", "  {}", "field-missing", 4, "metadata", ["no name"]),
        ("name: extra", "name: 7", "value-type", 4, "metadata.name", ['quote it: "7"']),
        ("name: extra", "name: Extra", "policy-name", 4, "metadata.name", ['"Extra"', "lower-case"]),
        ("name: extra", "name: extrа", "policy-name", 4, "metadata.name", ["CYRILLIC SMALL LETTER A"]),
        ("name: extra", "name: no", "yaml-trap", 4, "metadata.name", ['quote it: "no"']),
        ("name: extra", f"name: {'x' * 64}", "policy-name", 4, "metadata.name", ["64 characters", "63"]),
        ("name: extra", "name: extra\n  labels: {a: b}", "unknown-key", 5, "metadata.labels", ["follow from spec"]),
        ("name: extra", "name: extra\n  namespace: x", "unknown-key", 5, "metadata.namespace", ["holds a name"]),
        ("spec:", "cohort: lab\nspec:", "unknown-key", 5, "cohort", ["move it below spec"]),
        ("spec:", "status: {}\nspec:", "unknown-key", 5, "status", ["apiVersion, kind, metadata, spec"]),
        ("spec:", "specs: {}\nspec:", "unknown-key", 5, "specs", ["did you mean spec?"]),
        ("flavor: cpu", "flavor: cpu\n      name: cpu", "unknown-key", 8, "spec.quotas[0].name", ["write flavor"]),
        ("quotas:", "cohrt: lab\n  quotas:", "unknown-key", 6, "spec.cohrt", ["did you mean cohort?"]),
        ("quotas:", "cohоrt: lab\n  quotas:", "unknown-key", 6, "spec.cohоrt", ["CYRILLIC SMALL LETTER O"]),
        ("quotas:", "strategy: Fifo\n  quotas:", "value-choice", 6, "spec.strategy", ["StrictFIFO or BestEffortFIFO"]),
        ("quotas:", "stop: on\n  quotas:", "value-choice", 6, "spec.stop", ["Hold"]),
        ("quotas:", "cohort: no\n  quotas:", "yaml-trap", 6, "spec.cohort", ['quote it: "no"']),
        ("quotas:", "cohort: 12\n  quotas:", "value-type", 6, "spec.cohort", ['quote it: "12"']),
        ("quotas:", "cohort: [lab]\n  quotas:", "value-type", 6, "spec.cohort", ["a list", "text"]),
        ("quotas:", "clusters: mesa\n  quotas:", "value-type", 6, "spec.clusters", ['write ["mesa"]']),
        ("quotas:", "fairSharing: 2\n  quotas:", "value-type", 6, "spec.fairSharing", ["a mapping is wanted"]),
        ("{nominal: 1Gi}", "1Gi", "value-type", 8, "spec.quotas[0].resources.memory", ["write {nominal: 1Gi}"]),
        ("{cpu: {nominal: 1}, memory: {nominal: 1Gi}}", "[{name: cpu}]", "value-type", 8, "spec.quotas[0].resources", ["by resource"]),
        ("{nominal: 1Gi}", "{}", "field-missing", 8, "spec.quotas[0].resources.memory.nominal", ["always use"]),
        ("{nominal: 1Gi}", "{nominal: -1}", "value-form", 8, "spec.quotas[0].resources.memory.nominal", ["negative"]),
        ("{nominal: 1Gi}", "{nominal: 1 G b}", "value-form", 8, "spec.quotas[0].resources.memory.nominal", ["not a quantity"]),
        ("memory: {", "mem ory: {", "value-form", 8, "spec.quotas[0].resources.mem ory", ["no label key"]),
        ("flavor: cpu", "flavor: cp\u2010u", "value-form", 7, "spec.quotas[0].flavor", ["HYPHEN"]),
    ],
)
def test_one_finding(old: str, new: str, rule: str, line: int, path: str, words: list[str]) -> None:
    assert QUEUE.count(old) == 1
    found = one(QUEUE.replace(old, new))
    assert (found.rule, found.span.line, found.path) == (rule, line, path), found
    assert all(word in f"{found.message} {found.hint}" for word in words), found


def test_spec_of_another_shape() -> None:
    found = one(QUEUE.partition("spec:")[0] + "spec: [a]\n")
    assert (found.rule, found.path, found.span.line) == ("value-type", "spec", 5)


def test_no_policy_document() -> None:
    assert one("a: 1\n").rule == "policy-document"


def test_a_foreign_manifest_is_named_once() -> None:
    found = one("apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: y}\nstringData: {token: abc}\n")
    assert found.rule == "policy-kind"
    assert "secrets never stand in Git" in found.hint
    assert "abc" not in found.message + found.hint


@pytest.mark.parametrize("kind", model.LATER)
def test_later_kinds(kind: str) -> None:
    assert one(QUEUE.replace("kind: Queue", f"kind: {kind}")).rule == "policy-kind-later"


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("Platform", "{versions: {trainer: '2.0'}}", "spec.versions.trainer"),
        ("Platform", "{versions: {gitops: '3.2'}}", "spec.versions.gitops"),
        ("Platform", "{queueing: {waitForPodsReady: {timeout: 10m}}}", "spec.queueing.waitForPodsReady"),
        ("Workspace", "{namespace: a, queues: [{name: a, queue: batch}], limits: {runs: 4}}", "spec.limits.runs"),
        ("Workspace", "{namespace: a, queues: [{name: a, queue: batch}], limits: {gpuHours: 4}}", "spec.limits.gpuHours"),
        ("Platform", "{defaults: {storage: {image_assets: []}}}", "spec.defaults.storage.image_assets"),
        ("Workspace", "{namespace: a, queues: [{name: a, queue: b}], defaults: {storage: {image_assets: []}}}",
         "spec.defaults.storage.image_assets"),
    ],
)  # fmt: skip
def test_later_fields(kind: str, spec: str, path: str) -> None:
    found = [
        d
        for d in read(f"apiVersion: taugen.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: x}}\nspec: {spec}\n")
        if d.rule != "policy-duplicate"
    ]
    assert [(d.rule, d.path) for d in found] == [("field-not-yet", path)]
    assert "not supported yet" in found[0].message


def test_a_role_of_a_later_release() -> None:
    spec = "{gitops: {engine: flux, url: 'https://a/b'}, role: manager}"
    found = read(f"apiVersion: taugen.dev/v1alpha1\nkind: Cluster\nmetadata: {{name: x}}\nspec: {spec}\n")
    assert [(d.rule, d.path) for d in found] == [("field-not-yet", "spec.role")]


def test_several_mistakes_are_all_told_and_a_misspelling_is_not_also_missing() -> None:
    text = QUEUE.replace("quotas:", "cohortName: lab\n  queueingStrategy: StrictFIFO\n  quotas:").replace("nominal: 1}", "nominalQuota: 1}")
    assert [(d.rule, d.path) for d in ordered(read(text))] == [
        ("unknown-key", "spec.cohortName"),
        ("unknown-key", "spec.queueingStrategy"),
        ("unknown-key", "spec.quotas[0].resources.cpu.nominalQuota"),
    ]


def test_environment_variables_keep_their_text() -> None:
    policy, found = load_policy(
        fixture_with(
            "apiVersion: taugen.dev/v1alpha1\nkind: Profile\nmetadata: {name: x}\n"
            "spec: {gpus: 8, nccl: {NCCL_A: 1.10, NCCL_B: true, NCCL_C: 1_000, NCCL_D: 7e-2}}\n"
        )
    )
    assert policy is not None
    assert found == []
    assert policy.profiles["x"].spec.nccl == {"NCCL_A": "1.10", "NCCL_B": "true", "NCCL_C": "1_000", "NCCL_D": "7e-2"}


def test_what_could_be_read_of_a_broken_document_is_kept_apart() -> None:
    tree = fixture_with()
    tree.files["policy/zz.yaml"] = QUEUE.replace("quotas:", "cohrt: lab\n  quotas:").encode()
    policy, _ = load_policy(tree)
    assert policy is not None
    assert "extra" not in policy.queues
    assert ("Queue", "extra") in policy.broken
    assert [item.name for item in policy.partial] == ["extra"]
    assert policy.exists("Queue", "extra")
    assert policy.partial[0].spec.quotas[0].flavor == "cpu"
