"""HealthPolicy: which checks watch the GPU nodes, and what follows from a fault.

In: plain data of a document's `spec`. Out: frozen models. What a check reads and its defaults stand in `health_table`.
"""
# ruff: noqa: N815 -- the fields have the names of Kubernetes

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from taugen.policy.types import LabelKey, LabelValue, Spec, no_entries, no_items
from taugen.spec.types import Duration, ImageRef, Text, fault, read_by
from taugen.words.regex import regex

TAINT_PREFIX = "taugen.dev/gpu-health"
"""Keys of the taints that the runner sets itself: the admission policy lets its account touch no others."""
READINESS_PREFIX = "readiness.k8s.io/"
"""Keys of the taints that the Node Readiness Controller sets (its CRD refuses others)."""
DEFAULT_KEYS = {"runner": TAINT_PREFIX, "readiness": f"{READINESS_PREFIX}taugen-gpu-health"}
CONDITION_PREFIX = "taugen.dev/"
"""What the node conditions of the runner begin with."""
NAMESPACE = "taugen-health"
"""Where everything of node health runs: outside of what Kueue manages."""

_SHARE = regex(r"(?:[0-9]{1,6}|(?:100|[1-9]?[0-9])%)")


def _share(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str) or not _SHARE.fullmatch(str(value)):
        raise fault("share", "a number of nodes or a percentage is wanted", "write for example 2 or 10%")
    return str(value)


Share = Annotated[str, read_by(_share), WithJsonSchema({"type": ["string", "integer"], "examples": [2, "10%"]})]
"""A number of nodes, or a percentage of all."""


class HealthCheck(Spec):
    """A check, with what differs from the default of the GPU class."""

    name: Text = Field(description="Name of the check, as docs/gpu-health.md lists them.")
    source: Literal["dcgm", "xid", "script", "ib", "nvlink"] | None = Field(None, description="What it reads; left out: as the check says.")
    threshold: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="Greatest value that is still fine; left out: the default of the GPU class."
    )
    window: Duration | None = Field(None, description="How far back it looks; left out: the default of the check.")


class HealthTaint(Spec):
    """A taint of nodes at fault."""

    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        description="NoSchedule keeps new pods off; NoExecute also ends running ones, which needs running: drain."
    )
    key: LabelKey | None = Field(None, description="Key of the taint; left out: taugen.dev/gpu-health.")


class HealthAction(Spec):
    """What follows when a condition holds."""

    condition: Text = Field(description="The node condition, as docs/gpu-health.md lists them, e.g. GpuXid.")
    taint: HealthTaint | None = Field(None, description="The taint of the node; left out: none.")
    event: Literal["Warning", "Normal"] = Field("Warning", description="Type of the event when the condition begins.")
    after: Duration = Field("2m", description="How long a fault lasts before the condition holds.")
    clearAfter: Duration = Field("15m", description="How long a node must be without the fault before the condition ends.")


class HealthImages(Spec):
    """Images of what watches the nodes."""

    runner: ImageRef = Field(description="The check runner's: Python 3.11 or newer, sh, awk and dmesg, such as docker.io/library/python.")
    nodeProblemDetector: ImageRef | None = Field(None, description="node-problem-detector; left out: it is not run.")
    dcgmExporter: ImageRef | None = Field(None, description="NVIDIA's DCGM exporter; left out: it is not run.")


class HealthPolicy(Spec):
    """Watches over the nodes of GPU classes and keeps new work off those at fault."""

    gpuClasses: list[Text] = Field(min_length=1, description="GPU classes of node pools, e.g. h100-80gb; each has one HealthPolicy.")
    nodes: dict[LabelKey, LabelValue] = Field(
        default_factory=no_entries, description="Labels that its nodes have besides their class; left out: all nodes of the class."
    )
    checks: Annotated[list[HealthCheck], Field(min_length=1)] | None = Field(
        None, description="The checks, these and no others; left out: the usual ones of each class."
    )
    actions: list[HealthAction] = Field(
        default_factory=no_items, description="What follows from conditions; one without an action is reported and does nothing else."
    )
    maxTainted: Share = Field("10%", description="Most nodes of a class that are tainted at once; a percentage is rounded down.")
    running: Literal["leave", "drain"] = Field("leave", description="Whether a taint may end what runs on the node.")
    interval: Duration = Field("1m", description="How often the checks run.")
    runtimeClass: Text | None = Field(
        None, description="RuntimeClass that gives pods the driver, e.g. nvidia; left out: the nodes' default runtime does."
    )
    driverRoot: Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]*$", max_length=200)] | None = Field(
        None, description="Folder of the nodes with the driver's programs, where no runtime gives them; the runner is privileged then."
    )
    dcgm: Text | None = Field(None, description="HOST:PORT of DCGM's host engine, for source dcgm; left out: port 5555 of the node.")
    images: HealthImages = Field(description="Images of what watches the nodes.")
