"""The health rules of Argo CD, run by Lua 5.1, the language of Argo CD's interpreter."""

import pytest

from taugen.render.gitops.argocd import HEALTH, _lua

lua51 = pytest.importorskip("lupa.lua51", reason="lupa is not installed, so the health rules are not run")


def health(kind, obj):
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    run = runtime.eval("function(obj) " + _lua(kind) + "\nend")
    out = run(runtime.table_from(obj, recursive=True))
    assert isinstance(out["message"], str)
    return out["status"]


def active(status, reason="Ready"):
    return {
        "status": {
            "conditions": [{"type": "Other", "status": "True"}, {"type": "Active", "status": status, "reason": reason, "message": "m"}]
        }
    }


def conditions(*pairs, **spec):
    found = [{"type": t, "status": s, "reason": r, "message": f"{t} {r}"} for t, s, r in pairs]
    return {"spec": {"active": True, **spec}, "status": {"conditions": found}}


@pytest.mark.parametrize(
    ("kind", "obj", "wanted"),
    [
        ("ClusterQueue", {"spec": {}}, "Progressing"),
        ("ClusterQueue", {"status": {}}, "Progressing"),
        ("ClusterQueue", active("True"), "Healthy"),
        ("ClusterQueue", active("False", "Stopped"), "Suspended"),
        ("ClusterQueue", active("False", "Terminating"), "Progressing"),
        ("ClusterQueue", active("False", "FlavorNotFound"), "Degraded"),
        ("LocalQueue", {"spec": {}}, "Progressing"),
        ("LocalQueue", active("True"), "Healthy"),
        ("LocalQueue", active("False", "ClusterQueueIsInactive"), "Suspended"),
        ("LocalQueue", active("False", "Stopped"), "Suspended"),
        ("LocalQueue", active("False", "ClusterQueueDoesNotExist"), "Degraded"),
        ("Workload", {"spec": {}}, "Suspended"),
        ("Workload", conditions(("QuotaReserved", "False", "Pending")), "Suspended"),
        ("Workload", conditions(("QuotaReserved", "True", "QuotaReserved"), ("Admitted", "True", "Admitted")), "Healthy"),
        ("Workload", conditions(("Admitted", "False", "NoReservation"), ("Evicted", "True", "Preempted")), "Suspended"),
        ("Workload", conditions(("Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded"), active=False), "Degraded"),
        ("Workload", conditions(("Admitted", "True", "Admitted"), ("Finished", "True", "Succeeded")), "Healthy"),
        ("Workload", conditions(("Admitted", "True", "Admitted"), ("Finished", "True", "Failed")), "Degraded"),
        ("RayJob", {"spec": {}}, "Progressing"),
        ("RayJob", {"spec": {"suspend": True}}, "Suspended"),
        ("RayJob", {"spec": {}, "status": {"jobDeploymentStatus": "Initializing"}}, "Progressing"),
        ("RayJob", {"spec": {}, "status": {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}}, "Healthy"),
        ("RayJob", {"spec": {}, "status": {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}}, "Healthy"),
        ("RayJob", {"spec": {}, "status": {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}}, "Degraded"),
        ("RayJob", {"spec": {}, "status": {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "message": "boom"}}, "Degraded"),
        ("RayJob", {"spec": {}, "status": {"jobDeploymentStatus": "ValidationFailed"}}, "Degraded"),
        ("RayJob", {"spec": {"suspend": True}, "status": {"jobDeploymentStatus": "Suspended"}}, "Suspended"),
        ("RayJob", {"spec": {"suspend": True}, "status": {"jobDeploymentStatus": ""}}, "Suspended"),
        ("JobSet", {"spec": {}}, "Progressing"),
        ("JobSet", {"spec": {"suspend": True}, "status": {"conditions": []}}, "Suspended"),
        ("JobSet", {"spec": {}, "status": {"replicatedJobsStatus": [{"name": "a", "active": 1}]}}, "Healthy"),
        ("JobSet", {"spec": {}, "status": {"replicatedJobsStatus": [{"name": "a"}]}}, "Progressing"),
        ("JobSet", {"spec": {}, "status": {"terminalState": "Completed"}}, "Healthy"),
        ("JobSet", {"spec": {}, "status": {"terminalState": "Failed"}}, "Degraded"),
        ("JobSet", {"spec": {}, "status": {"conditions": [{"type": "Failed", "status": "True", "message": "m"}]}}, "Degraded"),
        ("Application", {"spec": {}}, "Progressing"),
        ("Application", {"status": {"health": {"status": "Degraded", "message": "m"}}}, "Degraded"),
        ("Application", {"status": {"health": {"status": "Suspended"}}}, "Healthy"),
    ],
)
def test_health(kind, obj, wanted):
    assert health(kind, obj) == wanted


def test_every_kind_has_a_rule():
    for _, kind in HEALTH:
        assert health(kind, {"spec": {}}) in {"Progressing", "Suspended"}
