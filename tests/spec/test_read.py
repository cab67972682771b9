"""Reading files: all findings at once, one for each mistake, nothing that raises."""

import textwrap
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taugen.diag import Diagnostic, Severity
from taugen.spec import fields
from taugen.spec.foreign import FOREIGN
from taugen.spec.read import MOST_BYTES, MOST_FINDINGS, read_file
from taugen.spec.rundoc import RunDoc


def read(text: str) -> RunDoc:
    docs, found = read_file("workspaces/w/x/tau.yaml", textwrap.dedent(text).encode(), "w")
    assert not found
    return docs[0]


def errors(text: str) -> list[Diagnostic]:
    return [d for d in read(text).findings if d.severity is Severity.ERROR]


def places(text: str) -> list[tuple[int, str, str]]:
    return [(d.span.line, d.rule, d.path) for d in errors(text)]


class TestFiles:
    def test_a_large_file_is_one_finding(self) -> None:
        docs, found = read_file("f", b"a: b\n" * MOST_BYTES, "w")
        assert docs == []
        assert [(d.rule, d.span.line) for d in found] == [("file-size", 1)]

    @pytest.mark.parametrize("raw", [b"", b"# nothing\n", b"---\n", b"\n \n"])
    def test_an_empty_file_is_one_finding(self, raw: bytes) -> None:
        docs, found = read_file("f", raw, "w")
        assert docs == []
        assert [d.rule for d in found] == ["file-empty"]

    @pytest.mark.parametrize("raw", [b"a: [\n", b"\xff\n", b"- a\n", b"a: &x 1\nb: [\n"])
    def test_a_file_that_is_no_yaml_has_findings_only(self, raw: bytes) -> None:
        docs, found = read_file("f", raw, "w")
        assert docs == []
        assert found

    def test_several_documents(self) -> None:
        docs, found = read_file("f", b"name: a\n---\nname: b\nschema_version: 1\n", "w")
        assert not found
        assert [(d.name, d.dialect, d.document.index) for d in docs] == [("a", "direct", 0), ("b", "managed", 1)]

    def test_a_fault_of_yaml_holds_back_every_document_of_its_file(self) -> None:
        docs, found = read_file("f", b"name: a\n---\nname: b\nname: c\n", "w")
        assert not found
        assert [[d.rule for d in doc.findings] for doc in docs] == [["yaml-duplicate-key"]] * 2

    def test_at_most_fifty_findings_are_listed(self) -> None:
        doc = read("name: a\n" + "".join(f"key{i}: 1\n" for i in range(70)))
        assert len(doc.findings) == MOST_FINDINGS + 1
        assert doc.findings[-1].message == "and 20 more findings in this file"

    def test_identity(self) -> None:
        doc = read("name: Train_A\n")
        assert (doc.folder, doc.name, doc.workspace) == ("workspaces/w/x", "Train_A", "w")
        assert doc.run_id == f"w/Train_A/{doc.digest[:8]}"
        assert len(doc.run) <= 43


