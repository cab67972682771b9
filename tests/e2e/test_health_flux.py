"""Node health in sync under Flux: applied, left alone, changed by a commit, and no hindrance to anything else."""

import pytest

from tests.e2e import healthsync, lab
from tests.e2e.agents import POLICY
from tests.e2e.kube import Kube
from tests.e2e.loop import FluxLoop

WITH = ("jobset", "kuberay", "kueue", "flux")
SHARES = "flux"
LOOP = (FluxLoop, lab.FLUX)


@pytest.fixture(scope="module", autouse=True)
def _health(loop: FluxLoop) -> None:
    loop.fleet.commit({"policy/health.yaml": POLICY}, "node health")
    loop.publish()
    loop.sync()


def test_it_is_applied_and_left_alone(loop: FluxLoop, kube: Kube):
    healthsync.applied_and_left_alone(loop, kube)


def test_a_change_of_policy_is_a_new_configmap_and_a_rollout(loop: FluxLoop, kube: Kube):
    healthsync.changed(loop, kube)


def test_a_pod_that_is_not_ready_holds_up_nothing(loop: FluxLoop, kube: Kube):
    healthsync.not_ready(loop, kube)


def test_without_its_policy_it_goes(loop: FluxLoop, kube: Kube):
    healthsync.gone(loop, kube)
