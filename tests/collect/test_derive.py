"""What each object says, one state at a time."""

import json

import pytest

from taugen.collect.derive import job, shape, workload
from taugen.collect.runs import NODES, Where, reduce
from taugen.evidence.history import fold
from taugen.words.canonical import digest
from tests.collect.objects import (
    ADMISSION,
    IMAGE,
    NAMESPACE,
    RUN,
    at,
    changed,
    condition,
    labels,
    meta,
    note,
    over,
    pod,
    running,
)
from tests.collect.objects import job as a_job
from tests.collect.objects import workload as a_workload

WHERE = Where("fjord", {NAMESPACE: "speech", "team-robots": "robots"})


def told(obj, *, gone=False):
    """type -> event, of the last of each type."""
    return {str(event.type): event for event in reduce(obj, WHERE, gone=gone).events}


def data(obj, kind, **how):
    return dict(told(obj, **how)[kind].data)


# ------------------------------------------------------------------------------------------------------------------------------ whose


def test_labels_and_name_say_whose_an_object_is():
    found = reduce(a_job(), WHERE)
    assert found.attempt.object == f"{RUN}-1"
    assert (found.attempt.of.workspace, found.attempt.of.cluster) == ("speech", "fjord")


@pytest.mark.parametrize(
    "obj",
    [
        a_job(namespace="team-robots"),  # labels of another workspace
        a_job(namespace="elsewhere"),
        a_job(name=f"{RUN}-2"),  # the labels say 1
        a_job(attempt=0),
        a_job(attempt="1/../../x"),
        a_job(run="../x-a87f5b3c"),
        a_workload(owner="other"),
        a_workload(kind="Deployment"),
        a_workload(namespace="elsewhere"),
        {**a_workload(), "metadata": meta("w", "w", 0)},
    ],
)
def test_an_object_of_nobody_or_of_somebody_else_says_nothing(obj):
    assert reduce(obj, WHERE).attempt is None
    assert reduce(obj, WHERE).events == ()


def test_a_workload_belongs_to_the_run_whose_object_owns_it():
    assert reduce(a_workload(), WHERE).attempt == reduce(a_job(), WHERE).attempt


@pytest.mark.parametrize("kind", ["Job", "JobSet", "RayJob", "RayCluster", "Workload", "Pod", "Event", "Node"])
@pytest.mark.parametrize("broken", [{}, {"metadata": None}, {"status": []}, {"status": {"conditions": [1, {"type": 3}]}}, {"spec": "x"}])
def test_no_shape_of_an_object_is_too_odd(kind, broken):
    whole = {"Job": a_job(), "JobSet": a_job(), "RayJob": a_job(), "Pod": pod(), "Workload": a_workload()}.get(kind, note())
    reduce({**whole, **broken, "kind": kind}, WHERE)


# ------------------------------------------------------------------------------------------------------------------------------ runs


def test_a_job_was_submitted_as_it_was_made():
    late = {**a_job(), "metadata": {**a_job()["metadata"], "generation": 3}}
    event = told(a_job())["submitted"]
    assert (event.time, event.uid, event.data["image"]) == (at(0), "j-1", "registry.example/train:1")
    assert event.data["object"] == {"uid": "j-1", "kind": "Job", "name": f"{RUN}-1", "namespace": NAMESPACE, "generation": 1}
    assert told(late)["submitted"] == event


def test_what_a_program_is_started_with_is_named_and_never_told():
    job_ = a_job()
    container = job_["spec"]["template"]["spec"]["containers"][0]
    container |= {"command": ["/bin/sh", "/tau/launch/launch.sh"], "args": ["--lr", "1"], "envFrom": [{"secretRef": {"name": "more"}}]}
    key = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
    container["env"] = [{"name": "TAU_RESUME_FROM", "value": "/c/5"}, key, {"name": "EMPTY"}]
    found = data(job_, "submitted")["runtime"]
    assert (found["envNames"], found["secrets"], found["resumeFrom"]) == (["EMPTY", "HF_TOKEN", "TAU_RESUME_FROM"], ["hub", "more"], "/c/5")
    assert found["command"] == ["/bin/sh", "/tau/launch/launch.sh", "--lr", "1"]
    assert found["envDigest"] == digest({"TAU_RESUME_FROM": "/c/5", "EMPTY": ""})