class TestFindings:
    def test_all_at_once_and_each_once(self) -> None:
        text = """\
            name: bad
            compute:
              gpus: one
              cpus: -4
              workers: 1.5
            resilience: {max_retries: "3 times", retry_on: [Preemption]}
            """
        assert places(text) == [
            (3, "value-type", "compute.gpus"),
            (4, "value-form", "compute.cpus"),
            (5, "value-type", "compute.workers"),
            (6, "value-type", "resilience.max_retries"),
            (6, "value-choice", "resilience.retry_on[0]"),
        ]

    def test_six_wrong_keys_in_four_sections(self) -> None:
        found = errors(
            """\
            name: dipper-six
            num_workers: 2
            shm_size: 8Gi
            run: {workload_kind: rayjob, entrypiont: fit.py}
            runtime: {gpu: {memory: 80GB}}
            compute: {memroy: 8Gi}
            policy: {quantum_settings: {}}
            """
        )
        assert [d.path for d in found] == [
            "num_workers",
            "shm_size",
            "run.entrypiont",
            "runtime.gpu",
            "compute.memroy",
            "policy.quantum_settings",
        ]
        for finding, word in zip(
            found, ["compute.workers", "compute.shm_size", "entrypoint", "compute.gpus", "memory", "queue"], strict=True
        ):
            assert word in finding.hint
        assert "did you mean" not in found[-1].hint
        assert found[-1].hint.startswith("the keys of policy are profile, queue")

    def test_a_misspelt_section_is_one_finding_and_hides_what_is_missing_below(self) -> None:
        doc = read("name: a\nruntim: {image: x, pip: [1, 2]}\n")
        assert [d.path for d in doc.findings] == ["runtim"]
        assert doc.unread == {"runtime"}
        assert doc.lost(("runtime", "image"))
        assert not doc.lost(("compute", "gpus"))

    def test_a_section_of_the_wrong_type_is_one_finding(self) -> None:
        doc = read("name: a\nruntime: [image, x]\ncompute: 8\n")
        assert [(d.path, d.rule) for d in doc.findings] == [("runtime", "value-type"), ("compute", "value-type")]
        assert doc.unread == {"runtime", "compute"}
        assert "its keys are workers, gpus" in doc.findings[1].hint

    def test_what_can_be_read_is(self) -> None:
        doc = read("name: a\ncompute: {gpus: one, cpus: 8}\nstorage: {mounts: [{name: X, storage: s, path: /x}], data: d}\n")
        assert doc.spec.compute is not None
        assert (doc.spec.compute.gpus, doc.spec.compute.cpus) == (None, "8")
        assert doc.spec.storage is not None
        assert (doc.spec.storage.mounts, doc.spec.storage.data) == (None, "d")
        assert doc.gone == {("compute", "gpus"), ("storage", "mounts")}

    def test_of_a_list_the_other_items_are_read(self) -> None:
        doc = read(
            "name: a\nstorage:\n  mounts:\n"
            "    - {name: X, storage: s, path: /x}\n    - {name: b, storage: t, path: /b}\n    - {name: c, storag: s, path: /c}\n"
            "    - {name: d, pvc: u, mountPath: /d}\nresilience: {fatal_exit_codes: [010, 3, x]}\n"
        )
        assert [d.path for d in doc.findings if d.severity is Severity.ERROR] == [
            "storage.mounts[0].name",
            "storage.mounts[2].storag",
            "resilience.fatal_exit_codes[0]",
            "resilience.fatal_exit_codes[2]",
        ]
        assert doc.spec.storage is not None
        assert doc.spec.resilience is not None
        assert [m.name for m in doc.spec.storage.mounts or []] == ["b", "d"]
        assert doc.spec.resilience.fatal_exit_codes == [3]
        assert doc.as_typed(("storage", "mounts", 0, "storage")) == ("storage", "mounts", 1, "storage")
        assert doc.as_typed(("storage", "mounts", 1, "path")) == ("storage", "mounts", 3, "mountPath")
        assert doc.lost(("storage", "mounts"))
        assert doc.lost(("resilience",))
        assert not doc.lost(("storage", "mounts", 0))
        assert not doc.lost(("storage", "mounts", 1, "path"))

    @pytest.mark.parametrize(
        ("text", "path", "hint"),
        [
            ("run: python train.py", "run", "write run: {entrypoint: …}; its keys are"),
            ("code: ./src", "code", "write code: {path: …}; its keys are"),
            ("compute: azureml:gpus", "compute", "write compute: {gpus: …, gpu_class: …}; its keys are"),
            ("compute: [8]", "compute", "its keys are"),
            ("run: {args: --lr 3 --name=x}", "run.args", 'write [--lr, "3", --name=x]'),
            ("run: {args: --token x1y2z3A4b5C6d7e8F9g0}", "run.args", "write [--token, …]"),
            ("run: {args: it's}", "run.args", 'write ["it\'s"]'),
            ("policy: {mode: fixd}", "policy.mode", "leave it out: every run is fixed"),
            ("compute: {gpu_resource_mode: foo}", "compute.gpu_resource_mode", "leave it out; compute.mig_profile alone asks for a slice"),
            ("execution: {mode: maximum}", "execution.mode", "write min or max"),
            ("tags: {a: b}", "tags", "write labels: {NAME: value}; those of a model are model.tags"),
            ("model: {tag: [b]}", "model.tag", "did you mean tags?"),
        ],
    )
    def test_what_to_write_fits_what_was_meant(self, text: str, path: str, hint: str) -> None:
        (found,) = errors(f"name: a\n{text}\n")
        assert found.path == path
        assert found.hint.startswith(hint)

    def test_a_missing_key_is_named_at_its_section(self) -> None:
        assert places("name: a\ncode:\n  git:\n    url: https://x.example/y\n") == [(4, "field-missing", "code.git.ref")]
        assert places("name: a\nstorage:\n  mounts:\n    - {name: a, path: /x}\n") == [(4, "field-missing", "storage.mounts[0].storage")]

    def test_a_misspelt_key_is_not_also_missing(self) -> None:
        assert places("name: a\nrun:\n  source: {imagee: x, path: /x}\n") == [(3, "unknown-key", "run.source.imagee")]

    def test_an_unknown_key_beside_a_wrong_type(self) -> None:
        assert places("name: a\ncompute: {gpu: 1, cpus: []}\n") == [(2, "unknown-key", "compute.gpu"), (2, "value-form", "compute.cpus")]

    @pytest.mark.parametrize(
        ("text", "message", "hint"),
        [
            ("compute: {gpus: '3'}", 'compute.gpus is the text "3", but a whole number is wanted', "write 3 without quotes"),
            ("compute: {gpus: true}", "compute.gpus is the yes-or-no value true, but a whole number is wanted", "write a whole number, such as 1"),  # noqa: E501
            ("compute: {gpus: -1}", "compute.gpus is -1, but at least 0 is wanted", "write at least 0"),
            ("resilience: {max_retries: 999}", "resilience.max_retries is 999, but at most 998 is wanted", "write at most 998"),
            ("runtime: {image: 3.10}", "runtime.image is the number 3.1, but text is wanted", 'quote it: "3.10"'),
            ("runtime: {pip: torch}", 'runtime.pip is the text "torch", but a list is wanted', 'write ["torch"]'),
            ("runtime: {pip: [1]}", "runtime.pip[0] is the number 1, but text is wanted", 'quote it: "1"'),
            ("runtime: {env: [a]}", "an entry of runtime.env is text", "write NAME: value lines"),
            ("runtime: {env: {A: }}", "runtime.env.A: one value is wanted here, not nothing", 'write one value; "" is the empty text'),
            ("runtime: {env: {A: [x]}}", "runtime.env.A: one value is wanted here, not a list", 'write one value; "" is the empty text'),
            ("cancelled: maybe", 'cancelled is the text "maybe", but true or false is wanted', "write true or false"),
            ("on_edit: replce", 'on_edit is the text "replce", but it can only be wait, replace or beside', "did you mean replace?"),
            ("schema_version: 2", "schema_version is the number 2, but 1 is the only version", "write schema_version: 1, or leave it out"),
            ("run: {max_duration: 90}", "run.max_duration: 90 has no unit", "write 90s, 90m or 90h"),
            ("run: {max_duration: 3 days}", 'run.max_duration: "3 days" is not a duration', "write a number and a unit, such as 90m, 1h30m, 72h or 3d"),  # noqa: E501
            ("compute: {memory: 64G b}", 'compute.memory: "64G b" is not a quantity', "write a number and a unit without anything else, such as 64Gi, 500m or 8"),  # noqa: E501
            ("compute: {memory: 64gi}", 'compute.memory: "64gi" has the unknown unit "gi"', "write 64Gi"),
            ("compute: {memory: 1e400}", 'compute.memory: "inf" is not a quantity', "write a number and a unit without anything else, such as 64Gi, 500m or 8"),  # noqa: E501
            ("run: {entrypoint: [a, [b]]}", "run.entrypoint: an entrypoint is a file or a command as a list, a list with something else than single values", "write train.py, or [python, -m, package.train]"),  # noqa: E501
            ("labels: [a]", "labels is a list, but a mapping is wanted", "write NAME: value lines below it"),
            ("compute: {head: {cpu: 2}}", "unknown key cpu in compute.head", "write cpus"),
            ("execution: {metrics: loss}", "unknown key metrics in execution", "did you mean metric?"),
            ("compute: {ram: 8Gi}", "unknown key ram in compute", "write compute.memory, such as 64Gi"),
            ("execution: {proc_per_node: 8}", "unknown key proc_per_node in execution", "write execution.processes_per_node"),
            ("compute: {head: {gpus: 1}}", "unknown key gpus in compute.head", "remove it: the head gets no GPU; compute.gpus is for each worker"),  # noqa: E501
            ("runtime: {environment: {A: b}}", "unknown key environment in runtime", "write runtime.env"),
            (f"code: {{git: {{url: 'https://x.example/y', commit: {'a' * 40}}}}}", "unknown key commit in code.git", "write ref: the full commit SHA"),  # noqa: E501
            ("name: ''", "name is empty", "write a value, or remove the line"),
            ("storage: {mounts: [{name: My_Vol, storage: s, path: /x}]}", "storage.mounts[0].name is not a lower-case name", "write lower-case letters, digits and -, such as scratch-1"),  # noqa: E501
        ],
    )  # fmt: skip
    def test_words(self, text: str, message: str, hint: str) -> None:
        found = errors(text if text.startswith("name") else f"name: a\n{text}\n")
        assert [(d.message, d.hint) for d in found] == [(message, hint)]

    def test_a_secret_typed_in_the_wrong_place_is_never_repeated(self) -> None:
        for text in (
            "runtime: {env_secret: {TOKEN: hunter2hunter2}}",
            "runtime: {env_secret: {TOKEN: 'hunter2hunter2 x:y'}}",
            "code: {git: {url: x, ref: y, secret: hunter2hunter2}}",
            "runtime: {env: {A: [hunter2hunter2]}}",
        ):
            found = errors(f"name: a\n{text}\n")
            assert len(found) == 1
            assert "hunter2" not in found[0].message + found[0].hint

    @pytest.mark.parametrize(
        ("text", "path", "hint"),
        [
            ("cancelled: yes", "cancelled", "write true or false"),
            ("compute: {gpus: 08}", "compute.gpus", "write 8 without the leading zero, or quote this"),
            ("compute: {cpus: 010}", "compute.cpus", "write 10 without the leading zero, or quote this"),
            ("run: {max_duration: 1:30:00}", "run.max_duration", "write a number with a unit, such as 90m"),
            ("name: no", "name", 'quote this: "no"'),
            ("run: {args: [a, off]}", "run.args[1]", 'quote this: "off"'),
            ("labels: {day: 2026-01-01}", "labels.day", 'quote this: "2026-01-01"'),
            ("execution: {configs: {amp: no}}", "execution.configs.amp", 'quote this: "no"'),
            ("experiment: {hyperparameters: {a: [{b: 0755}]}}", "experiment.hyperparameters.a[0].b", 'quote this: "0755"'),
            ("engine: on", "engine", "write job, rayjob or jobset"),
            ("on_edit: off", "on_edit", "write wait, replace or beside"),
            ("compute: {memory: 64:00}", "compute.memory", "write a number and a unit, such as 64Gi, 500m or 8"),
            ("policy: {node_affinity: [{key: a, values: [012]}]}", "policy.node_affinity[0].values[0]", 'quote this: "012"'),
        ],
    )
    def test_an_ambiguous_scalar_is_one_finding(self, text: str, path: str, hint: str) -> None:
        found = errors(text if text.startswith("name") else f"name: a\n{text}\n")
        assert [(d.rule, d.path, d.hint) for d in found] == [("yaml-ambiguous", path, hint)]

    def test_an_ambiguous_scalar_below_an_unknown_key_is_no_second_finding(self) -> None:
        assert places("name: a\nfoo: {bar: no}\n") == [(2, "unknown-key", "foo")]
        assert places("name: a\nfoo: no\n") == [(2, "unknown-key", "foo")]


