"""Rules on a decided run, one file each.

In: a `ResolvedRun` and the `Policy` it was resolved with. Out: findings. What deciding itself has to know (profiles, limits, places) is
said by `resolve`.
"""

from taugen.validate.rules.run import (
    checkpoint_interval,
    checkpoint_resume,
    gang_unbounded,
    gpu_class_unused,
    idle_gpus,
    metrics_without_output,
    needs_borrowing,
    nodes_too_few,
    queue_stopped,
    quota_sum,
    ray_head_memory,
    retries_from_nothing,
    shm_above_memory,
    topology_too_small,
    uncovered_resource,
)

RULES = (
    checkpoint_interval,
    checkpoint_resume,
    gang_unbounded,
    gpu_class_unused,
    idle_gpus,
    metrics_without_output,
    needs_borrowing,
    nodes_too_few,
    queue_stopped,
    quota_sum,
    ray_head_memory,
    retries_from_nothing,
    shm_above_memory,
    topology_too_small,
    uncovered_resource,
)
