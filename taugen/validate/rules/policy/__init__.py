"""Rules of policy: what can be known of clusters, queues and workspaces before any run is looked at.

In: a `Policy`. Out: findings. Each rule is one file; taking one out of `RULES` fails a test.
"""

from types import ModuleType

from taugen.validate.rules.policy import (
    borrow_needs_cohort,
    clusters_none,
    cohort_cycle,
    cohort_limits,
    cpu_flavor_tainted,
    flavor_gpu_class,
    flavor_size,
    flavor_taints,
    flavor_without_nodes,
    gpu_flavor_untainted,
    lend_over_nominal,
    listed_twice,
    node_pool_gpus,
    node_pool_twice,
    queue_flavor_twice,
    quota_counts,
    resource_name,
    resource_quantity,
    taint_twice,
    topology_levels,
    topology_needs_labels,
    topology_nodes,
    unknown_name,
)

RULES: tuple[ModuleType, ...] = (
    borrow_needs_cohort,
    clusters_none,
    cohort_cycle,
    cohort_limits,
    cpu_flavor_tainted,
    flavor_gpu_class,
    flavor_size,
    flavor_taints,
    flavor_without_nodes,
    gpu_flavor_untainted,
    lend_over_nominal,
    listed_twice,
    node_pool_gpus,
    node_pool_twice,
    queue_flavor_twice,
    quota_counts,
    resource_name,
    resource_quantity,
    taint_twice,
    topology_levels,
    topology_needs_labels,
    topology_nodes,
    unknown_name,
)