class TestTexts:
    def test_scalars_arrive_as_typed(self) -> None:
        doc = read(
            """\
            name: a
            run: {entrypoint: [python, 3.10, 0x10], args: [--lr, 7e-2, 1_000, true, ~x]}
            labels: {v: 1.10}
            runtime: {env: {A: 7e-2, B: 3.10, C: 1_000, D: true, E: "", F: TRUE}}
            execution: {launcher: python, configs: {lr: 7e-2, on_gpu: True, bare: "", n: 010.50}}
            policy: {node_affinity: [{key: k, values: [1.0, true]}]}
            """
        )
        assert doc.findings == ()
        spec: Any = doc.spec
        assert spec.run.entrypoint == ["python", "3.10", "0x10"]
        assert spec.run.args == ["--lr", "7e-2", "1_000", "true", "~x"]
        assert spec.labels == {"v": "1.10"}
        assert spec.runtime.env == {"A": "7e-2", "B": "3.10", "C": "1_000", "D": "true", "E": "", "F": "TRUE"}
        assert spec.execution.configs == {"lr": "7e-2", "on_gpu": "True", "bare": "", "n": "010.50"}
        assert spec.policy.node_affinity[0].values == ["1.0", "true"]

    def test_settings_of_ray_keep_their_types(self) -> None:
        doc = read(
            "name: a\nrun: {workload_kind: rayjob}\nexecution: {launcher: ray-tune, metric: m, configs: {lr: {loguniform: [1e-4, 0.1]}, n: 3}}\n"  # noqa: E501
        )
        assert doc.spec.execution is not None
        assert doc.spec.execution.configs == {"lr": {"loguniform": [0.0001, 0.1]}, "n": 3}

    def test_null_is_no_text(self) -> None:
        assert places("name: a\nrun: {args: [~]}\n") == [(2, "value-form", "run.args[0]")]

    def test_free_form_data_does_not_depend_on_the_order_of_its_keys(self) -> None:
        one = read("name: a\nexperiment: {hyperparameters: {b: {y: 1, x: 2}, a: 1}}\n").spec.experiment
        assert one is not None
        assert one.hyperparameters is not None
        assert str(one.hyperparameters) == "{'a': 1, 'b': {'x': 2, 'y': 1}}"