def test_the_end_of_a_job():
    done = a_job(conditions=[condition("SuccessCriteriaMet", "True", 9), condition("Complete", "True", 9)])
    failed = a_job(conditions=[condition("Failed", "True", 9, "BackoffLimitExceeded", "Job has reached the specified backoff limit")])
    assert told(done)["succeeded"].time == at(9)
    assert data(failed, "failed") == {"reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
    assert "failed" not in told(a_job(conditions=[condition("FailureTarget", "True", 9), condition("Failed", "False", 9)]))
    assert [reduce(obj, WHERE).over for obj in (a_job(), done, failed)] == [False, True, True]


def test_a_suspended_job_says_which_indexes_are_done():
    job_ = a_job(conditions=[condition("Suspended", "True", 5)], completedIndexes="0,2-3")
    assert {e.data["index"] for e in reduce(job_, WHERE).events if e.type == "index-succeeded"} == {0, 2, 3}
    assert job.indexes("1-3,7") == [1, 2, 3, 7]
    assert job.indexes("x,1-x,0-999999999") == []


def test_a_jobset():
    template = {"template": {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "i:1"}]}}}}}
    jobset = {**a_job(), "kind": "JobSet", "spec": {"replicatedJobs": [template]}}
    assert data(jobset, "submitted")["image"] == "i:1"
    assert told(changed(jobset, conditions=[condition("Completed", "True", 8)]))["succeeded"].time == at(8)
    assert data(changed(jobset, conditions=[condition("Failed", "True", 8, "FailedJobs", "x")]), "failed")["reason"] == "FailedJobs"


def rayjob(written=7, **status):
    fields = [{"manager": "ray-operator", "operation": "Update", "subresource": "status", "time": at(written)}]
    head = {"template": {"spec": {"containers": [{"name": "ray-head", "image": "ray:2"}]}}}
    base = a_job()
    return {
        **base,
        "kind": "RayJob",
        "metadata": {**base["metadata"], "managedFields": fields},
        "spec": {"rayClusterSpec": {"headGroupSpec": head}},
        "status": status,
    }


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, None),
        ({"jobDeploymentStatus": "Initializing", "startTime": at(2)}, None),
        ({"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "startTime": at(2)}, None),
        ({"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Running", "startTime": at(2)}, None),
        ({"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Complete", "startTime": at(2), "endTime": at(6)}, ("succeeded", at(6))),
        ({"jobStatus": "FAILED", "jobDeploymentStatus": "Complete", "endTime": at(6)}, ("failed", at(6))),
        ({"jobStatus": "STOPPED", "jobDeploymentStatus": "Complete", "endTime": at(6)}, ("failed", at(6))),
        ({"jobStatus": "FAILED", "jobDeploymentStatus": "Failed", "reason": "AppFailed", "endTime": at(6)}, ("failed", at(6))),
        ({"jobDeploymentStatus": "Failed", "reason": "SubmissionFailed", "endTime": at(6)}, ("failed", at(6))),
        ({"jobDeploymentStatus": "ValidationFailed", "reason": "ValidationFailed", "message": "no"}, ("validation-failed", at(7))),
    ],
)
def test_a_rayjob(status, expected):
    events = told(rayjob(**status))
    ends = {kind: event.time for kind, event in events.items() if kind in ("succeeded", "failed", "validation-failed")}
    assert ends == (dict([expected]) if expected else {})
    assert ("ray" in events) == bool(status)


def test_a_write_that_changes_no_state_of_a_rayjob_is_no_event():
    status = {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "startTime": at(2)}
    assert told(rayjob(written=3, **status)) == told(rayjob(written=5, **status))


def test_a_raycluster_says_what_keeps_its_pods_from_being_made():
    refs = [{"apiVersion": "ray.io/v1", "kind": "RayJob", "name": f"{RUN}-1", "uid": "r", "controller": True}]
    conditions = [condition("ReplicaFailure", "True", 4, "FailedCreateHeadPod", "forbidden"), condition("HeadPodReady", "False", 4)]
    obj = {"kind": "RayCluster", "metadata": meta(f"{RUN}-1-x", "c-1", 3, ownerReferences=refs), "status": {"conditions": conditions}}
    assert data(obj, "ray") == {
        "jobStatus": "",
        "deploymentStatus": "ReplicaFailure",
        "reason": "FailedCreateHeadPod",
        "message": "forbidden",
    }


