"""Fields that are known and not taken: each with its reason and what to do instead.

In: nothing. Out: `REFUSED` by typed path (`not-taken-over`: another way does that job here; `not-yet`: a later stage has to exist first),
and `REFUSED_VALUES`. A field is never both accepted and without effect.
"""

from typing import Final, NamedTuple

from taugen.words import Path


class Refusal(NamedTuple):
    """Rule, what is wrong, what to do."""

    rule: str
    message: str
    hint: str


def _rows(rule: str, rows: dict[str, tuple[str, str]]) -> dict[Path, Refusal]:
    return {tuple(path.split(".")): Refusal(rule, f"{path} {why}", hint) for path, (why, hint) in rows.items()}


_EVAL = ("is gone: an evaluation is an ordinary run", "write a run of its own; its parameters go into runtime.env")
_PRIORITY = (
    "is not taken: a pod PriorityClass preempts behind Kueue's back",
    "write policy.priority with a tier of the platform, or leave it out for the default",
)
_QUEUED = "is not built yet: nothing would enforce it"

REFUSED: Final[dict[Path, Refusal]] = {
    **_rows(
        "not-taken-over",
        {
            "task": _EVAL,
            "run.task": _EVAL,
            "eval": _EVAL,
            "compute.cpu_workers": (
                "sized the workers of an evaluation; an evaluation is an ordinary run",
                "write compute.workers and compute.cpus",
            ),
            "workflow.file": ("wraps another manifest", "put this run's fields into that file, or that file's into this one"),
            "workflow.script": ("is not taken over", "write run.entrypoint"),
            "workflow.main_script": ("is not taken over", "write run.entrypoint"),
            "workflow.workload_kind": ("is not taken over", "write run.workload_kind"),
            "workflow.smoke_pairs": ("is not taken over", "write run.args: [--smoke-pairs, N]"),
            "workflow.upstream_checkpoint": (
                "is not taken over",
                "write checkpoint.resume: workspace/name/digest8 of the run whose checkpoint is wanted",
            ),
            "workflow.secret_payload": ("would put a secret's value into Git", "write runtime.env_secret with SECRET:KEY of the workspace"),
            "runtime.env_kv": (
                "reads a key vault when a run is submitted; here nothing is submitted",
                "sync the vault into a Secret (External Secrets) and write runtime.env_secret",
            ),
            "profiler": (
                "is not taken over",
                "start the profiler in the entrypoint, e.g. [nsys, profile, -o, /data/profile/rank0, python, train.py]",
            ),
            "storage.publish": (
                "is not taken over: there is no staging copy",
                "let the program write to TAU_OUTPUT_DIR; evidence lists what it left",
            ),
            "policy.workload_priority_class": _PRIORITY,
            "policy.pod_priority_class": _PRIORITY,
            "policy.workload_profile_snapshot": (
                "is not taken over: profiles stand in the policy of this repository",
                "write policy.profile",
            ),
            "policy.preset": ("was removed from TauGrid", "write policy.profile"),
            "policy.topology_policy": ("was removed from TauGrid", "a Topology document of the policy says it; write policy.topology"),
        },
    ),
    **_rows(
        "not-yet",
        {
            "run.queue_timeout": (_QUEUED, "remove it; run.max_duration bounds the time after admission"),
            "budget": (_QUEUED, "remove it; run.max_duration and the workspace's gpusPerRun bound what a run can use"),
            "inputs": ("is not built yet: datasets have no document", "mount a Storage of the workspace: storage.data or storage.mounts"),
            "execution.elastic": ("is not built yet", "remove it; execution.nodes is the fixed size of the gang"),
        },
    ),
}

REFUSED_VALUES: Final[dict[Path, dict[str, Refusal]]] = {
    ("run", "workload_kind"): {
        "rayjob-eval": Refusal(
            "not-taken-over", "rayjob-eval is gone: an evaluation is an ordinary run", "write rayjob; parameters go into runtime.env"
        ),
        "rayservice": Refusal(
            "not-yet", "workload kind rayservice is not built yet: taugen compiles runs that end", "write job, rayjob or jobset"
        ),
        "deployment": Refusal(
            "not-yet", "workload kind deployment is not built yet: taugen compiles runs that end", "write job, rayjob or jobset"
        ),
    },
    ("execution", "launcher"): {
        "accelerate": Refusal(
            "not-yet", "launcher accelerate is not built yet", "write torchrun: an Accelerate script runs under it unchanged"
        ),
        "deepspeed": Refusal(
            "not-yet", "launcher deepspeed is not built yet", "write torchrun: deepspeed.init_distributed() reads its environment"
        ),
    },
    ("compute", "gpu_resource_mode"): {
        "dra": Refusal(
            "not-yet",
            "gpu_resource_mode dra is not built yet: GPUs come from device plugins",
            "remove it, or write compute.mig_profile for a slice",
        ),
    },
    ("policy", "mode"): {
        "elastic": Refusal(
            "not-yet", "mode elastic is not built yet: a gang has a fixed size", "remove it and set execution.nodes or compute.workers"
        ),
    },
}
