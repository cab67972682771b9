"""Names, labels and metadata of node health.

In: a GPU class. Out: names that no two classes share.
"""

from collections.abc import Mapping

from taugen.policy.health import NAMESPACE
from taugen.policy.health_nodes import Watched
from taugen.render import meta
from taugen.render.types import Object
from taugen.words.names import label_value, slug

RUNNER = "taugen-gpu-health"
"""The runner's account, its roles, the admission policy that holds it."""
DETECTOR = "taugen-node-problem-detector"
EXPORTER = "taugen-dcgm-exporter"
GPU_CLASS = "taugen.dev/gpu-class"
APP = "app.kubernetes.io/name"
WAVE = meta.WAVE_LAST
"""DaemonSets come last: a node that is away must hold up nothing."""


def named(app: str, watched: Watched) -> str:
    """The name of a class's own objects, at most 52 characters: what DaemonSets make of it still fits a label."""
    return slug(f"{app.removeprefix('taugen-')}-{watched.gpu_class}", 52)


def labels(app: str, watched: Watched) -> dict[str, str]:
    """What a class's pods are told apart by."""
    return {APP: app.removeprefix("taugen-"), GPU_CLASS: label_value(watched.gpu_class)}


def metadata(
    name: str, *, wave: int | None = meta.WAVE_TENANCY, inside: bool = True, namespace: str = "", extra: Mapping[str, str] | None = None
) -> Object:
    """Metadata; `inside`: in the namespace of node health, unless another is named."""
    return meta.metadata(name, namespace=namespace or (NAMESPACE if inside else None), labels=extra, wave=wave)
