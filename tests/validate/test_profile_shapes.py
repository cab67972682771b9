"""What is found out of a policy is found out once, and of another policy anew."""

from taugen.policy import references
from taugen.policy.load import load_policy
from taugen.policy.set import Policy
from taugen.validate import profile_shapes
from taugen.validate.rules.policy import RULES
from tests.policykit import fixture_with

SMALL = """apiVersion: taugen.dev/v1alpha1
kind: Profile
metadata:
  name: l40s-small
spec: {gpus: 1, workers: 3, gpuClass: l40s-48gb, queue: research}
"""


def policy(changed: str = "") -> Policy:
    found, _ = load_policy(fixture_with(changed))
    assert found is not None
    return found


def test_each_profile_and_each_queue_is_looked_at_once(monkeypatch):
    shaped, asked = [], []
    shape, settled = profile_shapes._shape, references._settled
    monkeypatch.setattr(profile_shapes, "_shape", lambda p, item, side, f: (shaped.append((item.name, side)), shape(p, item, side, f))[1])
    monkeypatch.setattr(references, "_settled", lambda p, queue: (asked.append(queue), settled(p, queue))[1])
    fixture = policy()
    for rule in RULES:
        list(rule.check(fixture))
    assert asked
    assert sorted(set(asked)) == sorted(asked)
    least = [name for name, side in shaped if side == "min"]
    assert sorted(fixture.profiles) == sorted(least)


def test_another_policy_has_its_own_answers():
    one, two = policy(), policy(SMALL)
    for _ in range(2):
        smallest = [profile_shapes.smallest(p, p.profiles["l40s-small"]) for p in (one, two)]
        assert [shape.workers for shape in smallest if shape is not None] == [1, 3]
    here, there = one.profiles["l40s-small"], two.profiles["l40s-small"]
    assert [shape.workers for item in (here, there, here) if (shape := profile_shapes.smallest(one, item)) is not None] == [1, 3, 1]
