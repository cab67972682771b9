"""The table of checks: what each reads, its thresholds, why it is there and what an operator does next.

In: nothing. Out: `CHECKS`, by name in the order in which they are documented. Thresholds follow what operators of GPU fleets use; policy
can set each within its limits. Sources: NVIDIA's documentation of nvidia-smi, DCGM and Xid errors; Linux' documentation of sysfs.
"""

from collections.abc import Mapping

from taugen.policy.health_checks import ALL, LINKED, OTHER, Check

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_NOW = (0, 0)
_LOOK_BACK = (_MINUTE, _DAY)
_KNOWN = ALL - {OTHER}

_DRIVER = (
    Check(
        name="driver", source="script", condition="GpuDriver", script="driver.sh", arguments=(), measure="level", unit="failures",
        threshold=0, limits=(0, 0), window=0, windows=_NOW, families=ALL,
        reads="`nvidia-smi -L`: its exit code and first line.",
        why="Without its driver a node starts pods that fail at once, and a gang with them.",
        then="Read the driver's messages in the node's kernel log. A version mismatch ends with a reboot; otherwise reinstall the driver.",
    ),
    Check(
        name="missing", source="script", condition="GpuMissing", script="missing.sh", arguments=(), measure="level", unit="GPUs missing",
        threshold=0, limits=(0, 15), window=0, windows=_NOW, families=ALL,
        reads="`nvidia-smi -L`, against `gpus` of the node pool.",
        why="A run that counts on all GPUs of a node would wait on it, or fail when it starts.",
        then="Look for Xid 79 and PCIe errors in the kernel log. Reset or power-cycle the node; then a hardware case.",
    ),
)  # fmt: skip
_XID = (
    Check(
        name="xid", source="xid", condition="GpuXid", script="xid.sh", arguments=("fatal",), measure="count", unit="errors in the window",
        threshold=0, limits=(0, 100), window=10 * _MINUTE, windows=_LOOK_BACK, families=ALL, kernel_log=True,
        reads="The kernel's log (`dmesg`): lines `NVRM: Xid`, codes of the class below.",
        why="These codes mean broken hardware or a GPU that needs a reset: the next program on it fails too.",
        then="Note code and PCI address. Let work end, reset the GPU or reboot; a code that returns, or 64 or 79, is a hardware case.",
    ),
    Check(
        name="xid-watch", source="xid", condition="GpuXidWatch", script="xid.sh", arguments=("watched",), measure="count",
        unit="errors in the window", threshold=0, limits=(0, 1000), window=_HOUR, windows=_LOOK_BACK, families=ALL, kernel_log=True,
        reads="As `xid`, codes of the second list.",
        why="One program has lost its work, or the GPU wants a reset soon; the node is still good for others.",
        then="Ask whose run it was. Plan a reset where the code is 63 or 94; codes of one program that come back are its own mistake.",
    ),
)  # fmt: skip
_MEMORY = (
    Check(
        name="ecc-uncorrectable", source="script", condition="GpuEcc", script="query.sh",
        arguments=("ecc.errors.uncorrected.volatile.total",), measure="level", unit="errors since the driver was loaded",
        threshold=0, limits=(0, 1000), window=0, windows=_NOW, families=ALL,
        reads="`nvidia-smi --query-gpu=ecc.errors.uncorrected.volatile.total`.",
        why="Memory has lost data. Training goes on with wrong numbers, or dies.",
        then="Drain, reset the GPU: that counts anew. If it returns within days, run `dcgmi diag -r 3` and open a hardware case.",
    ),
    Check(
        name="ecc-correctable", source="script", condition="GpuEccRate", script="query.sh",
        arguments=("ecc.errors.corrected.volatile.total",), measure="increase", unit="errors in the window",
        threshold=10, limits=(0, 1_000_000), window=10 * _MINUTE, windows=_LOOK_BACK, families=ALL,
        reads="`nvidia-smi --query-gpu=ecc.errors.corrected.volatile.total`, and how much it grew.",
        why="Corrected errors cost nothing; many in short time come before uncorrectable ones.",
        then="Watch it. A rate that stays for days: plan a reset and a memory test.",
    ),
    Check(
        name="remap-failed", source="script", condition="GpuRemapFailed", script="remap.sh", arguments=("failure",), measure="level",
        unit="GPUs", threshold=0, limits=(0, 0), window=0, windows=_NOW, families=_KNOWN,
        reads="`nvidia-smi --query-remapped-rows=remapped_rows.failure`.",
        why="The GPU has no spare memory row left for a broken one.",
        then="Open a hardware case: the GPU has to be exchanged.",
    ),
    Check(
        name="remap-pending", source="script", condition="GpuRemapPending", script="remap.sh", arguments=("pending",), measure="level",
        unit="GPUs", threshold=0, limits=(0, 0), window=0, windows=_NOW, families=_KNOWN,
        reads="`nvidia-smi --query-remapped-rows=remapped_rows.pending`.",
        why="A broken memory row is out of use once the GPU is reset; until then it is only avoided.",
        then="Reset the GPU or reboot the node when its work has ended.",
    ),
)  # fmt: skip
_LINKS = (
    Check(
        name="nvlink", source="nvlink", condition="GpuNvlink", script="nvlink.sh", arguments=(), measure="level", unit="inactive links",
        threshold=0, limits=(0, 36), window=0, windows=_NOW, families=LINKED,
        reads="`nvidia-smi nvlink --status`.",
        why="Collectives within the node fall back to slower ways, or hang: the whole gang pays.",
        then="Check the fabric manager and `nvidia-smi topo -m`. Reset all GPUs of the node together; then a hardware case.",
    ),
    Check(
        name="nvlink-errors", source="nvlink", condition="GpuNvlinkErrors", script="nvlink-errors.sh", arguments=(), measure="increase",
        unit="errors in the window", threshold=0, limits=(0, 1_000_000), window=5 * _MINUTE, windows=_LOOK_BACK, families=LINKED,
        reads="`nvidia-smi nvlink --errorcounters`: replays, recoveries and CRC errors, and how much they grew.",
        why="Each costs time on a link that all GPUs of the node wait for.",
        then="Rare ones: watch. Steady ones: reset the node; with NVSwitch look at its log; then a hardware case.",
    ),
    Check(
        name="fabric", source="nvlink", condition="GpuFabric", script="fabric.sh", arguments=(), measure="level", unit="GPUs not joined",
        threshold=0, limits=(0, 0), window=0, windows=_NOW, families=frozenset({"h100", "h200", "gb200"}),
        reads="`nvidia-smi -q`, section Fabric: state and status.",
        why="A GPU that has not joined the fabric can't start CUDA, though everything else of it looks well.",
        then="Restart the fabric manager (GB200: IMEX) and read its log.",
    ),
    Check(
        name="pcie-width", source="script", condition="GpuPcie", script="width.sh", arguments=(), measure="level", unit="lanes lost",
        threshold=0, limits=(0, 15), window=0, windows=_NOW, families=ALL,
        reads="`nvidia-smi --query-gpu=pcie.link.width.max,pcie.link.width.current`.",
        why="A link that lost lanes loads data at half the speed or less; nothing fails, everything waits.",
        then="Reseat the card or exchange the riser. Some machines have fewer lanes by design: set the threshold then.",
    ),
    Check(
        name="pcie-replays", source="script", condition="GpuPcieReplays", script="replays.sh", arguments=(), measure="increase",
        unit="replays in the window", threshold=5, limits=(0, 1_000_000), window=5 * _MINUTE, windows=_LOOK_BACK, families=ALL,
        reads="`nvidia-smi -q`, line Replays Since Reset, and how much it grew.",
        why="Packets have to be sent again: a loose card, a bad cable or riser.",
        then="Plan a look at the hardware; take the node out before if transfers are slow.",
    ),
)  # fmt: skip
_HEAT = (
    Check(
        name="throttle", source="script", condition="GpuThrottled", script="throttle.sh", arguments=(), measure="level",
        unit="reasons at once", threshold=0, limits=(0, 3), window=0, windows=_NOW, families=ALL,
        reads="`nvidia-smi --query-gpu=clocks_throttle_reasons.…`: thermal slowdown by hardware and by software, power brake. "
        "Idle clocks and the power cap of software don't count.",
        why="One slow GPU sets the pace of a gang.",
        then="Check fans, inlet temperature and power supplies of the node and of its neighbours.",
    ),
    Check(
        name="temperature", source="script", condition="GpuHot", script="query.sh", arguments=("temperature.gpu",), measure="level",
        unit="degrees Celsius", threshold=87, limits=(60, 110), window=0, windows=_NOW, families=ALL,
        thresholds={"a10": 90, "a100": 85, OTHER: 90},
        reads="`nvidia-smi --query-gpu=temperature.gpu`.",
        why="Above it the GPU slows itself down; heat that stays shortens its life.",
        then="As throttle.",
    ),
    Check(
        name="dcgm", source="dcgm", condition="GpuDcgm", script="dcgm.sh", arguments=(), measure="level",
        unit="(0 healthy, 1 warning, 2 failure)", threshold=1, limits=(0, 1), window=0, windows=_NOW, families=ALL, usual="asked",
        reads="`dcgmi health --check` of DCGM's host engine. The runner's image needs dcgmi.",
        why="DCGM watches more than the others, and knows NVIDIA's own thresholds.",
        then="`dcgmi health -c` names the system and the GPU; `dcgmi diag -r 2` tries it.",
    ),
)  # fmt: skip
_NETWORK = (
    Check(
        name="ib-link", source="ib", condition="IbLink", script="ib-link.sh", arguments=(), measure="level", unit="ports not active",
        threshold=0, limits=(0, 64), window=0, windows=_NOW, families=ALL, usual="rdma",
        reads="`/sys/class/infiniband/*/ports/*/state` of InfiniBand ports that are not disabled.",
        why="NCCL then takes a slower way or waits until its timeout: a gang over several nodes stands still.",
        then="Check cable and switch port (`ibstat`, `iblinkinfo`), then the adapter.",
    ),
    Check(
        name="ib-flaps", source="ib", condition="IbFlapping", script="ib-counter.sh", arguments=("link_downed",), measure="increase",
        unit="losses in the window", threshold=2, limits=(0, 1000), window=_HOUR, windows=_LOOK_BACK, families=ALL, usual="rdma",
        reads="`/sys/class/infiniband/*/ports/*/counters/link_downed`, and how much it grew.",
        why="A link that comes and goes breaks long runs, though it is up whenever somebody looks.",
        then="Clean or exchange the cable or the transceiver.",
    ),
    Check(
        name="ib-symbols", source="ib", condition="IbErrors", script="ib-counter.sh", arguments=("symbol_error",), measure="increase",
        unit="errors in the window", threshold=0, limits=(0, 1_000_000), window=5 * _MINUTE, windows=_LOOK_BACK, families=ALL, usual="rdma",
        reads="`/sys/class/infiniband/*/ports/*/counters/symbol_error`, and how much it grew.",
        why="Damaged symbols come before a link that flaps.",
        then="As ib-flaps, when they go on.",
    ),
)  # fmt: skip

CHECKS: Mapping[str, Check] = {check.name: check for check in (*_DRIVER, *_XID, *_MEMORY, *_LINKS, *_HEAT, *_NETWORK)}
