"""The share of a class that may be tainted is at least one node, and not all.

A percentage is rounded down: ten percent of four nodes is none, and no fault would ever take a node out of work. All of a class is no
bound: a check that goes wrong everywhere at once would stop the whole class.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 10%
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 34%
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.health_nodes import watch
from taugen.policy.set import Policy

ID = "health-share"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, for each class on each cluster at most one."""
    for item in policy.each("HealthPolicy"):
        share = item.spec.maxTainted
        if not any(action.taint is not None for action in item.spec.actions):
            continue
        for gpu_class in item.spec.gpuClasses:
            for name in sorted(policy.clusters):
                nodes = watch(policy, policy.clusters[name], item, gpu_class).nodes
                most = nodes * int(share[:-1]) // 100 if share.endswith("%") else int(share)
                where = f"the {nodes} nodes of {gpu_class} on cluster {name}"
                if nodes and not most:
                    message = f"maxTainted {share} of {where} is none: no fault takes a node out of work"
                    hint = f"write 1 or {-(-100 // nodes)}%"
                elif nodes > 1 and most >= nodes:
                    message = f"maxTainted {share} is all of {where}: a check that goes wrong would stop them all"
                    hint = f"write {max(1, nodes // 4)} or less than {nodes}"
                else:
                    continue
                path = ("maxTainted",) if "maxTainted" in item.spec.model_fields_set else ()
                yield item.finding(ID, path, message, hint=hint, severity=Severity.WARNING)
