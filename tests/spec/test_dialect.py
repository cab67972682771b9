"""Both dialects and every older spelling: where each goes, what wins, what is refused; and TauGrid's whole list of fields."""

import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.diag import Severity
from taugen.spec.digest import written
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc
from taugen.words import dotted


def read(text: str) -> RunDoc:
    docs, found = read_file("f/tau.yaml", textwrap.dedent(text).encode(), "w")
    assert not found
    return docs[0]


def flat(doc: RunDoc) -> dict[str, Any]:
    out: dict[str, Any] = {}

    def walk(path: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for key, item in value.items():
                walk(f"{path}.{key}" if path else key, item)
        else:
            out[path] = value

    walk("", written(doc.spec))
    return {k: v for k, v in out.items() if k != "name"}


def said(doc: RunDoc, severity: Severity | None = None) -> list[str]:
    return [f"{d.severity.value[0]} {d.rule} {d.path}" for d in doc.findings if severity in (None, d.severity)]


# (what is typed, what it becomes); each is one note-level finding at the typed key.
MOVES: list[tuple[str, str]] = [
    ("engine: job", "run: {workload_kind: job}"),
    ("engine: rayjob", "run: {workload_kind: rayjob}"),
    ("engine: ray", "run: {workload_kind: rayjob}"),
    ("entrypoint: a.py", "run: {entrypoint: a.py}"),
    ("script: a.py", "run: {entrypoint: a.py}"),
    ("image: x/y", "runtime: {image: x/y}"),
    ("run: {engine: job}", "run: {workload_kind: job}"),
    ("run: {script: a.py}", "run: {entrypoint: a.py}"),
    ("run: {main_script: a.py}", "run: {entrypoint: a.py}"),
    ("run: {image: x/y}", "runtime: {image: x/y}"),
    ("run: {workload_kind: ray}", "run: {workload_kind: rayjob}"),
    ("run: {workload_kind: ray-train}", "run: {workload_kind: rayjob}"),
    ("run: {workload_kind: ray_train}", "run: {workload_kind: rayjob}"),
    ("run: {working_dir: src}", "code: {path: src}"),
    ("run: {working_dir_excludes: ['*.csv']}", "code: {exclude: ['*.csv']}"),
    ("run: {smoke_pairs: 3}", "run: {args: [--smoke-pairs, '3']}"),
    ("run: {args: [a], smoke_pairs: 3}", "run: {args: [a, --smoke-pairs, '3']}"),
    ("compute: {workload_kind: job}", "run: {workload_kind: job}"),
    ("engine: rayjob\ncompute: {gpus_per_worker: 2}", "engine: rayjob\ncompute: {gpus: 2}"),
    ("compute: {cpu_request: 8}", "compute: {cpus: 8}"),
    ("compute: {memory_request: 8Gi}", "compute: {memory: 8Gi}"),
    ("compute: {head_cpu_request: 1, head_cpu_limit: 2}", "compute: {head: {cpus: 1, cpu_limit: 2}}"),
    ("compute: {head_memory_request: 1Gi, head_memory_limit: 2Gi}", "compute: {head: {memory: 1Gi, memory_limit: 2Gi}}"),
    ("compute: {worker_cpu_request: 1, worker_cpu_limit: 2}", "compute: {cpus: 1, cpu_limit: 2}"),
    ("compute: {worker_memory_request: 1Gi, worker_memory_limit: 2Gi}", "compute: {memory: 1Gi, memory_limit: 2Gi}"),
    ("compute: {worker_cpus: 4, worker_memory: 2Gi}", "compute: {cpus: 4, memory: 2Gi}"),
    ("compute: {gpu_class: a100-nvlink-80gb}", "compute: {gpu_class: a100-80gb}"),
    ("policy: {gpu_class: h100-standalone-95gb}", "compute: {gpu_class: h100-95gb}"),
    ("policy: {gpu_class: h200-nvlink-141gb}", "compute: {gpu_class: h200-141gb}"),
    ("policy: {workspace: w}", "workspace: w"),
    ("policy: {priority_tier: high}", "policy: {priority: high}"),
    ("policy: {topology: independent}", "policy: {topology: unconstrained}"),
    ("policy: {topology: single-node-nvlink}", "policy: {topology: same-host}"),
    ("policy: {topology: multi-node-nccl}", "policy: {topology: same-network-domain}"),
    ("policy: {topology: elastic-workers}", "policy: {topology: unconstrained}"),
    ("policy: {preferred_topology: single-node-nvlink}", "policy: {preferred_topology: same-host}"),
    ("policy: {shape: 8xa100-80gb}", "compute: {gpus: 8, gpu_class: a100-80gb}"),
    ("policy: {node_selector: {b: 1, a: x}}", "policy: {node_affinity: [{key: a, values: [x]}, {key: b, values: ['1']}]}"),
    ("policy: {mode: fixed}", "policy: {}"),
    ("policy: {clear_node_selector: false}", "policy: {}"),
    ("policy: {disable_default_priorities: false}", "policy: {}"),
    ("compute: {gpu_resource_mode: device-plugin}", "compute: {}"),
    ("compute: {gpu_resource_mode: nvidia}", "compute: {}"),
    ("compute: {gpu_resource_mode: mig, mig_profile: 1g.10gb}", "compute: {mig_profile: 1g.10gb}"),
    ("storage: {data_pvc: c}", "storage: {data: c}"),
    ("storage: {result_pvc: c}", "storage: {data: c}"),
    ("storage: {data_pvc: c, result_pvc: c}", "storage: {data: c}"),
    ("storage: {volumes: [v=pvc:c], mounts: ['v:/x']}", "storage: {mounts: [{name: v, storage: c, path: /x}]}"),
    ("storage: {mounts: ['s:/x']}", "storage: {mounts: [{name: s, storage: s, path: /x}]}"),
    ("storage: {mounts: [{name: v, mountPath: /x, pvc: c, readOnly: true}]}", "storage: {mounts: [{name: v, storage: c, path: /x, read_only: true}]}"),  # noqa: E501
    ("storage: {checkpoint: out/best}", "checkpoint: {path: out/best}"),
    ("artifacts: {checkpoint: best}", "checkpoint: {path: best}"),
    ("resilience: {checkpoint_path: /data/c}", "checkpoint: {path: /data/c}"),
    ("research: {experiment: e}", "experiment: {name: e}"),
    ("experiment: {title: My Big Idea!}", "experiment: {name: my-big-idea}"),
    ("resource_naming: {prefix: lab}", "name: lab-n"),
    ("runtime: {rdma: {enabled: true, resource_name: rdma/ib, count: 2}}", "compute: {rdma: {enabled: true, resource: rdma/ib, count: 2}}"),
    ("runtime: {rdma: {shm_size: 8Gi}}", "compute: {shm_size: 8Gi}"),
    ("runtime: {env: [{name: A, value: x}, {name: B}]}", "runtime: {env: {A: x, B: ''}}"),
    ("runtime: {env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}", "runtime: {env_secret: {A: 's:k'}}"),
    ("runtime: {env: [{name: A, value: x}], env_secret: {B: 's:k'}}", "runtime: {env: {A: x}, env_secret: {B: 's:k'}}"),
    ("run: {workload_kind: rayjob}\nexecution: {configs: {torch_config: {backend: nccl}}}", "run: {workload_kind: rayjob}\nexecution: {launcher: ray-train, configs: {torch_config: {backend: nccl}}}"),  # noqa: E501
]  # fmt: skip


def with_name(text: str) -> str:
    return text if text.startswith("name:") else f"name: n\n{text}"


@pytest.mark.parametrize(("older", "canonical"), MOVES, ids=[m[0] for m in MOVES])
def test_an_older_spelling_is_the_canonical_field(older: str, canonical: str) -> None:
    before, after = read(f"name: n\n{older}\n"), read(with_name(canonical))
    assert said(before, Severity.ERROR) == said(before, Severity.WARNING) == []
    assert {k: v for k, v in flat(before).items() if v != {}} == {k: v for k, v in flat(after).items() if v != {}}
    assert before.digest == after.digest
    notes = [d for d in before.findings if d.severity is Severity.NOTE]
    assert notes
    for note in notes:
        assert note.rule in {"older-spelling", "without-effect"}
        assert note.hint


@given(st.lists(st.sampled_from(MOVES), min_size=2, max_size=4, unique_by=lambda m: m[0]))
def test_several_older_spellings_at_once(moves: list[tuple[str, str]]) -> None:
    tops: set[str] = set()
    chosen = []
    for older, canonical in moves:
        keys = {line.partition(":")[0] for line in f"{older}\n{canonical}".splitlines()}
        if not keys & tops:
            tops |= keys
            chosen.append((older, canonical))
    canonical = "\n".join(c for _, c in chosen)
    named = canonical if "name:" in {line[:5] for line in canonical.splitlines()} else f"name: n\n{canonical}"
    assert read("name: n\n" + "\n".join(o for o, _ in chosen)).digest == read(named).digest


@pytest.mark.parametrize(
    ("text", "managed"),
    [
        ("schema_version: 1", True),
        ("schema_version: 1\nengine: job", False),
        ("schema_version: 1\nrun: {engine: job}", False),
        ("run: {workload_kind: job}", False),
    ],
)
def test_the_dialect(text: str, managed: bool) -> None:
    assert (read(f"name: n\n{text}\n").dialect == "managed") is managed


def test_schema_version_counts_only_where_it_makes_the_document_managed() -> None:
    direct = "name: n\nrun: {engine: job}\n"
    assert read(f"schema_version: 1\n{direct}").digest == read(direct).digest
    assert read("schema_version: 1\nname: n\n").digest != read("name: n\n").digest


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{}", "job"), ("compute: {workers: 1}", "job"), ("compute: {workers: 2}", "rayjob"), ("compute: {gpus_per_worker: 1}", "rayjob"),
        ("compute: {gpus: 8}", "job"), ("runtime: {pip: [x]}", "rayjob"), ("runtime: {pip: []}", "job"), ("engine: job\ncompute: {workers: 2}", "job"),  # noqa: E501
        ("engine: job\ncompute: {gpus_per_worker: 1}", "job"), ("run: {workload_kind: jobset}\nruntime: {pip: [x]}", "jobset"),
    ],
)  # fmt: skip
def test_the_kind_where_nobody_says_it(text: str, kind: str) -> None:
    assert read(f"name: n\n{text}\n" if text != "{}" else "name: n\n").kind == kind


