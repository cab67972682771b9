"""Rules on the platform's objects: the overlay or policy that breaks each, the one edit that mends it, nothing else found on the way."""

import importlib
import json
import textwrap
from pathlib import Path

import pytest

from taugen.diag import Diagnostic
from taugen.policy.load import load_policy
from taugen.render import overlay
from taugen.render.platform import render_platform
from taugen.render.types import Rendered
from taugen.validate.rules import objects as stage
from tests.policykit import fixture_with

HERE = Path(__file__).parent
PLATFORM = (
    "argocd_project", "argocd_sync", "flavor_tolerations", "flux_depends_on", "flux_kustomization", "object_twice", "prune_protection",
    "quantity_canonical", "queue_groups", "queue_limits", "queue_written_out", "substitute_disabled", "synced_path",
)  # fmt: skip


def rendered(text: str) -> list[Rendered]:
    """The fixture's platform, with `text` as a policy document or else as a patch of both clusters."""
    policy_text = text if text.startswith("apiVersion: taugen.dev/") else ""
    tree = fixture_with(policy_text)
    if not policy_text:
        tree.files |= {f"overlays/{name}/rule.yaml": text.encode() for name in ("eks", "onprem")}
    policy, found = load_policy(tree)
    assert policy is not None
    assert not found, found
    overlays, found = overlay.load_overlays(tree, policy)
    assert [d for d in found if d.rule != "overlay-unknown"] == []
    out: list[Rendered] = []
    for cluster in sorted(policy.clusters):
        mine, found = overlay.apply(overlays, cluster, [r for r in render_platform(policy) if r.path.startswith(f"{cluster}/")])
        assert not found, found
        out += mine
    return out


def findings(text: str) -> list[Diagnostic]:
    policy, _ = load_policy(fixture_with(text if text.startswith("apiVersion: taugen.dev/") else ""))
    assert policy is not None
    objects = rendered(text)
    return [d for name in PLATFORM for d in importlib.import_module(f"{stage.__name__}.{name}").check(objects, policy)]


def test_the_fixture_is_clean() -> None:
    assert findings("") == []


def test_registered() -> None:
    registered = [m.__name__.rpartition(".")[2] for m in stage.RULES]
    assert registered == sorted(registered)
    assert set(PLATFORM) <= set(registered)


@pytest.mark.parametrize("name", PLATFORM)
def test_breaks_and_mends(name: str) -> None:
    rule = importlib.import_module(f"{stage.__name__}.{name}")
    assert name.replace("_", "-") == rule.ID
    found = findings((HERE / name / "breaks.yaml").read_text())
    assert {d.rule for d in found} == {rule.ID}, found
    for d in found:
        assert not d.message.endswith(".")
        assert d.hint
        assert d.span.file.startswith("policy/")
    assert findings((HERE / name / "mends.yaml").read_text()) == []


@pytest.mark.parametrize("name", PLATFORM)
def test_its_documentation_shows_both(name: str) -> None:
    text = importlib.import_module(f"{stage.__name__}.{name}").__doc__ or ""
    title, _, rest = text.partition("\n\n")
    assert title.endswith(".")
    assert "\nSource: " in rest
    for which, word in (("breaks", "Breaks:\n\n"), ("mends", "Mends:\n\n")):
        shown = textwrap.dedent(rest.partition(word)[2].partition("\n\n")[0])
        assert shown == (HERE / name / f"{which}.yaml").read_text().rstrip("\n")


def patch(target: str, body: str) -> list[str]:
    return [d.message for d in findings(f"target: {{{target}}}\npatch: {body}\n")]


def groups(*shape: tuple[int, int]) -> str:
    """A patch with a resource group of so many flavors and resources for each pair."""
    out = []
    for at, (flavors, resources) in enumerate(shape):
        names = [f"r{at}-{n}" for n in range(resources)]
        quotas = [{"name": name, "nominalQuota": "0"} for name in names]
        out.append({"coveredResources": names, "flavors": [{"name": f"f{at}-{n}", "resources": quotas} for n in range(flavors)]})
    return json.dumps({"spec": {"resourceGroups": out}})


QUEUE = "kind: ClusterQueue, name: research"
FIRST = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
RUNS = "kind: AppProject, name: .*-runs-speech"


