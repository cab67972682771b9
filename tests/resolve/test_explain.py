"""Where each value came from, and what it overrode."""

from taugen.resolve.explain import ExplainLine, explain
from tests.resolve.kit import IMAGE, job, play, rayjob


def lines(text: str, workspace: str = "speech", policy: str = "") -> dict[str, ExplainLine]:
    played = play(text, workspace=workspace, policy=policy)
    found = explain(played.decided, played.policy)
    assert len({line.field for line in found}) == len(found)
    assert all(line.value and line.source.label for line in found)
    return {line.field: line for line in found}


def test_each_layer_is_named_with_its_place() -> None:
    found = lines(job("policy: {priority: low}", gpus=2))
    gpus = found["compute.gpus"]
    assert (gpus.value, gpus.source.layer, str(gpus.source.span)) == ("2", "document", "workspaces/speech/case/tau.yaml:4:17")
    assert [(s.layer, s.label, s.value) for s in gpus.overrode] == [("profile", "Profile l40s-small", "1")]
    assert gpus.overrode[0].span is not None
    cpus = found["compute.cpus"]
    assert (cpus.value, cpus.source.layer, cpus.source.value) == ("40", "profile", "40 (2 x 20)")
    assert found["policy.priority"].overrode[0].value == "normal"
    assert (found["run.max_duration"].source.label, found["run.max_duration"].value) == ("Platform tern", "96h")
    assert found["policy.cluster"].source.layer == "builtin"
    assert found["namespace"].source.label == "Workspace speech"
    assert found["runtime.env.HF_HUB_OFFLINE"].source.layer == "workspace"


def test_a_variable_shows_what_it_replaced() -> None:
    text = job().replace(f"runtime: {{image: '{IMAGE}'}}", f"runtime: {{image: '{IMAGE}', env: {{HF_HUB_OFFLINE: 0}}}}")
    line = lines(text)["runtime.env.HF_HUB_OFFLINE"]
    assert (line.value, line.source.layer, [(s.layer, s.value) for s in line.overrode]) == ("0", "document", [("workspace", "1")])


def test_nccl_settings_come_from_the_profile() -> None:
    found = lines(job(gpus=None, profile="h200-node"), workspace="climate")
    assert found["runtime.env.NCCL_IB_HCA"].source.label == "Profile h200-node"
    assert found["compute.rdma"].value == "8 x rdma/ib"
    assert found["policy.topology"].value == "required tern.example/block"
    assert found["policy.queue"].source.label == "Profile h200-node"


def test_everything_that_the_document_says_is_there() -> None:
    text = rayjob(
        "compute: {gpus: 1}", "experiment: {hyperparameters: {lr: 0.1}, seed: 3}", "labels: {owner: ann}", "description: for people"
    )
    found = lines(text)
    assert found["experiment.hyperparameters"].value == '{"lr": 0.1}'
    assert (found["experiment.seed"].value, found["labels.owner"].value) == ("3", "ann")
    assert (found["description"].value, found["compute.head.cpus"].source.layer) == ("for people", "builtin")


def test_older_spellings_lead_to_the_place_that_was_typed() -> None:
    older = "engine: job\nscript: train.py"
    found = lines(job("policy: {priority_tier: low}").replace("run: {entrypoint: train.py, workload_kind: job}", older))
    assert str(found["run.workload_kind"].source.span).endswith("tau.yaml:2:9")
    assert str(found["run.entrypoint"].source.span).endswith("tau.yaml:3:9")
    assert found["policy.priority"].overrode[0].value == "normal"


def test_defaults_of_workspace_and_platform_are_told_apart() -> None:
    workspace = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research}]
  podSecurity: restricted
  storage: [audio]
  identity: {serviceAccount: sa}
  defaults: {max_duration: 10h, priority: low, labels: {cost: a}, storage: {data: audio}, resilience: {max_retries: 2}}
"""
    found = lines(job(), policy=workspace)
    assert [(s.layer, s.value) for s in (found["run.max_duration"].source, *found["run.max_duration"].overrode)] == [
        ("workspace", "10h"),
        ("platform", "96h"),
    ]
    assert found["policy.priority"].source.label == "Workspace speech"
    assert found["labels.cost"].source.layer == "workspace"
    assert found["runtime.security.mode"].source.value == "restricted"
    assert found["policy.queue"].source.layer == "workspace"
    assert found["resilience.max_retries"].source.layer == "workspace"
    assert found["resilience.backoff_max"].source.layer == "builtin"
    assert found["storage.data"].source.layer == "workspace"


def test_what_an_hour_costs() -> None:
    """Workers on each flavor that may take them, by the GPU or, without GPUs, by the CPU."""
    pricing = "apiVersion: taugen.dev/v1alpha1\nkind: Platform\nmetadata: {name: tern}\nspec: {pricing: {l40s: 1.25, cpu: 0.05}}\n"
    price = lines(rayjob("compute: {gpus: 2, workers: 2}"), policy=pricing)["price.l40s"]
    assert (price.value, price.source.label) == ("5 an hour (4 GPUs x 1.25)", "Platform tern")
    assert str(price.source.span) == "policy/platform-.yaml:4:18"
    assert lines(job(gpus=0), policy=pricing)["price.cpu"].value.startswith("0.05 an hour (1 CPUs")
    assert not any(name.startswith("price") for name in lines(job(gpus=0), policy=pricing.replace("cpu: 0.05", "h200: 3")))
