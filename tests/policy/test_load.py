"""Policy as a whole: files, the Project, duplicates, what never depends on order."""

import random
import subprocess
from pathlib import Path

import pytest

from taugen.diag import Severity
from taugen.load.tree import WorkTree
from taugen.policy.digest import policy_digest
from taugen.policy.load import load_policy, load_project_file, with_overlays
from taugen.policy.set import INSTANCE_TYPE, Policy, matches, node_labels
from tests.policykit import FIXTURE, MemoryTree, fixture_with, split

HEAD = "apiVersion: taugen.dev/v1alpha1\n"


def load(tree: MemoryTree) -> Policy:
    policy, found = load_policy(tree)
    assert policy is not None
    assert found == []
    return policy


def rules(tree: MemoryTree) -> list[tuple[str, str]]:
    return [(d.rule, str(d.span)) for d in load_policy(tree)[1]]


def test_the_fixture_on_disk() -> None:
    policy, found = load_policy(WorkTree(FIXTURE))
    assert found == []
    assert policy is not None
    assert list(policy.clusters) == ["fjord", "mesa"]
    assert list(policy.queues) == ["batch", "research"]
    assert policy.flavors_on("fjord").keys() == {"cpu", "l40s"}
    assert policy.queue_flavors_on("research", "mesa") == ["cpu", "h200"]
    assert policy.queue_flavors_on("nope", "mesa") == []
    assert policy.clusters_of("protein") == ["fjord", "mesa"]
    assert policy.workspace_of("lab-climate") == "climate"
    assert policy.workspace_of("nope") is None
    assert policy.queues["research"].label == "Queue research"


def test_neither_files_nor_their_order_count() -> None:
    whole = fixture_with()
    texts = [raw.decode() for path, raw in whole.files.items() if path != "taugen.yaml"]
    shuffled = texts[:]
    random.Random(7).shuffle(shuffled)
    one_file = MemoryTree({"taugen.yaml": whole.files["taugen.yaml"], "policy/all.yml": "---\n".join(shuffled)})
    first, second = load(whole), load(one_file)
    assert first.digest == second.digest
    for kind in ("Cluster", "Flavor", "Queue", "Workspace", "Storage", "Profile"):
        assert list(first.of(kind)) == list(second.of(kind))
        assert {n: i.spec for n, i in first.of(kind).items()} == {n: i.spec for n, i in second.of(kind).items()}


def test_the_digest_counts_values_only() -> None:
    whole = fixture_with()
    digest = load(whole).digest
    path = next(p for p in whole.files if "queue-batch" in p)
    text = whole.files[path].decode()
    assert load(MemoryTree({**whole.files, path: "# a comment\n" + text.replace("spec:", "spec:   # more\n")})).digest == digest
    assert load(MemoryTree({**whole.files, path: text.replace("nominal: 200", "nominal: 201")})).digest != digest
    policy = load(whole)
    assert with_overlays(policy, {}).digest == digest
    assert with_overlays(policy, {"eks": "a"}).digest != digest
    project = whole.files["taugen.yaml"] + b"  safety: {cancel: allow}\n"
    assert load(MemoryTree({**whole.files, "taugen.yaml": project})).digest == digest  # it shapes no run
    assert policy_digest([], {}, "1") != policy_digest([], {}, "2")
    assert policy_digest([("A", "b", {"x": 10**30, "y": float("inf")})], {}, "1") != policy_digest([("A", "b", {"x": 10**30})], {}, "1")


def test_twice_is_told_once_at_the_later_place_and_the_first_counts() -> None:
    tree = fixture_with()
    tree.files["policy/zz.yaml"] = (HEAD + "kind: PriorityTier\nmetadata: {name: low}\nspec: {value: 5}\n").encode()
    policy, found = load_policy(tree)
    assert policy is not None
    assert [(d.rule, d.span.line, d.path) for d in found] == [("policy-duplicate", 3, "metadata.name")]
    assert "policy/prioritytier-low.yaml" in found[0].message
    assert found[0].origin is not None
    assert found[0].origin.file == "policy/prioritytier-low.yaml"
    assert policy.tiers["low"].spec.value == 100


def test_two_platforms() -> None:
    tree = fixture_with()
    tree.files["policy/zz.yaml"] = (HEAD + "kind: Platform\nmetadata: {name: other}\nspec: {}\n").encode()
    assert rules(tree) == [("policy-duplicate", "policy/zz.yaml:3:18")]


def test_a_broken_first_one_is_still_the_first() -> None:
    tree = fixture_with()
    tree.files["policy/aa.yaml"] = (HEAD + "kind: PriorityTier\nmetadata: {name: low}\nspec: {value: x}\n").encode()
    assert [r for r, _ in rules(tree)] == ["value-type", "policy-duplicate"]


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"a: [1\n", "yaml-syntax"),
        (b"a: \xff\n", "yaml-encoding"),
        (b"a:\n\t- 1\n", "yaml-tab"),
        (b"- 1\n", "yaml-shape"),
        (b"a: &x 1\nb: *x\n", "yaml-anchor"),
        (b"x" * (1024 * 1024 + 1), "policy-file"),
        (b"[" * 100_000, "yaml-nesting"),
    ],
)
def test_files_that_are_no_yaml(raw: bytes, rule: str) -> None:
    tree = fixture_with()
    tree.files["policy/zz.yaml"] = raw
    found = rules(tree)
    assert found
    assert found[0][0] == rule
    assert found[0][1].startswith("policy/zz.yaml:")


