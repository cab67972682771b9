"""The older spellings of tau.yaml, as tables.

In: nothing. Out: `RENAMES` (one field, another name), `VALUES` (one value, another word) and the sets of keys that show at a glance whether
a document has any. TauGrid's fields are public in core/runconfig/config.go and cli/internal/manifest/manifest.go of Azure/taugrid.
"""

from typing import Final

from msgspec import Struct

from taugen.diag import Severity
from taugen.spec.draft import Rank
from taugen.words import Path


class Rename(Struct, frozen=True):
    """`old` holds what belongs in `new`."""

    old: Path
    new: Path
    rank: Rank = "same"
    loses: Severity = Severity.WARNING


def _path(text: str) -> Path:
    return tuple(text.split("."))


def _table(rows: str, rank: Rank = "same", loses: Severity = Severity.WARNING) -> tuple[Rename, ...]:
    pairs = (row.split() for row in rows.strip().splitlines())
    return tuple(Rename(_path(old), _path(new), rank, loses) for old, new in pairs)


RENAMES: Final = (
    *_table("run.name name", "over"),
    *_table(
        """
        run.script run.entrypoint
        run.main_script run.entrypoint
        entrypoint run.entrypoint
        script run.entrypoint
        run.image runtime.image
        image runtime.image
        """,
        "under",
    ),
    *_table(
        """
        run.engine run.workload_kind
        compute.workload_kind run.workload_kind
        run.working_dir code.path
        run.working_dir_excludes code.exclude
        compute.gpus_per_worker compute.gpus
        compute.cpu_request compute.cpus
        compute.memory_request compute.memory
        compute.head_cpu_request compute.head.cpus
        compute.head_cpu_limit compute.head.cpu_limit
        compute.head_memory_request compute.head.memory
        compute.head_memory_limit compute.head.memory_limit
        runtime.rdma.enabled compute.rdma.enabled
        runtime.rdma.resource_name compute.rdma.resource
        runtime.rdma.count compute.rdma.count
        runtime.rdma.shm_size compute.shm_size
        policy.workspace workspace
        policy.gpu_class compute.gpu_class
        policy.priority_tier policy.priority
        resilience.checkpoint_path checkpoint.path
        storage.checkpoint checkpoint.path
        artifacts.checkpoint checkpoint.path
        research.experiment experiment.name
        """
    ),
    *_table(
        """
        compute.worker_cpu_request compute.cpus
        compute.worker_cpus compute.cpus
        compute.worker_cpu_limit compute.cpu_limit
        compute.worker_memory_request compute.memory
        compute.worker_memory compute.memory
        compute.worker_memory_limit compute.memory_limit
        """,
        "over",
        Severity.NOTE,
    ),
)

VALUES: Final[dict[Path, dict[str, str]]] = {
    ("run", "workload_kind"): {"ray": "rayjob", "ray-train": "rayjob", "ray_train": "rayjob"},
    ("policy", "topology"): (
        _topology := {
            "independent": "unconstrained",
            "single-node-nvlink": "same-host",
            "multi-node-nccl": "same-network-domain",
            "elastic-workers": "unconstrained",
        }
    ),
    ("policy", "preferred_topology"): _topology,
    ("compute", "gpu_class"): {
        "a100-nvlink-80gb": "a100-80gb",
        "h100-standalone-95gb": "h100-95gb",
        "h200-nvlink-141gb": "h200-141gb",
    },
}
"""TauGrid's older words. Its topology names map by what they promised: one NVLink host, one network domain, nothing."""

_SPECIAL = """
engine eval artifacts.checkpoint research.experiment resource_naming.prefix experiment.title runtime.rdma metrics.offload
policy.mode policy.shape policy.node_selector policy.clear_node_selector policy.disable_default_priorities
compute.gpu_resource_mode run.smoke_pairs run.ttl_seconds_after_finished
storage.data_pvc storage.result_pvc storage.volumes storage.publish
"""
SPECIAL: Final[tuple[Path, ...]] = tuple(map(_path, _SPECIAL.split()))
"""Older spellings that need more than another name: `spec.moves`."""

MOUNT_KEYS: Final = {"mountPath": "path", "readOnly": "read_only", "pvc": "storage"}
"""Keys of an entry of `storage.mounts` in the managed dialect."""