class TestPrecedence:
    @pytest.mark.parametrize(
        ("text", "field", "value", "loser"),
        [
            ("run: {entrypoint: a.py, script: b.py}", "run.entrypoint", "a.py", "run.script"),
            ("run: {script: b.py}\nentrypoint: c.py", "run.entrypoint", "b.py", "entrypoint"),
            ("entrypoint: c.py\nscript: d.py", "run.entrypoint", "c.py", "script"),
            ("runtime: {image: a}\nimage: b", "runtime.image", "a", "image"),
            ("run: {image: a}\nimage: b", "runtime.image", "a", "image"),
            ("run: {engine: job}\nengine: rayjob", "run.workload_kind", "job", "engine"),
            ("experiment: {name: a, title: b}", "experiment.name", "a", "experiment.title"),
        ],
    )
    def test_taugrids_order_holds_and_the_loser_is_named(self, text: str, field: str, value: str, loser: str) -> None:
        doc = read(f"name: n\n{text}\n")
        assert flat(doc)[field] == value
        assert f"w spelling-overridden {loser}" in said(doc)
        assert said(doc, Severity.ERROR) == []

    def test_the_name_in_run_wins(self) -> None:
        doc = read("name: a\nrun: {name: b}\n")
        assert doc.name == "b"
        assert said(doc, Severity.WARNING) == ["w spelling-overridden name"]

    def test_sizes_of_workers_win_with_a_note(self) -> None:
        doc = read("name: n\ncompute: {cpus: 4, worker_cpus: 8, memory: 1Gi, worker_memory: 2Gi}\n")
        assert flat(doc) == {"compute.cpus": "8", "compute.memory": "2Gi"}
        assert said(doc, Severity.ERROR) == said(doc, Severity.WARNING) == []
        assert "n spelling-overridden compute.cpus" in said(doc)

    @pytest.mark.parametrize(
        "text",
        [
            "compute: {cpus: 4, cpu_request: 8}",
            "compute: {gpus: 1, gpus_per_worker: 2}",
            "engine: job\nrun: {workload_kind: rayjob}",
            "policy: {priority: a, priority_tier: b}",
            "policy: {shape: 8xa100-80gb}\ncompute: {gpus: 4}",
            "storage: {data: a, data_pvc: b}",
            "storage: {checkpoint: a}\nresilience: {checkpoint_path: b}",
            "experiment: {name: a}\nresearch: {experiment: b}",
            "compute: {gpu_resource_mode: nvidia, mig_profile: 1g.10gb}",
            "workspace: w\npolicy: {workspace: v}",
        ],
    )
    def test_two_spellings_that_disagree_are_an_error_with_both_places(self, text: str) -> None:
        errors = [d for d in read(f"name: n\n{text}\n").findings if d.severity is Severity.ERROR]
        assert [d.rule for d in errors] == ["spellings-disagree"]
        assert errors[0].origin is not None
        assert errors[0].origin != errors[0].span

    @pytest.mark.parametrize(
        "text",
        [
            "compute: {cpus: 8, cpu_request: '8'}",
            "compute: {memory: 64Gi, memory_request: 65536Mi}",
            "engine: job\nrun: {workload_kind: job}",
        ],
    )
    def test_two_spellings_that_agree_are_fine(self, text: str) -> None:
        assert said(read(f"name: n\n{text}\n"), Severity.ERROR) == []