def test_empty_files_and_other_files_are_passed_over() -> None:
    tree = fixture_with()
    tree.files |= {"policy/zz.yaml": b"# nothing\n", "policy/README.md": b"kind: x", "policy/a/b.json": b"{}"}
    assert rules(tree) == []


def test_links_are_followed_inside_the_repository_only(tmp_path: Path) -> None:
    for path, raw in fixture_with().files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/tier.yaml").write_text(HEAD + "kind: PriorityTier\nmetadata: {name: shared}\nspec: {value: 7}\n")
    for name, target in {
        "a-good": "../shared/tier.yaml",
        "a-twin": "../shared/tier.yaml",
        "b-lost": "nowhere.yaml",
        "c-loop": "c-loop.yaml",
        "d-away": "/etc/hostname",
    }.items():
        (tmp_path / f"policy/{name}.yaml").symlink_to(target)
    (tmp_path / "policy/e-folder.yaml").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    policy, found = load_policy(WorkTree(tmp_path))
    assert policy is not None
    assert policy.tiers["shared"].spec.value == 7
    assert [(d.rule, d.span.file) for d in found] == [
        ("policy-file", "policy/b-lost.yaml"),
        ("policy-file", "policy/c-loop.yaml"),
        ("policy-file", "policy/d-away.yaml"),
        ("policy-file", "policy/e-folder.yaml"),
    ]


# ------------------------------------------------------------------------------------------------------------------ Project


def project(spec: str, **files: str) -> MemoryTree:
    tree = fixture_with()
    tree.files["taugen.yaml"] = (HEAD + f"kind: Project\nmetadata: {{name: tern}}\nspec: {spec}\n").encode()
    tree.files |= {path: text.encode() for path, text in files.items()}
    return tree


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "policy-project"),
        ("a: 1\n", "policy-document"),
        (HEAD + "kind: Queue\nmetadata: {name: x}\nspec: {quotas: [{flavor: a, resources: {cpu: {nominal: 1}}}]}\n", "policy-project"),
        (HEAD + "kind: Project\nmetadata: {name: x}\nspec: {runz: []}\n", "unknown-key"),
        ("a: [\n", "yaml-syntax"),
    ],
)
def test_a_project_that_cannot_be_read(text: str, rule: str) -> None:
    tree = MemoryTree({"taugen.yaml": text})
    policy, found = load_policy(tree)
    assert policy is None
    assert [d.rule for d in found] == [rule]
    assert load_project_file(tree) == (None, found)


def test_no_project_at_all() -> None:
    policy, found = load_policy(MemoryTree({}))
    assert policy is None
    assert [(d.rule, d.message) for d in found] == [("policy-file", "this policy file does not exist")]


def test_projects_elsewhere_and_beside() -> None:
    tree = fixture_with()
    tree.files["taugen.yaml"] += b"---\n" + tree.files["taugen.yaml"]
    tree.files["policy/zz.yaml"] = tree.files["taugen.yaml"].split(b"---\n")[0]
    assert [r for r, _ in rules(tree)] == ["policy-project", "policy-project"]


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ("{policy: [{path: nowhere}]}", "spec.policy[0].path", "does not exist"),
        ("{policy: [{path: ../x}]}", "spec.policy[0].path", "leaves the repository"),
        ("{policy: [{path: /etc}]}", "spec.policy[0].path", "leaves the repository"),
        ("{policy: [{path: .}]}", "spec.policy[0].path", "whole repository"),
        ("{policy: [{}]}", "spec.policy[0]", "either path or git"),
        ("{policy: [{path: a, git: {url: 'https://x/y'}}]}", "spec.policy[0]", "either path or git"),
    ],
)
def test_sources_that_cannot_be(spec: str, path: str, words: str) -> None:
    policy, found = load_policy(project(spec))
    assert policy is not None
    assert [(d.rule, d.path) for d in found] == [("policy-source", path)]
    assert words in found[0].message


def test_a_folder_without_documents_is_a_warning() -> None:
    _, found = load_policy(project("{policy: [{path: policy}, {path: more}]}", **{"more/README.md": "x"}))
    assert [(d.rule, d.severity) for d in found] == [("policy-source", Severity.WARNING)]


def test_a_file_of_two_sources_is_read_once() -> None:
    assert load_policy(project("{policy: [{path: policy}, {path: ./policy/}, {path: policy/queue-batch.yaml}]}"))[1] != []
    assert not [d for d in load_policy(project("{policy: [{path: policy}, {path: policy/}]}"))[1] if d.rule == "policy-duplicate"]


def test_split_counts_documents() -> None:
    assert len(split("a: 1\n---\nb: 2\n")) == 2


def test_node_labels_know_the_machine_type() -> None:
    policy = load(fixture_with())
    pool = policy.clusters["fjord"].spec.nodePools[0]
    assert node_labels(pool)[INSTANCE_TYPE] == "m7i.16xlarge"
    flavor = policy.flavors["cpu"].spec.model_copy(update={"nodeLabels": {INSTANCE_TYPE: "m7i.16xlarge"}})
    assert matches(flavor, pool)
    assert not matches(flavor, policy.clusters["mesa"].spec.nodePools[0])