@pytest.mark.parametrize(
    ("target", "body", "words"),
    [
        (QUEUE, groups(*[(1, 1)] * 17), "17 resource groups, but Kueue takes 16"),
        (QUEUE, groups(*[(1, 1)] * 16), ""),
        (QUEUE, groups((1, 65)), "65 resources in one group, but Kueue takes 64"),
        (QUEUE, groups((65, 1)), "65 flavors in one group, but Kueue takes 64"),
        (QUEUE, groups((64, 8)), ""),
        (QUEUE, groups((9, 60)), "540 pairs of flavor and resource in one group, but Kueue takes 512"),
        (QUEUE, groups(*[(2, 52)] * 5), "260 resources, but Kueue takes 256"),
        (QUEUE, groups(*[(52, 2)] * 5), "260 flavors, but Kueue takes 256"),
        (
            QUEUE,
            "{spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: '1'}]}, "
            "{name: a, resources: [{name: cpu, nominalQuota: '1'}]}]}]}}",
            "flavor a occurs twice",
        ),
        (QUEUE, "[{op: copy, from: /spec/resourceGroups/0, path: /spec/resourceGroups/-}]", "resource cpu occurs twice"),
        ("kind: Cohort", "{spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: []}]}]}}", "a has nothing"),
        (QUEUE, f"[{{op: replace, path: {FIRST}, value: '1000'}}]", "stored as 1k"),
        (QUEUE, f"[{{op: replace, path: {FIRST}, value: 8}}]", "is 8, which is stored as 8"),
        (QUEUE, "{spec: {fairSharing: {weight: '0.5'}}}", "weight is 0.5, which is stored as 500m"),
        ("kind: LimitRange", "{spec: {limits: [{type: Container, default: {memory: 1024Mi}}]}}", "default: memory is 1024Mi, which"),
        ("kind: PersistentVolumeClaim", "{spec: {resources: {requests: {storage: 1024Gi}}}}", "requests: storage is 1024Gi, which"),
        (QUEUE, "[{op: add, path: /spec/resourceGroups/0/flavors/1/resources/2/lendingLimit, value: 1k}]", "lends 1k of"),
        (QUEUE, "{spec: {preemption: {reclaimWithinCohort: Never, borrowWithinCohort: {policy: LowerPriority}}}}", "which Kueue refuses"),
        (QUEUE, "{spec: {flavorFungibility: {preference: BorrowingOverPreemption}}}", "are not both TryNextFlavor"),
        (QUEUE, "{spec: {admissionChecksStrategy: {admissionChecks: [{name: c, onFlavors: [nope]}]}}}", "for flavor nope"),
        ("kind: LocalQueue", "{spec: {stopPolicy: null}}", "spec.stopPolicy is left out"),
        ("kind: Namespace", "{metadata: {annotations: {argocd.argoproj.io/sync-options: Prune=false}}}", "Prune=false,Delete=false"),
        ("kind: Namespace", "{metadata: {annotations: null}}", "kustomize.toolkit.fluxcd.io/prune: disabled"),
        ("kind: Role", "{metadata: {annotations: {argocd.argoproj.io/sync-options: 'Prune=false, Force=true'}}}", "Force=true deletes it"),
        ("kind: Application", "{spec: {syncPolicy: {syncOptions: []}}}", "syncOptions lack ServerSideApply=true"),
        ("kind: Application", "{spec: {syncPolicy: {retry: {limit: -1}}}}", "limit is -1"),
        ("kind: Application", "{spec: {syncPolicy: {retry: null}}}", "limit is None"),
        ("kind: Application", "{spec: {source: {directory: null}}}", "recurse is not true"),
        ("kind: Application", "{spec: {syncPolicy: {automated: {allowEmpty: true}}}}", "prune everything"),
        ("kind: Application, name: .*-runs-speech", "{spec: {project: default}}", "its project default is not rendered"),
        (RUNS, "{spec: {destinations: [{server: s, namespace: '*'}]}}", "permits the namespaces *"),
        (RUNS, "{spec: {destinations: null}}", "permits the namespaces of all"),
        (RUNS, "{spec: {clusterResourceWhitelist: [{group: '*', kind: '*'}]}}", "cluster-scoped"),
        (RUNS, "{spec: {namespaceResourceWhitelist: null}}", "permits every kind"),
        ("kind: Kustomization", "{spec: {force: true}}", "force deletes"),
        ("kind: Kustomization", "{spec: {targetNamespace: other}}", "targetNamespace changes objects"),
        ("kind: Kustomization", "{spec: {prune: false}}", "prune is not true"),
        ("kind: Kustomization, name: .*-runs-.*", "{spec: {serviceAccountName: null}}", "rights of the whole cluster"),
        ("kind: Kustomization, name: .*-runs-.*", "{spec: {healthChecks: [{kind: Job, name: a}]}}", "waits for runs"),
        ("kind: Application, name: .*-platform", "{spec: {source: {path: clusters/fjord}}}", ""),
        ("kind: Application, name: .*-platform", "{spec: {source: {path: clusters/other/platform}}}", "syncs clusters/other/platform"),
    ],
)
def test_what_overlays_may_not_do(target: str, body: str, words: str) -> None:
    found = patch(target, body)
    if not words:
        assert found == []
    else:
        assert any(words in message for message in found), found


QUEUE_DOCUMENT = """\
apiVersion: taugen.dev/v1alpha1
kind: Queue
metadata: {name: lonely}
spec: {quotas: [{flavor: cpu, resources: {cpu: {nominal: 1, borrow: 2, lend: 3}}}]}
---
apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata: {name: squatter}
spec: {namespace: lab-climate, clusters: [mesa], queues: [{name: cpu, queue: batch}]}
"""


def test_what_policy_says_is_left_to_the_rules_on_policy() -> None:
    """Borrowing without a cohort and a shared namespace have rules of their own, at the line that says so."""
    assert findings(QUEUE_DOCUMENT) == []
