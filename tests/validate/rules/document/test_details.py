"""Rules on documents, branch by branch: each line is a document's difference from a clean one and what must be found."""

import textwrap

import pytest

from taugen.validate.rules.document import code_git
from tests.validate.rules.document.test_rules import findings

IMAGE = f"registry.tern.example/speech/torch@sha256:{'1' * 64}"
SOURCE = f"registry.tern.example/speech/code@sha256:{'2' * 64}"
SHA = "0123456789abcdef0123456789abcdef01234567"


def run(
    more: str, kind: str = "job", compute: str = "{gpus: 2}", section: str = "", runtime: str = "", workspace: str = "speech"
) -> list[str]:
    text = f"name: asr\nrun: {{entrypoint: train.py, workload_kind: {kind}{section}}}\ncompute: {compute}\nruntime:\n  image: {IMAGE}\n"
    text += textwrap.indent(textwrap.dedent(runtime), "  ") + "\n" + textwrap.dedent(more)
    return [f"{d.severity.value[0]} {d.rule} {d.path}" for d in findings(text, workspace=workspace)]


def execution(text: str, kind: str = "job", compute: str = "{gpus: 2}") -> list[str]:
    return run(f"execution: {{{text}}}", kind, compute)


class TestLaunchers:
    @pytest.mark.parametrize(
        ("text", "kind", "compute", "expected"),
        [
            ("launcher: torchrun", "job", "{gpus: 8}", []),
            ("launcher: torchrun, nodes: 2", "job", "{gpus: 8}", []),
            ("launcher: torchrun, nodes: 2", "jobset", "{gpus: 8}", []),
            ("nodes: 2", "jobset", "{gpus: 8}", []),
            ("nodes: 2", "job", "{gpus: 8}", ["e launcher-nodes execution.nodes"]),
            ("nodes: 2", "rayjob", "{gpus: 8}", ["e launcher-nodes execution.nodes"]),
            ("nodes: 1", "rayjob", "{gpus: 8}", []),
            ("nodes: 1", "job", "{gpus: 8, workers: 1}", []),
            ("nodes: 1", "job", "{gpus: 8, workers: 2}", ["e launcher-nodes compute.workers"]),
            ("launcher: torchrun", "job", "{gpus: 8, workers: 2}", []),
            ("launcher: torchrun, nodes: 2", "job", "{gpus: 8, workers: 2}", []),
            ("launcher: torchrun, nodes: 3", "job", "{gpus: 8, workers: 2}", ["e launcher-nodes compute.workers"]),
            ("launcher: python", "job", "{gpus: 8, workers: 2}", ["e launcher-nodes compute.workers"]),
            ("launcher: torchrun", "rayjob", "{gpus: 8}", ["e launcher-kind execution.launcher"]),
            ("launcher: python", "rayjob", "{gpus: 8}", ["e launcher-kind execution.launcher"]),
            ("launcher: torchrun, nodes: 2", "rayjob", "{gpus: 8}", ["e launcher-kind execution.launcher"]),
            ("launcher: ray-train, nodes: 2", "rayjob", "{gpus: 8}", ["e launcher-nodes execution.nodes"]),
            ("launcher: ray-train", "jobset", "{gpus: 8}", ["e launcher-kind execution.launcher"]),
            ("launcher: ray-train", "rayjob", "{gpus: 8, workers: 4}", []),
            ("launcher: torchrun, processes_per_node: 8", "job", "{gpus: 8}", []),
            ("launcher: torchrun, processes_per_node: 9", "job", "{gpus: 8}", ["e launcher-processes execution.processes_per_node"]),
            ("launcher: torchrun, processes_per_node: 4", "job", "{gpus: 8}", ["w launcher-processes execution.processes_per_node"]),
            ("launcher: torchrun, processes_per_node: 1", "job", "{gpus: 8}", ["n launcher-processes execution.processes_per_node"]),
            ("launcher: torchrun, processes_per_node: 4", "job", "{gpus: 0, cpus: 8, memory: 8Gi}", []),
            ("processes_per_node: 1", "job", "{gpus: 8}", []),
            ("processes_per_node: 4", "job", "{gpus: 8}", ["e launcher-processes execution.processes_per_node"]),
            ("launcher: accelerate, nodes: 2, processes_per_node: 4", "job", "{gpus: 4}", ["e not-yet execution.launcher"]),
            ("launcher: ray-tune", "rayjob", "{gpus: 1}", ["e launcher-tune execution.launcher"] * 2),
            ("launcher: ray-tune, metric: loss, configs: {lr: {uniform: [0, 1]}}, num_samples: 4", "rayjob", "{gpus: 1}", []),
            ("metric: loss, mode: max", "job", "{gpus: 1}", ["e launcher-tune execution.metric", "e launcher-tune execution.mode"]),
            ("launcher: ray-train, num_samples: 2", "rayjob", "{gpus: 1}", ["e launcher-tune execution.num_samples"]),
        ],
    )
    def test_kinds_nodes_and_processes(self, text: str, kind: str, compute: str, expected: list[str]) -> None:
        assert execution(text, kind, compute) == expected

    @pytest.mark.parametrize(
        ("command", "more", "expected"),
        [
            ("[torchrun, train.py]", "", ["w 0"]),
            ("[/opt/bin/torchrun, --nnodes, '1', train.py, --nproc-per-node=4]", "", ["w 0"]),
            ("[torchrun, --nproc_per_node=4, train.py]", "", []),
            ("[torchrun, --nproc-per-node, gpu, train.py]", "", []),
            ("[torchrun, --nproc-per-node, 2, train.py]", "", ["w 2"]),
            ("[python3, -m, torch.distributed.run, --nproc-per-node=8, train.py]", "", ["e 3"]),
            ("[torchrun, --nproc-per-node=1, train.py]", "", ["n 1"]),
            ("[torchrun, train.py]", "execution: {launcher: torchrun}", ["e 0"]),
            ("[accelerate, launch, --num_processes, 4, train.py]", "execution: {launcher: torchrun, nodes: 2}", ["e 0"]),
            ("[accelerate, launch, train.py]", "", []),
            ("[accelerate, config]", "execution: {launcher: torchrun}", []),
            ("[python, train.py]", "execution: {launcher: torchrun}", []),
        ],
    )
    def test_commands_that_are_launchers(self, command: str, more: str, expected: list[str]) -> None:
        text = f"name: asr\nrun: {{entrypoint: {command}, workload_kind: job}}\ncompute: {{gpus: 4}}\nruntime:\n  image: {IMAGE}\n{more}"
        found = [d for d in findings(text) if d.rule == "launcher-command"]
        assert [f"{d.severity.value[0]} {d.path.removeprefix('run.entrypoint[').rstrip(']')}" for d in found] == expected

    def test_torchrun_may_be_told_by_its_variable(self) -> None:
        text = f"name: asr\nrun: {{entrypoint: [torchrun, train.py]}}\ncompute: {{gpus: 4}}\nruntime:\n  image: {IMAGE}\n"
        assert [d.rule for d in findings(text + "  env: {PET_NPROC_PER_NODE: 4}\n")] == []

    def test_gpus_of_the_profile_that_is_named_count(self) -> None:
        text = "policy: {profile: h200-node}\nexecution: {launcher: torchrun, processes_per_node: 9}"
        assert run(text, compute="{}", workspace="climate") == ["e launcher-processes execution.processes_per_node"]

    @pytest.mark.parametrize(
        ("text", "kind", "expected"),
        [
            ("configs: {lr: 7e-2, name: x, flag: true, bare: '', n: 3}", "job", []),
            ("launcher: python, configs: {a: [1]}", "job", ["a"]),
            ("launcher: python, configs: {a: {b: 1}}", "job", ["a"]),
            ("launcher: python, configs: {a: null}", "job", ["a"]),
            ("launcher: python, configs: {-a: 1}", "job", ["-a"]),
            ("launcher: python, configs: {--lr: 1}", "job", ["--lr"]),
            ("launcher: python, configs: {a b: 1}", "job", ["a b"]),
            ("launcher: python, configs: {a_b: 1, a-b: 2}", "job", []),
            ("launcher: torchrun, configs: {a_b: 1, a-b: 2}", "job", ["a_b"]),
            ("launcher: torchrun, configs: {max_restarts: 0, log-dir: /tmp, tee: 3}", "job", []),
            ("launcher: torchrun, configs: {standalone: ''}", "job", ["standalone"]),
            ("launcher: torchrun, configs: {num_processes: 4, main-process-ip: x}", "job", ["num_processes", "main-process-ip"]),
            ("launcher: python, configs: {num_processes: 4}", "job", []),
            ("launcher: torchrun, configs: {num_gpus: 4, num_nodes: 2, hostfile: x}", "job", ["num_gpus", "num_nodes", "hostfile"]),
            ("launcher: accelerate, configs: {num-machines: 1, mixed_precision: bf16}", "job", ["num-machines"]),
            ("launcher: deepspeed, configs: {num_gpus: 4, zero_stage: 3}", "job", ["num_gpus"]),
            (
                "launcher: torchrun, configs: {nproc_per_node: 4, rdzv-id: x, master_port: 1, module: ''}",
                "job",
                ["nproc_per_node", "rdzv-id", "master_port", "module"],
            ),
            ("launcher: ray-train, configs: {torch_config: {backend: nccl}, failure_config: {max_failures: 2}}", "rayjob", []),
            ("configs: {torch_config: {backend: nccl}}", "rayjob", []),
            ("configs: {lr: 0.1}", "rayjob", ["lr"]),
            ("launcher: ray-train, configs: {lr: 1}", "rayjob", ["lr"]),
            ("launcher: ray-train, configs: {scaling_config: 3}", "rayjob", ["scaling_config"]),
            ("launcher: ray-train, configs: {scaling_config: {num_workers: 2}}", "rayjob", ["scaling_config.num_workers"]),
            ("launcher: ray-tune, metric: x, configs: {lr: {uniform: [0, .inf]}}", "rayjob", ["lr.uniform[1]"]),
        ],
    )
    def test_configs_by_launcher(self, text: str, kind: str, expected: list[str]) -> None:
        found = [d for d in execution(text, kind) if not d.startswith("n ") and d != "e not-yet execution.launcher"]
        assert sorted(found) == sorted(f"e launcher-configs execution.configs.{key}" for key in expected)


