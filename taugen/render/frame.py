"""One attempt of a run, with the names and labels that all of its objects share.

In: a `ResolvedRun` and the attempt. Out: `Frame`, and metadata in the order in which it is written. Names follow from run and attempt
alone."""

from collections.abc import Mapping

from msgspec import Struct

from taugen.render.types import Object
from taugen.resolve.run import ResolvedRun
from taugen.words import Json, names

MANAGED_BY = "app.kubernetes.io/managed-by"
ATTEMPT_LABEL = "taugen.dev/attempt"
AZURE_LABEL = "azure.workload.identity/use"
"""Azure's webhook gives a token of the service account's identity only to pods with this label (azure-workload-identity)."""
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
TIER_LABEL = "kueue.x-k8s.io/priority-class"
MAX_EXEC_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
MASTER_PORT = "29500"


class Frame(Struct, frozen=True):
    """An attempt. `base` is `<slug>-<digest8>`, `name` the attempt's object name, `labels` what every object and pod carries but for the
    attempt number."""

    run: ResolvedRun
    number: int
    base: str
    name: str
    labels: Mapping[str, str]
    resume_from: str = ""
    reason: str = ""

    @property
    def gang(self) -> bool:
        """Whether several pods form one program outside Ray."""
        return self.run.nodes > 1 and self.run.kind != "rayjob"

    @property
    def master(self) -> str:
        """The DNS name of the pod that ranks meet at."""
        if not self.gang:
            return "127.0.0.1"
        return f"{self.name}-node-0-0.{self.name}" if self.run.kind == "jobset" else f"{self.name}-0.{self.name}"


def frame(run: ResolvedRun, attempt: int, resume_from: str, reason: str) -> Frame:
    """The attempt `attempt` of `run`. Raises ValueError for a number that no attempt can have."""
    base = run.doc.run
    return Frame(run, attempt, base, names.attempt_name(base, attempt), _labels(run, base), resume_from, reason)


def _labels(run: ResolvedRun, base: str) -> dict[str, str]:
    """User labels where they are legal, then taugen's own, which win."""
    labels = {key: value for key, value in run.labels.items() if names.is_label_key(key) and names.is_label_value(value)}
    labels[MANAGED_BY] = "taugen"
    labels["taugen.dev/name"] = names.label_value(run.doc.name)
    labels["taugen.dev/run"] = base
    labels["taugen.dev/workspace"] = run.doc.workspace
    if run.profile is not None:
        labels["taugen.dev/profile"] = names.label_value(run.profile)
    policy = run.doc.spec.policy
    if policy is not None:
        if policy.team is not None:
            labels["taugen.dev/team"] = names.label_value(policy.team)
        if policy.lane is not None:
            labels["taugen.dev/lane"] = names.label_value(policy.lane)
    return labels


def metadata(f: Frame, name: str, extra: Mapping[str, str]) -> Object:
    """Metadata of an object of the run: `extra` are labels beside the shared ones."""
    labels: dict[str, Json] = {**f.labels, **extra}
    return {
        "name": name,
        "namespace": f.run.namespace,
        "labels": dict(sorted(labels.items())),
        "annotations": {
            "kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent",
            "kustomize.toolkit.fluxcd.io/substitute": "disabled",
            "taugen.dev/digest": f.run.doc.digest,
            "taugen.dev/source": f.run.doc.file,
        },
    }


def queued(f: Frame) -> dict[str, str]:
    """The labels by which Kueue takes an object: queue, tier and the longest time in admission."""
    labels = {ATTEMPT_LABEL: str(f.number), QUEUE_LABEL: f.run.placement.queue}
    if f.run.placement.tier is not None:
        labels[TIER_LABEL] = f.run.placement.tier
    if f.run.max_duration is not None:
        labels[MAX_EXEC_LABEL] = str(f.run.max_duration)
    return labels
