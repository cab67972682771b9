"""In a queue with GPU flavors of both sorts, a run that can get the plain one needs no topology annotation."""

import copy
from typing import Any

import pytest

from taugen.policy.load import load_policy
from taugen.validate.rules.objects import topology_missing
from tests.policykit import fixture_with
from tests.validate.rules.objects.runs import compiled, with_obj

BOTH = """kind: Flavor
metadata:
  name: l40s
spec:
  gpuClass: l40s-48gb
  nodeLabels: {tern.example/nodes: general}
  nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]
"""
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists"}


@pytest.mark.parametrize(
    ("labels", "tolerations", "refused"),
    [
        (None, [EXISTS], False),
        (["general"], [EXISTS], False),
        (["h200"], [EXISTS], True),
        (["general"], [EXISTS | {"operator": "Equal", "value": "h200"}], True),
        (["general"], [], True),
    ],
    ids=["any flavor", "the plain one", "the one with a topology", "taint not tolerated", "no toleration"],
)
def test_a_plain_gpu_flavor_in_reach_is_enough(labels: list[str] | None, tolerations: list[dict[str, Any]], refused: bool) -> None:
    policy, found = load_policy(fixture_with(f"apiVersion: taugen.dev/v1alpha1\n{BOTH}"))
    assert policy is not None
    assert not found
    item = next(item for item in compiled()[1] if item.kind == "Job" and item.name.startswith("downscale-"))
    obj: Any = copy.deepcopy(item.obj)
    template = obj["spec"]["template"]
    template["metadata"]["annotations"] = {}
    template["spec"]["tolerations"] = tolerations
    template["spec"].pop("affinity", None)
    if labels:
        term = {"matchExpressions": [{"key": "tern.example/nodes", "operator": "In", "values": labels}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        template["spec"]["affinity"] = {"nodeAffinity": required}
    found = list(topology_missing.check([with_obj(item, spec=obj["spec"])], policy))
    assert [d.rule for d in found] == (["topology-missing"] if refused else [])
