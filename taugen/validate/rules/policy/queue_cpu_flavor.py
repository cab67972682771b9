"""A queue of GPU flavors has a CPU flavor beside them.

Pods without GPUs carry no tolerations and, beside a topology flavor, no topology: Kueue gives them a flavor without taints and topology
only. In a queue that has none, CPU runs, Ray heads and the submitters of Ray jobs wait for ever. A queue for gangs of GPU pods alone can
do without.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 1}
            memory: {nominal: 4Gi}
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}

Source: Kueue flavorassigner.go (taints); rayjob_webhook.go (the submitter of a RayJob is a podset); seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.nodes import has_gpus, repels
from taugen.policy.references import settled
from taugen.policy.set import Policy

ID = "queue-cpu-flavor"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each queue, with the first cluster where it holds."""
    for _, queue in sorted(policy.queues.items()):
        for cluster in sorted(policy.clusters) if settled(policy, queue.name) else ():
            flavors = [policy.flavors[name] for name in policy.queue_flavors_on(queue.name, cluster)]
            gpu = [f for f in flavors if has_gpus(policy, f) and any(repels(t) for t in f.spec.nodeTaints)]
            if not gpu or any(not any(repels(t) for t in f.spec.nodeTaints) and f.spec.topology is None for f in flavors):
                continue
            names = ", ".join(f.name for f in flavors)
            who = "CPU runs, Ray heads and submitters"
            message = f"{queue.label} has only {names} on cluster {cluster}: {who} can't get them and would wait for ever"
            hint = "add a flavor of CPU nodes with quotas of cpu and memory"
            yield queue.finding(ID, ("quotas",), message, hint=hint, severity=Severity.WARNING, key=True)
            break
