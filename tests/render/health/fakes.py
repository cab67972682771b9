"""Nodes that don't exist: programs that print recordings, a /proc and a /sys in a folder.

In: a folder, a form (healthy, faulty, garbage, missing, hanging). Out: a `Scripts` whose checks see that node. The recordings have the
format of nvidia-smi of driver 570, dcgmi 4, util-linux' dmesg and Linux' sysfs; they were written for these tests.
"""

import os
import shutil
from pathlib import Path

from taugen.render.health.scripts.gpuhealth.processes import Scripts

RECORDINGS = Path(__file__).parent / "recordings"
CHECKS = Path(__file__).parents[3] / "taugen" / "render" / "health" / "scripts" / "checks"
TOOLS = ("awk", "cat", "cut", "grep", "head", "sh", "sleep", "tr", "yes")
PROGRAMS = ("nvidia-smi", "dcgmi", "dmesg")
_SMI = """#!/bin/sh
case "$*" in
  -L) read -r name <"$GPUHEALTH_ROOT/list" ;;
  -q) name=q ;;
  'nvlink --status') name=nvlink-status ;;
  'nvlink --errorcounters') name=nvlink-errors ;;
  --query-gpu=index,clocks_throttle_reasons.*' --format=csv,noheader') name=throttle ;;
  --query-gpu=index,*' --format=csv,noheader,nounits') name=${1#*index,} name=${name%%,*} ;;
  --query-remapped-rows=gpu_bus_id,*' --format=csv,noheader') name=${1#*gpu_bus_id,} ;;
  *) echo "Invalid combination of input arguments: $*" >&2; exit 2 ;;
esac
cat "$GPUHEALTH_ROOT/recordings/nvidia-smi.$name" || exit 6
code=${name##*.}
case $code in [0-9]*) exit "$code" ;; esac
"""
_DCGMI = """#!/bin/sh
case "$*" in
  'health --host localhost:5555 --set a') echo 'Health monitor systems set successfully.' ;;
  'health --host localhost:5555 --check') cat "$GPUHEALTH_ROOT/recordings/dcgmi" ;;
  *) echo "bad arguments: $*" >&2; exit 1 ;;
esac
"""
_DMESG = '#!/bin/sh\ncat "$GPUHEALTH_ROOT/recordings/dmesg"\n'
FAKES = {"nvidia-smi": _SMI, "dcgmi": _DCGMI, "dmesg": _DMESG}


class Node:
    """A node in a folder."""

    def __init__(self, folder: Path, recordings: Path = RECORDINGS) -> None:
        self.folder = folder
        self.recordings = recordings
        self.bin = folder / "bin"
        self.root = folder / "root"
        tools = folder / "tools"
        for path in (self.bin, tools, self.root):
            path.mkdir(parents=True)
        for tool in TOOLS:
            (tools / tool).symlink_to(Path(shutil.which(tool) or tool).resolve())
        self.env = {"PATH": f"{self.bin}:{tools}", "GPUHEALTH_ROOT": str(self.root)}
        self.form("healthy")

    def form(self, form: str) -> None:
        """Make it healthy, faulty, or one that answers with garbage."""
        recordings = self.recordings / form
        new = self.root / "new"
        new.symlink_to(recordings)
        new.replace(self.root / "recordings")
        self.list("list")
        for name, text in FAKES.items():
            self.program(name, text)
        (self.root / "proc").mkdir(exist_ok=True)
        (self.root / "proc" / "uptime").write_text((recordings / "uptime").read_text())
        faults = {
            "healthy": ("4: ACTIVE", "5: LinkUp", "3", "12"),
            "faulty": ("1: DOWN", "2: Polling", "9", "4410"),
            "garbage": ("\x1b[2Jup", "?", "many", "-"),
        }
        self.port("mlx5_0", "4: ACTIVE", "5: LinkUp", "3", "12")
        self.port("mlx5_1", *faults[form])
        self.port("mlx5_2", "1: DOWN", "3: Disabled", "3", "12")
        self.port("mlx5_bond", "1: DOWN", "2: Polling", "70", "70", layer="Ethernet")

    def list(self, name: str) -> None:
        """Which recording `nvidia-smi -L` prints."""
        (self.root / "list").write_text(f"{name}\n")

    def port(self, device: str, *values: str, layer: str = "InfiniBand") -> None:
        """An RDMA port: state, physical state, link_downed, symbol_error."""
        folder = self.root / "sys" / "class" / "infiniband" / device / "ports" / "1"
        (folder / "counters").mkdir(parents=True, exist_ok=True)
        for name, value in zip(("state", "phys_state", "counters/link_downed", "counters/symbol_error"), values, strict=True):
            file = folder / name
            file.unlink(missing_ok=True)
            file.write_text(f"{value}\n")
        (folder / "link_layer").write_text(f"{layer}\n")

    def program(self, name: str, text: str) -> None:
        """A program of the node."""
        file = self.bin / name
        file.write_text(text)
        file.chmod(0o755)

    def without_tools(self) -> None:
        """No program and no InfiniBand at all."""
        for name in PROGRAMS:
            (self.bin / name).unlink()
        shutil.rmtree(self.root / "sys")

    def hanging(self) -> None:
        """Every program and every file of sysfs blocks whoever asks."""
        for name in PROGRAMS:
            self.program(name, "#!/bin/sh\ntrap '' TERM INT\nsleep 60 &\nwait\nsleep 60\n")
        for file in [*self.root.glob("sys/class/infiniband/*/ports/1/state"), *self.root.glob("sys/class/infiniband/*/ports/1/counters/*")]:
            file.unlink()
            os.mkfifo(file)

    def scripts(self, folder: Path = CHECKS) -> Scripts:
        """What runs checks on it."""
        return Scripts(folder, self.env)
