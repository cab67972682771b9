"""Each name in the fixture that stands for another document: changed, it is one finding at its place."""

import pytest

from taugen.policy.load import load_policy
from taugen.policy.references import Reference, references
from taugen.validate.rules.policy import unknown_name
from tests.policykit import fixture_with

FULL = """\
apiVersion: taugen.dev/v1alpha1
kind: Cohort
metadata: {name: top}
spec: {}
---
apiVersion: taugen.dev/v1alpha1
kind: Cohort
metadata: {name: lab}
spec:
  parent: top
  quotas:
    - flavor: cpu
      resources: {cpu: {nominal: 0}}
---
apiVersion: taugen.dev/v1alpha1
kind: Queue
metadata: {name: picky}
spec:
  clusters: [mesa]
  quotas:
    - flavor: cpu
      resources: {cpu: {nominal: 0}, memory: {nominal: 0}}
---
apiVersion: taugen.dev/v1alpha1
kind: Profile
metadata: {name: picky}
spec:
  applies: {workspaces: [speech]}
  gpus: 0
  queue: batch
  priority: low
  override: {queue: {oneOf: [batch, research]}, priority: {oneOf: [low]}}
---
apiVersion: taugen.dev/v1alpha1
kind: Platform
metadata: {name: tern}
spec:
  queueing: {fairSharing: {enable: true}}
  defaults: {priority: low, storage: {data: audio}}
---
apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata: {name: picky}
spec:
  namespace: lab-picky
  owners: {users: [ada]}
  clusters: [mesa]
  queues: [{name: cpu, queue: batch}]
  profiles: [cpu]
  storage: [grids]
  defaults:
    priority: low
    storage: {data: grids, mounts: [{name: a, storage: grids, path: /a}]}
"""


def _all() -> list[Reference]:
    policy, found = load_policy(fixture_with(FULL))
    assert policy is not None
    assert found == []
    return list(references(policy))


REFERENCES = _all()


def test_there_are_no_faults_to_begin_with() -> None:
    policy, _ = load_policy(fixture_with(FULL))
    assert policy is not None
    assert list(unknown_name.check(policy)) == []


def test_every_kind_is_referred_to_or_stands_alone() -> None:
    assert {r.kind for r in REFERENCES} == {
        "Cluster",
        "Cohort",
        "Flavor",
        "PriorityTier",
        "Profile",
        "Queue",
        "Storage",
        "Topology",
        "Workspace",
    }


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda r: f"{r.item.label}:{'.'.join(map(str, r.path))}")
def test_a_misspelt_name(reference: Reference) -> None:
    tree = fixture_with(FULL)
    span = reference.item.span(reference.path)
    lines = tree.files[span.file].decode().split("\n")
    line = lines[span.line - 1]
    assert line[span.column - 1 : span.end_column - 1] == reference.name
    lines[span.line - 1] = f"{line[: span.column - 1]}{reference.name}-x{line[span.end_column - 1 :]}"
    tree.files[span.file] = "\n".join(lines).encode()
    policy, found = load_policy(tree)
    assert policy is not None
    assert found == []
    told = list(unknown_name.check(policy))
    assert [(d.span.file, d.span.line, d.span.column) for d in told] == [(span.file, span.line, span.column)]
    assert f"there is no {reference.kind} {reference.name}-x" in told[0].message
    assert reference.name in told[0].hint


@pytest.mark.parametrize("kind", ["Flavor", "Queue", "Workspace", "Storage", "Cluster", "Topology", "Cohort", "Profile", "PriorityTier"])
def test_a_broken_document_makes_no_echo(kind: str) -> None:
    tree = fixture_with(FULL)
    for path, raw in tree.files.items():
        if path.startswith(f"policy/{kind.lower()}-"):
            tree.files[path] = raw.replace(b"spec:", b"nonsense: 1\nspec:", 1)
    policy, found = load_policy(tree)
    assert policy is not None
    assert {d.rule for d in found} == {"unknown-key"}
    assert list(unknown_name.check(policy)) == []