class TestEnvironment:
    @pytest.mark.parametrize(
        ("name", "more", "reserved"),
        [
            ("MASTER_PORT", "", True), ("TAU_RUN_ID", "", True), ("tau_anything", "", True), ("Tau_X", "", True), ("TAU_RESUME_FROM", "", False),  # noqa: E501
            ("TAU_RETRY_MAX", "", False), ("TAUX", "", False), ("NCCL_DEBUG", "", True), ("NCCL_DEBUG", "execution: {allow_nccl_override: true}", False),  # noqa: E501
            ("PET_NNODES", "execution: {launcher: torchrun}", True), ("PET_NNODES", "", False), ("RANK", "", False), ("JOB_COMPLETION_INDEX", "", False),  # noqa: E501
            ("JOB_COMPLETION_INDEX", "execution: {launcher: torchrun, nodes: 2}", True), ("OMP_NUM_THREADS", "", False),
        ],
    )  # fmt: skip
    def test_reserved_names(self, name: str, more: str, reserved: bool) -> None:
        for field, value in (("env", "x"), ("env_secret", "tracker:x")):
            expected = [f"e reserved-env runtime.{field}.{name}"] if reserved else []
            assert run(more, runtime=f"{field}: {{{name}: '{value}'}}\n") == expected

    def test_sizes_count_bytes(self) -> None:
        assert run("", runtime=f"env: {{A: {'é' * 32769}}}\n") == ["e env-size runtime.env.A"]
        assert run("", runtime=f"env: {{A: {'x' * 65536}}}\n") == []
        total = "".join(f"  A{i}: {'x' * 60000}\n" for i in range(3))
        assert run("", runtime=f"env:\n{total}") == ["e env-size runtime.env"]

    def test_a_secret_of_a_checkout_is_the_workspaces_too(self) -> None:
        text = f"code: {{git: {{url: https://git.tern.example/research/x.git, ref: {SHA}, secret: 'mine:key'}}}}"
        assert run(text) == ["e secret-unknown code.git.secret"]


