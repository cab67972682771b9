"""What the fuzzer found once, by the smallest document that shows it."""

from tests.attacks.fuzz import Judge

RUN = """\
name: x
run: {entrypoint: train.py, workload_kind: job}
runtime: {image: "registry.tern.example/climate/torch@sha256:%s"}
compute: {gpus: 0, cpus: 1, memory: 1Gi}
policy: {profile: cpu}
""" % ("1" * 64)


def test_integers_that_json_can_not_hold(tmp_path):
    judge = Judge(tmp_path)
    text = RUN + "experiment: {hyperparameters: {a: [9007199254740993], b: -90071992547409930, c: 9007199254740992}}\n"
    assert judge.fault(0, text.encode()) is None
    assert judge.rules["hyperparameters"] == 2
    assert judge.good == 0
    assert judge.fault(4, RUN.encode()) is None
    assert judge.good == 1


def test_lists_and_mappings_as_names_of_parameters(tmp_path):
    judge = Judge(tmp_path)
    for name in ("[]", "[a, b]", "{a: 1}"):
        for text in (
            f"experiment: {{hyperparameters: {{a: [{name}: 1]}}}}\n",
            f"experiment:\n  hyperparameters:\n    a:\n    - ? {name}\n      : 1\n",
            f"execution: {{launcher: torchrun, configs: {{{name}: 1, b: 2}}}}\n",
            f"execution: {{launcher: torchrun, configs: {{a: [{name}: 1]}}}}\n",
        ):
            assert judge.fault(0, (RUN + text).encode()) is None, text
    assert judge.good == 0