# ----------------------------------------------------------------------------------------------------------------------------- queue


def test_a_workload_is_queued():
    assert data(a_workload(), "queued") == {"workload": "job-x", "queue": "train", "tier": "standard", "priority": 100}
    old = a_workload()
    old["spec"] = {"queueName": "train", "priority": 5, "priorityClassName": "low"}
    assert data(old, "queued")["tier"] == "low"


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        ("WaitingForQuota", "whatever", "WaitingForQuota"),
        (
            "Pending",
            "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 2 more needed",
            "WaitingForQuota",
        ),
        ("Pending", "couldn't assign flavors to pod set main: insufficient quota for x > maximum capacity (8)", "ExceedsMaxQuota"),
        ("Pending", 'topology "racks" allows to fit only 4 out of 5 pod(s)', "TopologyPlacementFailed"),
        ("Pending", "insufficient unused quota, 2 more needed. Pending the preemption of 1 workload(s)", "WaitingForPreemptedWorkloads"),
        ("Pending", "untolerated taint {maint y NoSchedule <nil>} in flavor h100", "NoMatchingFlavor"),
        ("Pending", "resource ephemeral-storage unavailable in ClusterQueue", "NoMatchingFlavor"),
        ("Inadmissible", "LocalQueue nope doesn't exist", "Misconfigured"),
        ("Inadmissible", "ClusterQueue cq is inactive", "Misconfigured"),
        ("Pending", "", "PendingEvaluation"),
        ("Pending", "something new", "Pending"),
    ],
)
def test_why_it_waits_is_said_in_the_newer_words(reason, message, expected):
    obj = a_workload(conditions=[condition("QuotaReserved", "False", 2, reason, message)])
    assert data(obj, "inadmissible") == {"reason": expected, "message": message}
    assert told(obj)["inadmissible"].apart == expected


ADMITTED = [condition("QuotaReserved", "True", 2), condition("Admitted", "True", 3), condition("PodsReady", "True", 4)]


def test_admission():
    obj = a_workload(
        conditions=ADMITTED, admission=ADMISSION, admissionChecks=[{"name": "mk", "state": "Ready", "lastTransitionTime": at(3)}]
    )
    assert told(obj)["reserved"].time == at(2)
    assert told(obj)["ready"].time == at(4)
    admitted = data(obj, "admitted")
    assert admitted["clusterQueue"] == "training"
    assert admitted["checks"] == ["mk"]
    assert admitted["podSets"][0]["flavors"] == {"cpu": "cpu", "nvidia.com/gpu": "h100"}
    assert told(obj)["check"].apart == "mk Ready"


PREEMPTED = (
    "Preempted to accommodate a workload (UID: 11-aa, JobUID: 22-bb) due to prioritization in the ClusterQueue; "
    "preemptor path: /cq; preemptee path: /cq"
)


def test_preemption_names_who_took_the_place():
    conditions = [condition("Evicted", "True", 6, "Preempted", PREEMPTED), condition("Preempted", "True", 6, "InClusterQueue", PREEMPTED)]
    event = told(a_workload(conditions=conditions))["preempted"]
    assert event.data == {"reason": "InClusterQueue", "message": PREEMPTED, "by": {"uid": "11-aa", "jobUid": "22-bb"}}
    assert reduce(a_workload(conditions=conditions), WHERE).by == "22-bb"
    alone = told(a_workload(conditions=conditions[:1]))["preempted"]
    assert alone == event


@pytest.mark.parametrize(
    ("message", "why", "by"),
    [
        ("... (UID: a) due to reclamation within the cohort while borrowing", "InCohortReclaimWhileBorrowing", {"uid": "a"}),
        ("... (UID: a, JobUID: UNKNOWN) due to reclamation within the cohort", "InCohortReclamation", {"uid": "a"}),
        ("... due to Fair Sharing within the cohort", "InCohortFairSharing", {}),
        ("words of the future", "Preempted", {}),
    ],
)
def test_preemption_in_all_words(message, why, by):
    assert (workload.preempted(message), workload.by(message)) == (why, by)