class TestCode:
    @pytest.mark.parametrize(
        ("url", "found"),
        [
            ("https://git.tern.example/research/train.git", []),
            ("https://git.tern.example/research", []),
            ("https://GIT.tern.example/research/a/b", []),
            ("https://git.tern.example/researchers/train.git", ["url"]),
            ("https://git.tern.example/research/../platform", ["url"]),
            ("https://git.tern.example.evil.test/research/x", ["url"]),
            ("https://evil.test/git.tern.example/research/x", ["url"]),
            ("http://git.tern.example/research/x", ["url"]),
            ("ssh://git@git.tern.example/research/x", ["url"]),
            ("git@git.tern.example:research/x.git", ["url"]),
            ("ext::sh -c touch% /tmp/pwned", ["url"]),
            ("file:///etc", ["url"]),
            ("/srv/git/x", ["url"]),
            ("-oProxyCommand=x", ["url"]),
            ("https://git.tern.example/research/%2e%2e/x", ["url"]),
            ("https://git.tern.example/research/x?y=1", ["url"]),
            ("https://git.tern.example/research/x#y", ["url"]),
            ("https://git.tern.example/research/-x", []),
            ("ssh://-oProxyCommand=x/research", ["url"]),
        ],
    )
    def test_urls(self, url: str, found: list[str]) -> None:
        assert run(f"code:\n  git:\n    url: '{url}'\n    ref: {SHA}\n") == [f"e code-git code.git.{name}" for name in found]

    @pytest.mark.parametrize("ref", ["main", "v1.0", "HEAD", SHA[:12], SHA.upper(), SHA[:-1], "refs/heads/main", f"{SHA}0"])
    def test_a_ref_is_a_full_commit(self, ref: str) -> None:
        text = f"code:\n  git:\n    url: https://git.tern.example/research/x\n    ref: '{ref}'\n"
        assert run(text) == ["e code-git code.git.ref"]

    def test_a_sha256_commit_is_one(self) -> None:
        assert run(f"code:\n  git:\n    url: https://git.tern.example/research/x\n    ref: {'a1' * 32}\n") == []

    def test_parts(self) -> None:
        assert code_git.parts("git@host:team/x.git") == code_git.parts("ssh://git@host/team/x") == ("ssh", "host", "team", "x")
        assert code_git.parts("https://host:8443/x") == ("https", "host:8443", "x")

    @pytest.mark.parametrize(
        ("code", "source", "expected"),
        [
            ("{delivery: configmap, include: [a]}", False, []),
            ("{delivery: image, path: lib}", False, ["path"]),
            ("{delivery: image, include: [a], exclude: [b]}", False, ["include", "exclude"]),
            (f"{{delivery: configmap, git: {{url: https://git.tern.example/research/x, ref: {SHA}}}}}", False, ["git"]),
            (f"{{git: {{url: https://git.tern.example/research/x, ref: {SHA}}}, exclude: [a], path: sub}}", False, ["exclude"]),
            (f"{{git: {{url: https://git.tern.example/research/x, ref: {SHA}}}}}", True, ["git"]),
            ("{exclude: [a]}", True, ["exclude"]),
        ],
    )
    def test_what_has_no_effect(self, code: str, source: bool, expected: list[str]) -> None:
        section = f", source: {{image: '{SOURCE}', path: /src}}" if source else ""
        assert run(f"code: {code}", section=section) == [f"e code-unused code.{name}" for name in expected]