class TestEnvironmentList:
    @pytest.mark.parametrize(
        ("entries", "expected"),
        [
            ("[{name: A, value: x}, {name: A, value: y}]", "e env-twice runtime.env[1]"),
            ("[{name: A, value: x, valueFrom: {secretKeyRef: {name: s, key: k}}}]", "e env-twice runtime.env[0]"),
            ("[{value: x}]", "e field-missing runtime.env[0]"),
            ("[{name: A, vaule: x}]", "e unknown-key runtime.env[0].vaule"),
            ("[A]", "e value-type runtime.env[0]"),
            ("[{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]", "e value-form runtime.env[0].valueFrom"),
            ("[{name: A, valueFrom: {secretKeyRef: {name: s}}}]", "e field-missing runtime.env[0].valueFrom.secretKeyRef"),
            (
                "[{name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]",
                "e unknown-key runtime.env[0].valueFrom.secretKeyRef.optional",
            ),
            ("[{name: A, value: [x]}]", "e value-form runtime.env[0].value"),
            ("[{name: A-B, value: x}]", "e env-name runtime.env[0].value"),
            ("[{name: A, value: no}]", "e yaml-ambiguous runtime.env[0].value"),
        ],
    )
    def test_faults(self, entries: str, expected: str) -> None:
        found = said(read(f"name: n\nruntime: {{env: {entries}}}\n"), Severity.ERROR)
        assert [f.split()[2] for f in found] == [expected.split()[2]]
        assert found[0] == expected or expected.split()[1] == "env-name"

    def test_texts_stay_as_typed(self) -> None:
        assert read("name: n\nruntime: {env: [{name: A, value: 3.10}, {name: B, value: true}]}\n").spec.runtime.env == {
            "A": "3.10",
            "B": "true",
        }  # type: ignore[union-attr]

    def test_a_secret_in_both_places(self) -> None:
        text = "name: n\nruntime:\n  env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]\n  env_secret: {A: 's:k'}\n"
        assert [f.split()[1] for f in said(read(text), Severity.ERROR)] == ["env-twice"]