@pytest.mark.parametrize(
    ("reason", "target", "kind", "expected"),
    [
        ("PodsReadyTimeout", "", "evicted", "PodsReadyTimeout"),
        ("ClusterQueueStopped", "", "evicted", "ClusterQueueStopped"),
        ("NodeFailures", "", "evicted", "NodeFailures"),
        ("AdmissionCheck", "", "evicted", "AdmissionCheck"),
        ("DeactivatedDueToMaximumExecutionTimeExceeded", "", "deactivated", "MaximumExecutionTimeExceeded"),
        ("DeactivatedDueToRequeuingLimitExceeded", "", "deactivated", "RequeuingLimitExceeded"),
        ("DeactivatedDueToAdmissionCheck", "", "deactivated", "AdmissionCheck"),
        ("InactiveWorkload", "RequeuingLimitExceeded", "deactivated", "RequeuingLimitExceeded"),
        ("Deactivated", "", "deactivated", "Deactivated"),
    ],
)
def test_eviction_for_a_while_or_for_good(reason, target, kind, expected):
    conditions = [condition("Evicted", "True", 6, reason, "m"), condition("QuotaReserved", "False", 6, "Pending", "m")]
    conditions += [condition("DeactivationTarget", "True", 6, target)] if target else []
    obj = a_workload(conditions=conditions)
    obj["spec"]["active"] = kind == "evicted"
    events = told(obj)
    assert events[kind].data == {"reason": expected, "message": "m"}
    assert {"evicted", "deactivated", "preempted"} & set(events) == {kind}
    assert ("inadmissible" in events) == (kind == "evicted")


def test_requeued():
    stats = {"evictions": [{"reason": "Preempted", "count": 2}, {"reason": "PodsReadyTimeout", "count": 1}]}
    assert data(a_workload(conditions=[condition("Requeued", "True", 6)], schedulingStats=stats), "requeued") == {"count": 3}
    assert data(a_workload(conditions=[condition("Requeued", "True", 6)], requeueState={"count": 4}), "requeued") == {"count": 4}


# ------------------------------------------------------------------------------------------------------------------------------ pods


def test_a_pod_runs_once_every_container_does():
    assert "pod-started" not in told(pod(containerStatuses=[running(4), {"name": "side", "state": {"waiting": {}}}]))
    event = told(pod(phase="Running", containerStatuses=[running(4), running(5, "side")]))["pod-started"]
    assert event.time == at(4)
    assert event.data == {
        "pod": f"{RUN}-1-0-abcde",
        "node": "gpu-1",
        "index": 0,
        "role": "worker",
        "images": {"main": IMAGE, "side": IMAGE},
    }


def ended(**more):
    return pod(**{"phase": "Failed", **more})


@pytest.mark.parametrize(
    ("obj", "time", "expected"),
    [
        (ended(containerStatuses=[over(4, 9, 3, message="boom")]), 9, {"exitCodes": {"main": 3}, "oom": False, "message": "boom"}),
        (ended(containerStatuses=[over(4, 9, 137, "OOMKilled")]), 9, {"exitCodes": {"main": 137}, "oom": True}),
        (
            ended(
                containerStatuses=[over(4, 9, 143)], conditions=[condition("DisruptionTarget", "True", 8, "PreemptionByScheduler", "taken")]
            ),
            9,
            {"disruption": "PreemptionByScheduler", "exitCodes": {"main": 143}},
        ),
        (ended(reason="Evicted", message="The node was low on memory", startTime=at(3)), 3, {"reason": "Evicted", "exitCodes": {}}),
        (
            ended(containerStatuses=[running(4)], conditions=[condition("DisruptionTarget", "True", 8, "DeletionByPodGC")]),
            8,
            {"disruption": "DeletionByPodGC"},
        ),
        (ended(initContainerStatuses=[over(3, 4, 1, name="setup")], startTime=at(3)), 3, {"exitCodes": {"setup": 1}}),
    ],
)
def test_how_a_pod_ended(obj, time, expected):
    event = told(obj)["pod-ended"]
    assert event.time == at(time)
    assert {key: event.data[key] for key in expected} == expected


def test_an_index_is_done_when_its_pod_succeeded():
    obj = pod(phase="Succeeded", containerStatuses=[over(4, 9)])
    assert (told(obj)["index-succeeded"].data, told(obj)["index-succeeded"].time) == ({"index": 0}, at(9))
    assert "index-succeeded" not in told(pod(index=None, phase="Succeeded", containerStatuses=[over(4, 9)]))