class TestPaths:
    @pytest.mark.parametrize("path", ["data", "./data", "../data", "/data/../x", "/data//x", "/da ta", "/data\\x", "/dаta", "/data/."])
    def test_working_dir(self, path: str) -> None:
        assert run("", runtime=f"working_dir: '{path}'\n") == ["e working-dir runtime.working_dir"]

    @pytest.mark.parametrize("path", ["/", "/data", "/data/x-1/y_2/", "/mnt/a.b"])
    def test_working_dir_that_is_plain(self, path: str) -> None:
        assert run("", runtime=f"working_dir: {path}\n") == []

    def test_working_dir_beside_a_source(self) -> None:
        section = f", source: {{image: '{SOURCE}', path: /src}}"
        assert run("", section=section, runtime="working_dir: /data\n") == ["e working-dir runtime.working_dir"]

    @pytest.mark.parametrize("path", ["src", "/", "/tau-source", "/tau-asset/x", "/a/../b", "/src\\x"])
    def test_source_path(self, path: str) -> None:
        assert run("", section=f", source: {{image: '{SOURCE}', path: '{path}'}}") == ["e source-path run.source.path"]

    def test_source_image_without_digest(self) -> None:
        section = ", source: {image: 'registry.tern.example/speech/code:main', path: /src}"
        assert run("", section=section) == ["e image-pinned run.source.image"]

    def test_assets(self) -> None:
        asset = f"{{name: a, image: '{SOURCE}', source_path: /x, mount_path: /assets/a}}"
        assert run(f"storage: {{image_assets: [{asset}, {asset}]}}") == ["e image-assets storage.image_assets[1].name"]

    @pytest.mark.parametrize(
        ("path", "bad"),
        [("m.jsonl", False), ("a/*.jsonl", False), ("/data/x.jsonl", False), ("a/../b", True), ("a\\b", True), ("..x", False)],
    )
    def test_history(self, path: str, bad: bool) -> None:
        assert run(f"metrics: {{history: ['{path}']}}") == (["e history-path metrics.history[0]"] if bad else [])


