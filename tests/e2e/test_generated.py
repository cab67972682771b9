"""No object that the compiler accepts is refused: generated runs and policies, compiled in this process, applied as a dry run with all
webhooks.

Failures shrink; what failed once is kept beside the built programs and tried first the next time. TAUGEN_E2E_SEED makes other ones.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from msgspec.structs import replace

from taugen.diag import has_errors
from taugen.pipeline.compile import Compiler
from taugen.pipeline.project import load_project
from taugen.render.file import text
from taugen.render.types import Rendered
from tests.e2e import build, install
from tests.e2e.kube import Kube, Refused
from tests.policykit import FIXTURE, fixture_with
from tests.resolve.kit import Files

WITH = ("jobset", "kuberay", "kueue")
SHARES = "objects"
SEED = int(os.environ.get("TAUGEN_E2E_SEED", "1"))
RUNS, POLICIES = 400, 150  # accepted ones
KEPT = DirectoryBasedExampleDatabase(build.cache() / "examples")
COMMON = settings(
    deadline=None,
    database=KEPT,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
IMAGES = {
    "speech": "docker.io/rayproject/ray:2.51.0-py312-gpu",
    "climate": "registry.tern.example/climate/torch@sha256:" + "1" * 64,
    "protein": "registry.tern.example/protein/fold@sha256:" + "2" * 64,
}
CODE = {"train.py": "print('hello')\n", "lib/x.sh": "#!/bin/sh\necho ${X:-1}\n", "lib/util.py": ""}
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=40)
KEYS = st.from_regex(r"[A-Z_][A-Z0-9_]{0,30}", fullmatch=True)
AMOUNTS = st.sampled_from(["1", "2", "500m", "0.25", "1.5", "8"])
SIZES = st.sampled_from(["512Mi", "1Gi", "1.5Gi", "65536Mi", "4G", "16Gi", "1e9"])


def some(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A section with any of its fields."""
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A workspace and a run that has a fair chance to be accepted."""
    workspace = draw(st.sampled_from(sorted(IMAGES)))
    kind = draw(st.sampled_from(["job", "jobset", "rayjob"]))
    profile = draw(
        st.sampled_from({"speech": ["l40s-small", "cpu"], "climate": ["h200-node", "cpu"], "protein": ["cpu", "l40s-small"]}[workspace])
    )
    document: dict[str, Any] = {
        "name": draw(st.from_regex(r"[a-z]([a-z0-9-]{0,50}[a-z0-9])?", fullmatch=True)),
        "run": {"entrypoint": draw(st.sampled_from(["train.py", "lib/x.sh"])), "workload_kind": kind},
        "runtime": {"image": IMAGES["speech"] if kind == "rayjob" else IMAGES[workspace]},
        "policy": {"profile": profile},
    }
    document["run"] |= draw(
        some(
            args=st.lists(TEXTS, max_size=3),
            max_duration=st.sampled_from(["90s", "1h", "72h"]),
            grace_period=st.sampled_from(["0s", "1m", "1h"]),
        )
    )
    document["runtime"] |= draw(
        some(env=st.dictionaries(KEYS, TEXTS, max_size=3), security=st.just({"mode": "restricted"}), working_dir=st.just("/data"))
    )
    document["policy"] |= draw(
        some(
            cluster=st.sampled_from(["fjord", "mesa"]),
            priority=st.sampled_from(["low", "normal", "urgent"]),
            topology=st.sampled_from(["same-host", "same-network-domain", "unconstrained"]),
            node_affinity=st.sampled_from(
                [[{"key": "tern.example/disk", "operator": "Exists"}], [{"key": "a.b/c", "operator": "Gt", "values": ["4"]}]]
            ),
            team=st.just("asr"),
        )
    )
    compute: dict[str, Any] = {"workers": st.integers(1, 4)}
    if profile == "cpu":
        compute |= {"cpus": AMOUNTS, "memory": SIZES, "disk": SIZES, "cpu_limit": st.sampled_from(["8", "16"]), "shm_size": SIZES}
    else:
        compute |= {"gpus": st.integers(1, 8), "head": st.fixed_dictionaries({"cpus": AMOUNTS, "memory": SIZES}), "shm_size": SIZES}
    document["compute"] = draw(some(**compute))
    document |= draw(
        some(
            description=TEXTS,
            labels=st.dictionaries(
                st.sampled_from(["a", "tern.example/cost", "Team.X"]), st.sampled_from(["", "a", "A_b-c.9"]), max_size=2
            ),
            execution=some(
                launcher=st.sampled_from(["python", "torchrun"]), nodes=st.integers(1, 3), processes_per_node=st.sampled_from([1, 8])
            ),
            storage=st.sampled_from(
                [{"output": "/data/out"}, {"mounts": [{"name": "c", "storage": "checkpoints", "path": "/checkpoints"}]}]
            ),
            experiment=some(name=TEXTS, seed=st.integers(0, 9), hyperparameters=st.dictionaries(KEYS, st.floats(0, 1) | TEXTS, max_size=2)),
            resilience=some(max_retries=st.integers(0, 3), retry_on=st.just(["Preempted"])),
        )
    )
    if profile == "h200-node" and kind != "rayjob" and draw(st.booleans()):
        document["execution"] = {"launcher": "torchrun", "nodes": draw(st.integers(2, 3))}
        document["compute"] = {}
    return workspace, document


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    files = {
        str(path.relative_to(FIXTURE)): path.read_bytes()
        for path in FIXTURE.rglob("*")
        if path.is_file() and "workspaces" not in path.parts
    }
    return Compiler(load_project(Path(), Files(files)))


@pytest.fixture(scope="module", autouse=True)
def _namespaces(kube: Kube) -> None:
    for name in ("lab-speech", "lab-climate", "lab-protein", "flux-system", "argocd"):
        install.ensure_namespace(kube, name)
    for name in ("kustomize-controller", "source-controller", "argocd"):
        install.apply(kube, [item for item in build.objects(name) if item["kind"] == "CustomResourceDefinition"], 0, Path(os.devnull))


def refusals(kube: Kube, objects: Iterable[Rendered]) -> list[str]:
    """What the API server says no to, of the files as they would be committed."""
    said = []
    for item in objects:
        written = text(item, "generated")
        try:
            kube.apply(item.obj, dry=True, text=written)
        except Refused as refused:
            said.append(f"{item.kind} {item.name}: {refused}\n{written}")
    return said


def test_no_accepted_run_is_refused(kube: Kube, compiler: Compiler):
    kinds: dict[str, int] = {}

    @seed(SEED)
    @settings(COMMON, max_examples=RUNS)
    @given(documents())
    def play(made: tuple[str, dict[str, Any]]) -> None:
        workspace, document = made
        folder = f"workspaces/{workspace}/x"
        written = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        files = {f"{folder}/{name}": content for name, content in CODE.items()} | {f"{folder}/tau.yaml": written}
        compiler.project = replace(compiler.project, tree=Files(files))
        docs, found = compiler.read(f"{folder}/tau.yaml")
        assume(len(docs) == 1 and not has_errors(found))
        compiled = compiler.compile(docs[0])
        assume(compiled.ok)
        for item in compiled.rendered:
            kinds[item.kind] = kinds.get(item.kind, 0) + 1
        assert not refusals(kube, compiled.rendered), written

    play()
    assert {"Job", "JobSet", "RayJob", "ConfigMap", "Service"} <= set(kinds), kinds


NUMBERS = st.sampled_from(["0", "1", "8", "0.5", "1500m", "100"])
MEMORY = st.sampled_from(["0", "1Gi", "1024Mi", "1.5Ti", "100G"])


@st.composite
def quotas(draw: st.DrawFn, cohort: bool) -> list[dict[str, Any]]:
    """Quotas of a queue."""
    made = []
    for flavor in ("cpu", "l40s", "h200"):
        share = some(borrow=NUMBERS, lend=st.sampled_from(["0", "0.5"])) if cohort else st.just({})
        whole = some(borrow=st.integers(0, 16), lend=st.integers(0, 4)) if cohort else st.just({})
        resources = {"cpu": {"nominal": draw(NUMBERS)} | draw(share), "memory": {"nominal": draw(MEMORY)}}
        if flavor != "cpu":
            resources["nvidia.com/gpu"] = {"nominal": draw(st.integers(4, 16))} | draw(whole)
        made.append({"flavor": flavor, "resources": resources})
    return made


@st.composite
def policies(draw: st.DrawFn) -> str:
    """Documents that take the place of the fixture's."""
    parents = draw(st.sampled_from([None, "top"]))
    found: list[dict[str, Any]] = [{"kind": "Cohort", "metadata": {"name": "lab"}, "spec": {"parent": parents} if parents else {}}]
    if parents:
        found.append(
            {"kind": "Cohort", "metadata": {"name": "top"}, "spec": draw(some(fairSharing=st.fixed_dictionaries({"weight": NUMBERS})))}
        )
    for name in ("research", "batch"):
        cohort = draw(st.sampled_from(["lab", None]))
        preemption = some(
            withinClusterQueue=st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
            reclaimWithinCohort=st.sampled_from(["Never", "LowerPriority", "Any"]),
            borrowWithinCohort=st.sampled_from(
                [{"policy": "Never"}, {"policy": "LowerPriority"}, {"policy": "LowerPriority", "maxPriorityThreshold": -5}]
            ),
        )
        more = draw(
            some(
                strategy=st.sampled_from(["StrictFIFO", "BestEffortFIFO"]),
                preemption=preemption,
                fairSharing=st.fixed_dictionaries({"weight": st.sampled_from(["0", "1", "0.5", "2"])}),
                fungibility=some(
                    whenCanBorrow=st.sampled_from(["MayStopSearch", "TryNextFlavor"]),
                    whenCanPreempt=st.sampled_from(["MayStopSearch", "TryNextFlavor"]),
                ),
                stop=st.sampled_from(["None", "Hold", "HoldAndDrain"]),
            )
        )
        spec = ({"cohort": cohort} if cohort else {}) | {"quotas": draw(quotas(cohort is not None))} | more
        found.append({"kind": "Queue", "metadata": {"name": name}, "spec": spec})
    levels = draw(st.sampled_from([["tern.example/block"], ["tern.example/block", "kubernetes.io/hostname"]]))
    domains = ["same-network-domain", "same-host"]
    spec = {"levels": [{"label": label, "domain": domain} for label, domain in zip(levels, domains, strict=False)]}
    found.append({"kind": "Topology", "metadata": {"name": "fabric"}, "spec": spec})
    found.append(
        {
            "kind": "PriorityTier",
            "metadata": {"name": "low"},
            "spec": {"value": draw(st.integers(-(2**31), 2**31 - 1)), "description": draw(TEXTS)},
        }
    )
    dumped = [yaml.safe_dump({"apiVersion": "taugen.dev/v1alpha1"} | item, sort_keys=False, allow_unicode=True) for item in found]
    # The helper that replaces documents reads kind and name by their lines.
    return "---\n".join(dumped)


def test_no_accepted_policy_is_refused(kube: Kube):
    @seed(SEED)
    @settings(COMMON, max_examples=POLICIES)
    @given(policies())
    def play(written: str) -> None:
        tree = fixture_with(written)
        # Profiles and workspaces would say that they don't fit the quotas, which is true and not the question.
        tree.files = {
            path: raw for path, raw in tree.files.items() if not path.startswith(("policy/profile", "policy/workspace", "policy/storage"))
        }
        tree.files["overlays/mesa/registry.yaml"] = (FIXTURE / "overlays/mesa/registry.yaml").read_bytes()
        project = load_project(Path(), tree, whole=False)
        assume(not has_errors(project.findings))
        rendered, found = Compiler(project).platform()
        assume(not has_errors(found))
        assert not refusals(kube, (item for item in rendered if "/bootstrap/" not in item.path)), written

    play()
