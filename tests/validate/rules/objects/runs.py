"""Runs of the fixture and three more, through every stage, with an overlay over all of them."""

from functools import cache
from typing import Any

from msgspec.structs import replace

from taugen.diag import Diagnostic, has_errors
from taugen.pipeline.code import gather
from taugen.policy.load import load_policy
from taugen.policy.set import Policy
from taugen.render import overlay
from taugen.render.run import render_run
from taugen.render.types import Rendered
from taugen.resolve.code import plan
from taugen.resolve.resolve import resolve
from taugen.spec.read import read_file
from taugen.validate.rules import objects as stage
from tests.policykit import FIXTURE, MemoryTree, fixture_with

MORE = {
    "workspaces/climate/ensemble/tau.yaml": """
name: ensemble
run: {entrypoint: train.py, workload_kind: jobset, max_duration: 1h}
runtime: {image: "registry.tern.example/climate/torch@sha256:1111111111111111111111111111111111111111111111111111111111111111"}
policy: {profile: h200-node}
execution: {launcher: torchrun, nodes: 2}
""",
    "workspaces/protein/dedup/tau.yaml": """
name: dedup
run: {entrypoint: train.py, workload_kind: rayjob}
runtime: {image: "docker.io/rayproject/ray:2.51.0-py312", pip: [polars==1.9.0]}
compute: {gpus: 0, workers: 2, cpus: 4, memory: 16Gi}
policy: {profile: cpu, cluster: fjord}
""",
    "workspaces/protein/align/tau.yaml": """
name: align
run: {entrypoint: align.sh, workload_kind: job}
runtime: {image: "registry.tern.example/protein/fold@sha256:2222222222222222222222222222222222222222222222222222222222222222"}
compute: {gpus: 0, cpus: 2, memory: 4Gi, disk: 20Gi}
policy: {profile: cpu, cluster: mesa}
""",
}
CODE = {
    "workspaces/climate/ensemble/train.py": "print(1)\n",
    "workspaces/protein/dedup/train.py": "print(1)\n",
    "workspaces/protein/align/align.sh": "#!/bin/sh\necho ${X:-1}\n",
}


@cache
def compiled(changed: str = "") -> tuple[Policy, tuple[Rendered, ...]]:
    """Policy and objects before any overlay; `changed` is a policy document."""
    policy, found = load_policy(fixture_with(f"apiVersion: taugen.dev/v1alpha1\n{changed}" if changed else ""))
    assert policy is not None
    assert not found
    files: dict[str, str | bytes] = {str(p.relative_to(FIXTURE)): p.read_bytes() for p in FIXTURE.rglob("*") if p.is_file()}
    tree: Any = MemoryTree({**files, **MORE, **CODE})
    tree.lfs, tree.hash_name = frozenset(), "sha1"
    out: list[Rendered] = []
    for path in sorted(tree.files):
        if not path.endswith("/tau.yaml"):
            continue
        docs, found = read_file(path, tree.read(path), path.split("/")[1])
        assert not has_errors([*found, *(d for doc in docs for d in doc.findings)]), path
        run, found = resolve(docs[0], policy, gather(tree, docs[0], plan(docs[0]), lambda p: p.endswith("/tau.yaml")))
        assert run is not None, found
        out += render_run(run, tree.read)
    return policy, tuple(out)


def patched(text: str) -> tuple[Policy, list[Rendered], list[Diagnostic]]:
    """The objects with `text`, the file of an overlay, applied on both clusters; or made under `text`, a policy document."""
    changed = text if text.startswith("kind:") else ""
    policy, objects = compiled(changed)
    if not text.strip() or changed:
        return policy, list(objects), []
    tree = fixture_with("")
    tree.files |= {f"overlays/{name}/rule.yaml": text.encode() for name in ("eks", "onprem")}
    overlays, found = overlay.load_overlays(tree, policy)
    found = [d for d in found if d.rule != "overlay-unknown"]
    out: list[Rendered] = []
    for cluster in sorted(policy.clusters):
        mine, more = overlay.apply(overlays, cluster, [r for r in objects if r.path.startswith(f"{cluster}/")])
        found += more
        out += mine
    return policy, out, found


def findings(text: str) -> list[Diagnostic]:
    """What all rules of objects say of each run, under an overlay."""
    policy, objects, found = patched(text)
    assert not found, found
    folders = dict.fromkeys(r.path.rpartition("/")[0] for r in objects)
    runs = [[r for r in objects if r.path.rpartition("/")[0] == folder] for folder in folders]
    return [d for run in runs for rule in stage.RULES for d in rule.check(run, policy)]


def with_obj(item: Rendered, **changes: Any) -> Rendered:
    """The object with top-level fields replaced."""
    return replace(item, obj={**item.obj, **changes})
