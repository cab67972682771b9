"""The platform's side as a whole: paths, order, schemas, determinism, what every object carries."""

import random
import shutil
import subprocess
from dataclasses import replace

import pytest
import yaml

from taugen.policy.load import load_policy
from taugen.render import file
from taugen.render.platform import render_platform
from taugen.validate.schemas import Validator
from tests.policykit import MemoryTree, fixture_with

CLUSTER_SCOPED = {"Namespace", "ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "WorkloadPriorityClass"}


def policy_with(changed=""):
    policy, found = load_policy(fixture_with(changed))
    assert policy is not None
    assert not found, found
    return policy


@pytest.fixture(scope="module")
def rendered():
    return render_platform(policy_with())


def by_path(rendered):
    return {item.path: item.obj for item in rendered}


def test_every_object_fits_its_schema(rendered):
    validator = Validator({})
    assert [(item.path, fault) for item in rendered for fault in validator.faults(item.obj)] == []


def test_files_say_what_is_inside_and_are_one_of_a_kind(rendered):
    assert len({item.path for item in rendered}) == len(rendered)
    for item in rendered:
        folder, _, name = item.path.rpartition("/")
        assert name == f"{item.kind.lower()}-{item.name}.yaml"
        assert folder.split("/")[1] in {"gitops", "platform", "workspaces", "runs", "bootstrap"}
        assert item.span.file == item.source


def test_namespaces(rendered):
    for item in rendered:
        namespace = item.obj["metadata"].get("namespace")
        parts = item.path.split("/")
        if item.kind in CLUSTER_SCOPED:
            assert namespace is None
        elif parts[1] in {"workspaces", "runs"}:
            assert namespace == f"lab-{parts[2]}"
        else:
            assert namespace == {"fjord": "argocd", "mesa": "flux-system"}[parts[0]]


def test_the_same_bytes_whatever_the_order_of_files_and_documents(rendered):
    wanted = [(item.path, file.text(item, "tern")) for item in rendered]
    tree = fixture_with()
    for seed in range(3):
        rng = random.Random(seed)
        policy, _ = load_policy(MemoryTree(dict(rng.sample(list(tree.files.items()), len(tree.files)))))
        kinds = ("clusters", "flavors", "topologies", "cohorts", "queues", "tiers", "workspaces", "storages")
        shuffled = {kind: dict(rng.sample(list(getattr(policy, kind).items()), len(getattr(policy, kind)))) for kind in kinds}
        assert [(item.path, file.text(item, "tern")) for item in render_platform(replace(policy, **shuffled))] == wanted


def test_every_object_is_safe_from_substitution(rendered):
    for item in rendered:
        assert item.obj["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/substitute"] == "disabled"


def test_what_holds_data_is_never_pruned(rendered):
    kept = [item for item in rendered if item.kind in {"Namespace", "PersistentVolumeClaim"}]
    assert {item.name for item in kept} == {"lab-speech", "lab-climate", "lab-protein", "checkpoints"}
    for item in kept:
        notes = item.obj["metadata"]["annotations"]
        assert notes["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
        assert notes["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
    others = [item for item in rendered if item not in kept]
    assert not any("prune" in key for item in others for key in item.obj["metadata"]["annotations"])


def test_waves(rendered):
    waves = {}
    for item in rendered:
        if item.path.split("/")[1] in {"platform", "workspaces"}:
            waves.setdefault(item.obj["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"], set()).add(item.kind)
    assert waves["-3"] == {"Namespace"}
    assert waves["-2"] >= {"ResourceFlavor", "Topology", "WorkloadPriorityClass", "ServiceAccount", "NetworkPolicy"}
    assert waves["-1"] == {"Cohort", "ClusterQueue"}
    assert waves["0"] == {"LocalQueue", "PersistentVolumeClaim"}


def test_each_cluster_has_its_own(rendered):
    folders = {tuple(item.path.split("/")[:3]) for item in rendered if "/workspaces/" in item.path}
    assert folders == {("fjord", "workspaces", w) for w in ("protein", "speech")} | {
        ("mesa", "workspaces", w) for w in ("climate", "protein")
    }


def test_no_synced_path_is_empty(rendered):
    paths = by_path(rendered)
    for cluster, workspace in (("fjord", "speech"), ("fjord", "protein"), ("mesa", "climate"), ("mesa", "protein")):
        constant = paths[f"{cluster}/runs/{workspace}/configmap-taugen-workspace.yaml"]
        assert constant["data"] == {"namespace": f"lab-{workspace}", "workspace": workspace}


def test_sources_are_the_documents(rendered):
    sources = {item.path: item.source for item in rendered}
    assert sources["mesa/workspaces/climate/persistentvolumeclaim-checkpoints.yaml"] == "policy/storage-checkpoints.yaml"
    assert sources["mesa/platform/clusterqueue-research.yaml"] == "policy/queue-research.yaml"
    assert sources["fjord/gitops/appproject-platform.yaml"] == "policy/cluster-fjord.yaml"


def test_a_broken_policy_is_rendered_as_far_as_it_goes():
    """Rules say what is wrong; rendering must not stop them by falling over."""
    head = "---\napiVersion: taugen.dev/v1alpha1\nkind: {}\nmetadata: {{name: {}}}\nspec: {}\n"
    broken = (
        ("Queue", "odd", "{cohort: nope, quotas: [{flavor: nope, resources: {cpu: {nominal: 1}}}]}"),
        ("Cohort", "a", "{parent: b}"),
        ("Cohort", "b", "{parent: a}"),
        ("Workspace", "lost", "{namespace: lost, clusters: [nope], queues: [{name: q, queue: nope}]}"),
    )
    paths = by_path(render_platform(policy_with("".join(head.format(*one) for one in broken))))
    assert not any("odd" in path or "lost" in path for path in paths)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed, so the tree is not read by kustomize")
def test_kustomize_reads_the_tree_as_flux_does(tmp_path, rendered):
    """Flux builds a path with kustomize: every file must be one resource, none may clash."""
    mine = [item for item in rendered if item.path.startswith("mesa/") and "/gitops/" not in item.path]
    for item in mine:
        (tmp_path / item.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / item.path).write_text(file.text(item, "tern"))
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": [item.path for item in mine]}))
    done = subprocess.run(["kubectl", "kustomize", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    key = lambda o: (o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"])  # noqa: E731
    assert {key(o): o for o in yaml.safe_load_all(done.stdout)} == {key(item.obj): item.obj for item in mine}