class TestStorage:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("{volumes: [v=pvc:c]}", ["e volume-unused storage.volumes[0]"]),
            ("{volumes: [v], mounts: []}", ["e value-form storage.volumes[0]"]),
            ("{volumes: [v=hostPath:/x]}", ["e value-form storage.volumes[0]"]),
            ("{volumes: [v=pvc:c, v=pvc:d], mounts: ['v:/x']}", ["e mount-twice storage.volumes[1]"]),
            ("{mounts: [v]}", ["e value-type storage.mounts[0]"]),
            ("{mounts: [{name: v, mountPath: /x, path: /y, storage: s}]}", ["e spellings-disagree storage.mounts[0].mountPath"]),
            ("{data_pvc: a, result_pvc: b}", ["e not-taken-over storage.result_pvc"]),
            ("{data_pvc: [a]}", ["e value-type storage.data_pvc"]),
            ("{publish: staged}", ["e not-taken-over storage.publish"]),
            ("{publish: ''}", []),
        ],
    )
    def test_faults(self, text: str, expected: list[str]) -> None:
        assert said(read(f"name: n\nstorage: {text}\n"), Severity.ERROR) == expected


REFUSED: list[tuple[str, str, str]] = [
    ("task: eval", "task", "not-taken-over"),
    ("run: {task: eval}", "run.task", "not-taken-over"),
    ("eval: {harness: x}", "eval.harness", "not-taken-over"),
    ("eval: {model: x}", "eval.model", "not-taken-over"),
    ("eval: {cpu_workers: 2}", "eval.cpu_workers", "not-taken-over"),
    ("eval: {upstream: x}", "eval.upstream", "not-taken-over"),
    ("compute: {cpu_workers: 2}", "compute.cpu_workers", "not-taken-over"),
    ("workflow: {file: x.yaml}", "workflow.file", "not-taken-over"),
    ("workflow: {script: x}", "workflow.script", "not-taken-over"),
    ("workflow: {main_script: x}", "workflow.main_script", "not-taken-over"),
    ("workflow: {workload_kind: job}", "workflow.workload_kind", "not-taken-over"),
    ("workflow: {smoke_pairs: 1}", "workflow.smoke_pairs", "not-taken-over"),
    ("workflow: {upstream_checkpoint: x}", "workflow.upstream_checkpoint", "not-taken-over"),
    ("workflow: {secret_payload: x}", "workflow.secret_payload", "not-taken-over"),
    ("runtime: {env_kv: {A: x}}", "runtime.env_kv", "not-taken-over"),
    ("profiler: {mode: nsys}", "profiler", "not-taken-over"),
    ("storage: {publish: staged}", "storage.publish", "not-taken-over"),
    ("policy: {workload_priority_class: x}", "policy.workload_priority_class", "not-taken-over"),
    ("policy: {pod_priority_class: x}", "policy.pod_priority_class", "not-taken-over"),
    ("policy: {disable_default_priorities: true}", "policy.disable_default_priorities", "not-taken-over"),
    ("policy: {clear_node_selector: true}", "policy.clear_node_selector", "not-taken-over"),
    ("policy: {workload_profile_snapshot: x}", "policy.workload_profile_snapshot", "not-taken-over"),
    ("policy: {preset: x}", "policy.preset", "not-taken-over"),
    ("policy: {topology_policy: x}", "policy.topology_policy", "not-taken-over"),
    ("policy: {mode: elastic}", "policy.mode", "not-yet"),
    ("compute: {gpu_resource_mode: dra}", "compute.gpu_resource_mode", "not-yet"),
    ("run: {workload_kind: rayjob-eval}", "run.workload_kind", "not-taken-over"),
    ("run: {workload_kind: rayservice}", "run.workload_kind", "not-yet"),
    ("run: {workload_kind: deployment}", "run.workload_kind", "not-yet"),
    ("run: {queue_timeout: 1h}", "run.queue_timeout", "not-yet"),
    ("execution: {launcher: accelerate}", "execution.launcher", "not-yet"),
    ("execution: {launcher: deepspeed}", "execution.launcher", "not-yet"),
    ("execution: {elastic: {min_workers: 1}}", "execution.elastic", "not-yet"),
    ("budget: {max_cost: 5}", "budget", "not-yet"),
    ("inputs: {a: {uri: x}}", "inputs", "not-yet"),
]


