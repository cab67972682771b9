"""The table of fields that a layer other than the document can set.

In: nothing. Out: `ROWS`, in the order in which `explain` shows them. A row says under which names the layers hold the field, how the
decided value reads, and what stands behind it where no layer has it.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from taugen.resolve import sizes
from taugen.resolve.run import ResolvedRun
from taugen.words import Json, Path, durations

Value = Callable[[ResolvedRun], Json]
Why = Callable[[ResolvedRun], str]


class Row(Struct, frozen=True):
    """A field: its canonical path; the value that was decided; its name in Profile and in Defaults; the reason where nobody set it."""

    path: Path
    value: Value
    profile: Path | None = None
    defaults: Path | None = None
    builtin: Why | None = None
    per_gpu: bool = False


def _size(at: int) -> Why:
    def why(run: ResolvedRun) -> str:
        what = "a pod with GPUs" if run.gpus else "a Ray worker without GPUs" if run.kind == "rayjob" else "a pod without GPUs"
        return f"the default of {what}: {sizes.builtin(run.kind, run.gpus, run.doc.dialect)[at]}"

    return why


def _of(path: str) -> Value:
    """The value at attributes `path` of a run."""
    names = path.split(".")

    def value(run: ResolvedRun) -> Json:
        found: object = run
        for name in names:
            found = getattr(found, name) if found is not None else None
        return _plain(found)

    return value


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value  # type: ignore[return-value]


def _duration(field: str) -> Value:
    def value(run: ResolvedRun) -> Json:
        seconds = getattr(run, field)
        return None if seconds is None else durations.write(seconds)

    return value


def _topology(run: ResolvedRun) -> Json:
    wish = run.placement.topology
    return None if wish is None else f"{wish[0]} {wish[1]}"


def _restricted(run: ResolvedRun) -> Json:
    return "restricted" if run.restricted else None


def _rdma(run: ResolvedRun) -> Json:
    return next((f"{count} x {name}" for name, count in run.worker.extended.items() if run.rdma and "gpu" not in name), None)


def _head(_: ResolvedRun) -> str:
    return f"the default of a Ray head: {' CPUs, '.join(sizes.HEAD)}"


ROWS: Final[tuple[Row, ...]] = (
    Row(("run", "workload_kind"), _of("kind"), builtin=lambda run: f"several workers or pip packages make a rayjob, this is a {run.kind}"),
    Row(("run", "max_duration"), _duration("max_duration"), ("override", "max_duration", "max"), ("max_duration",)),
    Row(
        ("run", "grace_period"),
        _duration("grace_period"),
        defaults=("grace_period",),
        builtin=lambda _: "the default, enough for a checkpoint",
    ),
    Row(("code", "delivery"), _of("code.delivery"), builtin=lambda run: run.code.reason),
    Row(("runtime", "image"), _of("image"), ("image",), ("runtime", "image")),
    Row(("runtime", "python"), _of("program.python"), defaults=("runtime", "python"), builtin=lambda _: "the usual name in such an image"),
    Row(("runtime", "pip"), _of("program.pip"), defaults=("runtime", "pip")),
    Row(("runtime", "working_dir"), _of("working_dir"), defaults=("runtime", "working_dir")),
    Row(("compute", "gpus"), _of("gpus"), ("gpus",), ("compute", "gpus"), lambda run: f"{run.doc.dialect} files without it get that"),
    Row(("compute", "gpu_class"), _of("gpu_class"), ("gpuClass",), ("compute", "gpu_class"), lambda _: "the only class that the queue has"),
    Row(("compute", "cpus"), _of("worker.cpu"), ("cpuPerGpu",), ("compute", "cpus"), _size(0), per_gpu=True),
    Row(("compute", "memory"), _of("worker.memory"), ("memoryPerGpu",), ("compute", "memory"), _size(1), per_gpu=True),
    Row(("compute", "cpu_limit"), _of("worker.cpu_limit"), defaults=("compute", "cpu_limit")),
    Row(("compute", "memory_limit"), _of("worker.memory_limit"), None, ("compute", "memory_limit"), lambda _: "the request"),
    Row(
        ("compute", "shm_size"),
        _of("shm"),
        ("shm",),
        ("compute", "shm_size"),
        lambda _: "16Gi (32Gi with RDMA), at most half of the memory",
    ),
    Row(("compute", "disk"), _of("worker.disk"), defaults=("compute", "disk")),
    Row(("compute", "rdma"), _rdma, ("rdma",), ("compute", "rdma")),
    Row(("compute", "head", "cpus"), _of("head.cpu"), None, ("compute", "head", "cpus"), _head),
    Row(("compute", "head", "memory"), _of("head.memory"), None, ("compute", "head", "memory"), _head),
    Row(("policy", "profile"), _of("profile"), builtin=lambda _: "the only profile of the workspace that admits the run"),
    Row(("policy", "queue"), _of("placement.queue"), ("queue",)),
    Row(("policy", "priority"), _of("placement.tier"), ("priority",), ("priority",)),
    Row(("policy", "cluster"), _of("cluster"), builtin=lambda _: "the only cluster of the workspace that can take the run"),
    Row(("policy", "topology"), _topology, ("topology",), None, lambda _: "the flavor has a topology, and pods without a wish must say so"),
    Row(("storage", "data"), _of("data_dir"), defaults=("storage", "data")),
    Row(
        ("storage", "output"),
        _of("output"),
        None,
        ("storage", "output"),
        lambda _: "runs/<run> below the first storage that can be written",
    ),
    Row(("runtime", "security", "mode"), _restricted, None, ("runtime", "security", "mode")),
)