class TestNames:
    @pytest.mark.parametrize("name", ["a/b", "'x '", "tr\u0430in", "tr\u200bain", "caf\u00e9", "x" * 254, "＊"])
    def test_names_that_are_refused(self, name: str) -> None:
        text = f"name: {name}\nrun: {{entrypoint: t.py, workload_kind: job}}\ncompute: {{gpus: 0}}\nruntime: {{image: '{IMAGE}'}}\n"
        assert [d.rule for d in findings(text)] == ["run-name"]

    @pytest.mark.parametrize("name", ["a", "Train_A", "v1.2", "7b", "x" * 253, "a b"])
    def test_names_that_are_taken(self, name: str) -> None:
        text = f"name: '{name}'\nrun: {{entrypoint: t.py, workload_kind: job}}\ncompute: {{gpus: 0}}\nruntime: {{image: '{IMAGE}'}}\n"
        assert findings(text) == []

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            ("{team: vision, example.org/x: z}", []),
            ("{kubernetes.io/x: z}", "e"), ("{batch.kubernetes.io/x: z}", "e"), ("{kueue.x-k8s.io/queue-name: z}", "e"), ("{taugen.dev/run: z}", "e"),  # noqa: E501
            ("{mykubernetes.io/x: z}", []), ("{a b: z}", "e"), ("{-a: z}", "e"), ("{te\u0430m: z}", "e"), ("{team: a b}", "w"), ("{team: ''}", []),  # noqa: E501
        ],
    )  # fmt: skip
    def test_labels(self, labels: str, expected: str | list[str]) -> None:
        found = run(f"labels: {labels}")
        assert [f[:8] for f in found] == ([f"{expected} labels"] if expected else [])

    def test_unseen_characters_in_commands(self) -> None:
        assert run("", section=", args: ['a\u202eb']") == ["e look-alike run.args[0]"]
        assert run("", section=', args: ["a\\u202eb"]') == ["e look-alike run.args[0]"]
        assert run('description: "a\\0b"') == ["e look-alike description"]
        assert run("experiment: {project: 'v\u0456sion'}") == ["e look-alike experiment.project"]
        assert run("experiment: {project: 'expérience'}") == []
        assert run("description: 'été \u200b'\nexperiment: {hyperparameters: {a: é}}") == []