@pytest.mark.parametrize(("text", "path", "rule"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_is_refused_says_why_and_what_to_do(text: str, path: str, rule: str) -> None:
    doc = read(f"name: n\n{text}\n")
    errors = [d for d in doc.findings if d.severity is Severity.ERROR]
    assert [(d.path, d.rule) for d in errors] == [(path, rule)]
    assert errors[0].span.line == 2
    assert len(errors[0].hint) > 5


@pytest.mark.parametrize(
    "text",
    ["eval: {}", "eval:", "profiler: {}", "budget: {}", "inputs: {}", "runtime: {env_kv: {}}", "workflow: {}", "storage: {publish: ''}"],
)
def test_what_is_empty_is_nothing(text: str) -> None:
    doc = read(f"name: n\n{text}\n")
    assert said(doc, Severity.ERROR) == []
    assert doc.digest == read("name: n\n").digest


@pytest.mark.parametrize(
    "text", ["run: {ttl_seconds_after_finished: 600}", "metrics: {history: [a], offload: {enabled: true, image: x, out: y}}"]
)
def test_what_has_no_effect_is_taken_with_a_note(text: str) -> None:
    assert [f.split()[:2] for f in said(read(f"name: n\n{text}\n"))] == [["n", "without-effect"]]


# Every field of TauGrid's direct configuration (core/runconfig) and managed manifest (cli/internal/manifest): an example, and what becomes of it.  # noqa: E501
TAUGRID = """
direct name | x | name
direct engine | job | run.workload_kind
direct entrypoint | a.py | run.entrypoint
direct script | a.py | run.entrypoint
direct image | x | runtime.image
direct schema_version | 1 | schema_version
direct run.name | x | name
direct run.engine | job | run.workload_kind
direct run.entrypoint | a.py | run.entrypoint
direct run.script | a.py | run.entrypoint
direct run.image | x | runtime.image
direct run.main_script | a.py | run.entrypoint
direct run.workload_kind | job | run.workload_kind
direct run.smoke_pairs | 3 | run.args
direct run.source | {image: x, path: /s} | run.source.image run.source.path
direct run.ttl_seconds_after_finished | 600 | run.ttl_seconds_after_finished
direct run.working_dir | src | code.path
direct run.working_dir_excludes | [a] | code.exclude
direct run.task | eval | refused
direct workflow.file | a.yaml | refused
direct workflow.script | a | refused
direct workflow.main_script | a | refused
direct workflow.workload_kind | job | refused
direct workflow.smoke_pairs | 1 | refused
direct workflow.extra_scripts | [a.py] | workflow.extra_scripts
direct workflow.upstream_checkpoint | x | refused
direct workflow.secret_payload | x | refused
direct runtime.image | x | runtime.image
direct runtime.working_dir | /d | runtime.working_dir
direct runtime.pip | [a] | runtime.pip
direct runtime.env | {A: b} | runtime.env.A
direct runtime.env_secret | {A: 's:k'} | runtime.env_secret.A
direct runtime.env_kv | {A: b} | refused
direct runtime.security.mode | restricted | runtime.security.mode
direct compute.workers | 2 | compute.workers
direct compute.gpus | 2 | compute.gpus
direct compute.gpus_per_worker | 2 | compute.gpus run.workload_kind
direct compute.cpu_workers | 2 | refused
direct compute.workload_kind | job | run.workload_kind
direct compute.gpu_resource_mode | device-plugin | nothing
direct compute.mig_profile | 1g.10gb | compute.mig_profile
direct compute.cpu_request | 1 | compute.cpus
direct compute.cpu_limit | 1 | compute.cpu_limit
direct compute.memory_request | 1Gi | compute.memory
direct compute.memory_limit | 1Gi | compute.memory_limit
direct compute.head_cpu_request | 1 | compute.head.cpus
direct compute.head_cpu_limit | 1 | compute.head.cpu_limit
direct compute.head_memory_request | 1Gi | compute.head.memory
direct compute.head_memory_limit | 1Gi | compute.head.memory_limit
direct compute.worker_cpu_request | 1 | compute.cpus
direct compute.worker_cpu_limit | 1 | compute.cpu_limit
direct compute.worker_memory_request | 1Gi | compute.memory
direct compute.worker_memory_limit | 1Gi | compute.memory_limit
direct policy.workspace | w | workspace
direct policy.namespace | n | policy.namespace
direct policy.profile | p | policy.profile
direct policy.queue | q | policy.queue
direct policy.team | t | policy.team
direct policy.lane | eval | policy.lane
direct policy.gpu_class | any | compute.gpu_class
direct policy.mode | fixed | nothing
direct policy.topology | same-host | policy.topology
direct policy.shape | 8xa100-80gb | compute.gpus compute.gpu_class
direct policy.priority | default | policy.priority
direct policy.priority_tier | default | policy.priority
direct policy.workload_priority_class | x | refused
direct policy.pod_priority_class | x | refused
direct policy.disable_default_priorities | false | nothing
direct policy.node_selector | {a: b} | policy.node_affinity
direct policy.clear_node_selector | false | nothing
direct policy.workload_profile_snapshot | x | refused
direct policy.preset | x | refused
direct policy.topology_policy | x | refused
direct storage.data_pvc | c | storage.data
direct storage.result_pvc | c | storage.data
direct storage.output | /data/x | storage.output
direct storage.publish | staged | refused
direct storage.volumes | [v=pvc:c] | refused
direct storage.mounts | ['v:/x'] | storage.mounts
direct storage.image_assets | [{name: a, image: x, source_path: /a, mount_path: /b}] | storage.image_assets
direct storage.checkpoint | a/b | checkpoint.path
direct profiler.mode | nsys | refused
direct profiler.rank | '0' | refused
direct profiler.warmup | 1m | refused
direct profiler.duration | 1m | refused
direct metrics.history | [a] | metrics.history
direct metrics.offload.enabled | true | metrics.offload.enabled
direct metrics.offload.image | x | metrics.offload.image
direct metrics.offload.out | x | metrics.offload.out
direct experiment.project | x | experiment.project
direct experiment.name | x | experiment.name
direct experiment.group | x | experiment.group
direct experiment.title | x | experiment.name
direct execution.launcher | torchrun | execution.launcher
direct execution.processes_per_node | 2 | execution.processes_per_node
direct execution.nodes | 2 | execution.nodes
direct execution.configs | {a: 1} | execution.configs.a
direct execution.metric | x | execution.metric
direct execution.mode | min | execution.mode
direct execution.num_samples | 2 | execution.num_samples
direct execution.max_concurrent_trials | 2 | execution.max_concurrent_trials
direct execution.allow_nccl_override | true | execution.allow_nccl_override
direct resilience.max_retries | 2 | resilience.max_retries
direct resilience.retry_on | [Evicted] | resilience.retry_on
direct resilience.checkpoint_path | /data/c | checkpoint.path
direct resilience.backoff_initial | 30s | resilience.backoff_initial
direct resilience.backoff_max | 5m | resilience.backoff_max
direct task | eval | refused
direct eval.harness | x | refused
direct eval.model | x | refused
managed resource_naming.prefix | lab | name
managed compute.gpus | 2 | compute.gpus
managed compute.workers | 2 | compute.workers
managed compute.cpus | 2 | compute.cpus
managed compute.cpu_limit | 2 | compute.cpu_limit
managed compute.worker_cpus | 2 | compute.cpus
managed compute.worker_cpu_limit | 2 | compute.cpu_limit
managed compute.memory | 1Gi | compute.memory
managed compute.memory_limit | 1Gi | compute.memory_limit
managed compute.worker_memory | 1Gi | compute.memory
managed compute.worker_memory_limit | 1Gi | compute.memory_limit
managed runtime.pip | [a] | runtime.pip
managed runtime.env | [{name: A, value: b}] | runtime.env.A
managed runtime.env_kv | {A: b} | refused
managed runtime.rdma.enabled | true | compute.rdma.enabled
managed runtime.rdma.resource_name | rdma/ib | compute.rdma.resource
managed runtime.rdma.count | 2 | compute.rdma.count
managed runtime.rdma.shm_size | 8Gi | compute.shm_size
managed storage.mounts | [{name: a, mountPath: /x, pvc: c, readOnly: true}] | storage.mounts
managed artifacts.checkpoint | a/b | checkpoint.path
managed eval.cpu_workers | 2 | refused
managed eval.upstream | x | refused
managed research.experiment | x | experiment.name
managed model.name | x | model.name
managed model.base | x | model.base
managed model.task | x | model.task
managed model.tags | [x] | model.tags
managed model.primary_metric | x | model.primary_metric
managed model.metric_direction | lower | model.metric_direction
managed run.workload_kind | rayjob-eval | refused
"""
ROWS = [tuple(part.strip() for part in row.split("|")) for row in TAUGRID.strip().splitlines()]


@pytest.mark.parametrize(("field", "value", "outcome"), ROWS, ids=[r[0] for r in ROWS])
def test_every_field_of_taugrid_is_taken_or_refused(field: str, value: str, outcome: str) -> None:
    dialect, _, path = field.partition(" ")
    *sections, key = path.split(".")
    text = f"{key}: {value}"
    for section in reversed(sections):
        text = f"{section}:\n" + textwrap.indent(text, "  ")
    head = "schema_version: 1\n" if dialect == "managed" else ""
    doc = read(f"{head}{text}\n" if path == "name" else f"{head}name: n\n{text}\n")
    errors = said(doc, Severity.ERROR)
    if outcome == "refused":
        assert len(errors) == 1
        assert errors[0].split()[1] in {"not-taken-over", "volume-unused"}
        return
    assert errors == []
    written_fields = set(flat(doc)) - {"schema_version"} if path != "schema_version" else set(flat(doc))
    wanted = set() if outcome == "nothing" else set(outcome.split())
    if "name" in wanted:
        assert doc.name in {"x", "lab-n"}
        wanted -= {"name"}
    assert {f for f in written_fields if flat(doc)[f] != {}} == wanted


def test_a_finding_names_what_was_typed() -> None:
    doc = read("name: n\ncompute: {cpu_request: -4}\npolicy: {node_selector: {a: [x]}}\n")
    assert [(d.path, d.span.line) for d in doc.findings if d.severity is Severity.ERROR] == [
        ("compute.cpu_request", 2),
        ("policy.node_selector.a", 3),
    ]
    assert dotted(doc.as_typed(("compute", "cpus"))) == "compute.cpu_request"
    assert doc.lost(("compute", "cpus"))
    assert not doc.lost(("compute", "memory"))