def test_a_pod_that_vanished_while_it_ran():
    obj = pod(phase="Running", containerStatuses=[running(4)])
    assert "pod-ended" not in told(obj)
    obj["metadata"] |= {"deletionTimestamp": at(9.5), "deletionGracePeriodSeconds": 30}
    event = told(obj, gone=True)["pod-ended"]
    assert (event.time, event.data["phase"], event.data["exitCodes"]) == (at(9), "Running", {})


def test_the_deletion_of_a_pod_that_ended_says_nothing_new():
    obj = pod(phase="Failed", containerStatuses=[over(4, 9, 3)])
    late = {**obj, "metadata": {**obj["metadata"], "deletionTimestamp": at(12)}}
    assert told(late, gone=True) == told(obj)


@pytest.mark.parametrize(
    ("extra", "container", "role"),
    [
        ({"ray.io/node-type": "head"}, "ray-head", "head"),
        ({"ray.io/node-type": "worker"}, "ray-worker", "worker"),
        ({}, "ray-job-submitter", "submitter"),
        ({"jobset.sigs.k8s.io/replicatedjob-name": "node"}, "main", "node"),
        ({}, "main", "worker"),
    ],
)
def test_the_role_of_a_pod(extra, container, role):
    obj = pod(phase="Running", containerStatuses=[running(4, container)])
    obj["metadata"]["labels"] |= extra
    obj["spec"]["containers"][0]["name"] = container
    assert data(obj, "pod-started")["role"] == role


def test_containers_tell_when_their_logs_begin_and_end():
    obj = pod(initContainerStatuses=[over(3, 4, name="setup")], containerStatuses=[running(4)])
    assert reduce(obj, WHERE).containers == (("setup", at(3), at(4)), ("main", at(4), ""))


# ---------------------------------------------------------------------------------------------------------------------- notes, nodes


def test_a_note_does_not_change_when_its_event_is_counted_up():
    event = told(note())["note"]
    assert event.time == at(1)
    assert event.data == {"kind": "Job", "name": f"{RUN}-1", "reason": "Suspended", "message": "Job suspended", "source": "job-controller"}
    assert told({**note(), "count": 9, "lastTimestamp": at(30)})["note"] == event
    assert reduce(note(), WHERE).about == "j-1"


def test_a_nodes_health():
    obj = {
        "kind": "Node",
        "metadata": {"name": "gpu-7", "uid": "n-7", "labels": labels()},
        "status": {"conditions": [condition("Ready", "True", 1), condition("taugen.dev/GpuFault", "True", 5, "Xid79", "fell off")]},
    }
    assert [(e.time, e.data["condition"], e.data["status"]) for e in reduce(obj, WHERE).events] == [(at(5), "taugen.dev/GpuFault", "True")]
    assert NODES.path("x") == "/api/v1/nodes"


# ----------------------------------------------------------------------------------------------------------------------------- times


def test_when_something_vanished():
    assert shape.vanished({"metadata": {"deletionTimestamp": at(9), "deletionGracePeriodSeconds": 60}}) == at(8)
    written = {"metadata": {"creationTimestamp": at(1), "managedFields": [{"time": at(4)}, {"time": at(3)}]}}
    assert shape.vanished(written) == at(4)
    assert shape.earlier("rubbish", 3) == "rubbish"


def test_events_are_json_and_make_a_history():
    states = [
        a_job(),
        a_workload(conditions=[condition("QuotaReserved", "False", 1.5, "Pending", "2 more needed")]),
        a_workload(conditions=ADMITTED, admission=ADMISSION),
        pod(phase="Running", containerStatuses=[running(4)]),
        pod(phase="Failed", containerStatuses=[over(4, 9, 3)]),
        a_job(conditions=[condition("Failed", "True", 9.5, "BackoffLimitExceeded")]),
    ]
    events = [event for state in states for event in reduce(state, WHERE).events]
    for event in events:
        json.loads(event.content())
    history = fold(events)
    assert (history.state, history.queued, history.admitted, history.started, history.ended) == ("failed", at(1), at(3), at(4), at(9.5))
    assert (history.failure.exit_code, history.failure.node) == (3, "gpu-1")