class TestOthers:
    @pytest.mark.parametrize(
        ("more", "section", "expected"),
        [
            ("checkpoint: {every: 0s}", "", ["checkpoint.every"]),
            ("", ", grace_period: 0s", []),
            ("", ", grace_period: 25h", ["run.grace_period"]),
            ("", ", max_duration: 0m", ["run.max_duration"]),
            ("resilience: {max_retries: 1, backoff_initial: 10m, backoff_max: 5m}", "", ["resilience.backoff_initial"]),
            ("resilience: {max_retries: 1, backoff_initial: 5m, backoff_max: 5m}", "", []),
        ],
    )
    def test_durations(self, more: str, section: str, expected: list[str]) -> None:
        assert run(more, section=section) == [f"e duration-bounds {path}" for path in expected]

    def test_retries(self) -> None:
        assert run("resilience: {fatal_exit_codes: [42], backoff_max: 5m}") == [
            "w retry-unused resilience.fatal_exit_codes",
            "w retry-unused resilience.backoff_max",
        ]
        assert run("resilience: {max_retries: 0, retry_on: [Error]}") == ["w retry-unused resilience.retry_on"]
        assert run("resilience: {max_retries: x, retry_on: [Error]}") == ["e value-type resilience.max_retries"]

    @pytest.mark.parametrize(
        ("rdma", "expected"),
        [
            ("{enabled: true}", []), ("{enabled: true, resource: rdma/ib, count: 2}", []), ("{enabled: true, resource: ib}", ["resource"]),
            ("{resource: kubernetes.io/ib}", ["resource"]), ("{resource: x.k8s.io/ib}", ["resource"]), ("{resource: 'rdma/i b'}", ["resource"]),  # noqa: E501
            ("{enabled: false, resource: rdma/ib, count: 1}", ["resource", "count"]), ("{enabled: false}", []),
        ],
    )  # fmt: skip
    def test_rdma(self, rdma: str, expected: list[str]) -> None:
        assert run("", compute=f"{{gpus: 2, rdma: {rdma}}}") == [f"e rdma-resource compute.rdma.{name}" for name in expected]

    @pytest.mark.parametrize(
        ("term", "expected"),
        [
            ("{key: a, values: [x, 1, true]}", []), ("{key: a, operator: In}", [""]), ("{key: a, operator: NotIn, values: []}", [""]),
            ("{key: a, operator: Exists}", []), ("{key: a, operator: Exists, values: [x]}", [""]), ("{key: a, operator: Gt, values: [8]}", []),  # noqa: E501
            ("{key: a, operator: Gt, values: [x]}", [""]), ("{key: a, operator: Lt, values: [1, 2]}", [""]), ("{key: 'a b', operator: Exists}", [".key"]),  # noqa: E501
            ("{key: a, values: ['x y']}", [".values[0]"]),
        ],
    )  # fmt: skip
    def test_node_affinity(self, term: str, expected: list[str]) -> None:
        assert run(f"policy: {{node_affinity: [{term}]}}") == [f"e node-affinity policy.node_affinity[0]{where}" for where in expected]

    def test_shared_memory(self) -> None:
        assert run("", compute="{gpus: 1, memory: 32Gi, memory_limit: 64Gi, shm_size: 48Gi}") == []
        assert run("", compute="{gpus: 1, memory: 32768Mi, shm_size: 32Gi}") == []
        assert run("", compute="{gpus: 1, memory: 32Gi, shm_size: 33Gi}") == ["e shm-size compute.shm_size"]

    def test_sizes_of_nothing(self) -> None:
        assert run("", compute="{gpus: 0, cpus: 0, memory: 0Gi, disk: 0, head: {}}") == [
            f"e size-zero compute.{n}" for n in ("cpus", "memory", "disk")
        ]
        assert run("", kind="rayjob", compute="{gpus: 0, head: {cpus: 0m}}") == ["e size-zero compute.head.cpus"]

    def test_namespace(self) -> None:
        assert run("policy: {namespace: lab-climate}") == ["e workspace-mismatch policy.namespace"]
        assert run("policy: {namespace: lab-speech}") == []

    def test_pip(self) -> None:
        assert run("", runtime='pip: ["a\\nb"]\n') == ["e pip-entry runtime.pip[0]"]

    def test_a_head_without_ray(self) -> None:
        assert run("", compute="{gpus: 1, head: {}}") == []
        assert run("", compute="{gpus: 1, head: {memory: 4Gi}}") == ["e head-without-ray compute.head.memory"]

    def test_what_could_not_be_read_has_no_echoes(self) -> None:
        assert run("execution: {launcher: horovod, nodes: 2, processes_per_node: 4, metric: x}") == ["e value-choice execution.launcher"]
        assert run("", kind="spark", compute="{gpus: 1, head: {cpus: 2}}") == ["e value-choice run.workload_kind"]