def test_every_foreign_name_leads_somewhere() -> None:
    known = {item.path for item in fields.everything()}
    for name, meaning in FOREIGN.items():
        assert name == name.lower().replace("_", "").replace("-", "")
        assert not meaning.field or meaning.field in known, name
        assert len(meaning.hint) > 5
        assert (
            meaning.field is not None
            or "remove" in meaning.hint
            or "not built" in meaning.hint
            or "write" in meaning.hint
            or "choose" in meaning.hint
        )


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("num_nodes: 2", "execution.nodes"), ("resources: {accelerators: H100:8}", "compute"), ("envs: {A: b}", "runtime.env"), ("image_id: x", "runtime.image"),  # noqa: E501
        ("compute: {accelerators: H100:8}", "compute.gpus"), ("nodes: 2", "execution.nodes"), ("commands: [a]", "run.entrypoint"), ("max_price: 3", "run.max_duration"),  # noqa: E501
        ("numNodes: 2", "execution.nodes"), ("numProcPerNode: 8", "execution.processes_per_node"), ("instance_count: 2", "execution.nodes"),
        ("distribution: {type: pytorch}", "execution"), ("gres: gpu:8", "compute.gpus"), ("ntasks_per_node: 8", "execution.processes_per_node"),  # noqa: E501
        ("nodeSelector: {a: b}", "policy.node_affinity"), ("tolerations: []", "flavors"), ("backoffLimit: 3", "resilience.max_retries"), ("file_mounts: {}", "storage.mounts"),  # noqa: E501
        ("workdir: .", "code.path"), ("rayClusterSpec: {}", "compute.workers"), ("slots_per_trial: 8", "compute.gpus"), ("queue: a", "policy.queue"), ("env: {A: b}", "runtime.env"),  # noqa: E501
        ("run: {image: x, gpus: 2}", "compute.gpus"), ("runtime: {shm-size: 1Gi}", "compute.shm_size"), ("compute: {GPUS: 1}", "gpus"), ("compute: {gpu-class: any}", "gpu_class"),  # noqa: E501
        ("Runtime: {image: x}", "runtime"), ("tune: {}", "the keys of a run are"),
    ],
)  # fmt: skip
def test_names_of_other_systems(text: str, word: str) -> None:
    found = errors(f"name: a\n{text}\n")
    assert len(found) == 1
    assert found[0].rule == "unknown-key"
    assert word in found[0].hint


_KEYS = [str(p[-1]) for f in fields.everything() for p in [f.path]] + [
    "engine",
    "image",
    "env",
    "script",
    "volumes",
    "mounts",
    "data_pvc",
    "eval",
    "rdma",
    "x",
    "shape",
]
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2000),
    st.floats(),
    st.sampled_from(["", "a", "8Gi", "1h", "a:b", "v=pvc:c", "v:/x", "auto", "ray", "eval", "8xa100-80gb", "é", "\u200b"]),
)
_TREES = st.recursive(
    _LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4)), max_leaves=12
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(_KEYS), _TREES, max_size=6))
def test_no_document_raises_and_every_finding_is_whole(tree: dict[str, Any]) -> None:
    import yaml

    text = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)
    docs, found = read_file("f", text.encode(), "w")
    for finding in [*found, *(d for doc in docs for d in doc.findings)]:
        assert finding.message
        assert finding.hint
        assert finding.span.line >= 1
    for doc in docs:
        assert len(doc.digest) == 64
        assert all(d.severity is not Severity.ERROR for d in doc.findings) or doc.findings


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes) -> None:
    read_file("f", raw, "w")
