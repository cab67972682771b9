"""What the machines of each GPU class print: as many GPUs, links and counters as they have.

In: a family and a folder. Out: recordings in it, healthy and faulty, in the form of `recordings/`. Sources: NVIDIA's documentation of
nvidia-smi; the counters of NVLink 5 as drivers of branch 570 print them.
"""

from dataclasses import dataclass
from pathlib import Path

ABSENT = "N/A"


@dataclass(frozen=True)
class Machine:
    """A node of a class. `joins`: its GPUs join a fabric; `links` and `speed` of each GPU, none without NVLink."""

    product: str
    gpus: int
    links: int = 0
    speed: str = ""
    joins: bool = False
    blackwell: bool = False

    def bus(self, gpu: int) -> str:
        """The PCI address; the GPUs of Grace machines have a domain each."""
        return f"{gpu + 8:08X}:01:00.0" if self.blackwell else f"00000000:{gpu * 16 + 7:02X}:00.0"


MACHINES = {
    "a10": Machine("NVIDIA A10", 2),
    "a100": Machine("NVIDIA A100-SXM4-80GB", 8, 12, "25 GB/s"),
    "h100": Machine("NVIDIA H100 80GB HBM3", 8, 18, "26.562 GB/s", joins=True),
    "h200": Machine("NVIDIA H200", 8, 18, "26.562 GB/s", joins=True),
    "gb200": Machine("NVIDIA GB200", 4, 18, "53.125 GB/s", joins=True, blackwell=True),
    "other": Machine("NVIDIA L40S", 4),
}
_OLDER = ("Replay Errors", "Recovery Errors", "CRC Errors")
_BLACKWELL = (
    "Malformed packet Errors", "Buffer overrun Errors", "Rx Errors", "Rx remote Errors", "Rx General Errors", "Local link integrity Errors",
    "Tx discards", "Link recovery successful events", "Link recovery failed events", "Total link recovery events", "Effective Errors",
    "Effective BER", "Symbol Errors", "Symbol BER", "FEC Errors - 0", "FEC Errors - 15",
)  # fmt: skip
_ALWAYS = {
    "Effective BER": "15e-255",
    "Symbol BER": "26e-12",
    "Symbol Errors": "7311",
    "FEC Errors - 0": "938475102",
    "Effective Errors": "3",
}


def record(folder: Path, family: str) -> Machine:
    """Write the recordings of a machine, faults on its last GPU."""
    one = MACHINES[family]
    for form in ("healthy", "faulty"):
        (folder / form).mkdir(parents=True)
        for name, text in _files(one, bad=form == "faulty").items():
            (folder / form / name).write_text(text)
    return one


def _files(one: Machine, *, bad: bool) -> dict[str, str]:
    def each(good: str, fault: str, *, by_bus: bool = False) -> str:
        values = [fault if bad and gpu == one.gpus - 1 else good for gpu in range(one.gpus)]
        return "".join(f"{one.bus(gpu) if by_bus else gpu}, {value}\n" for gpu, value in enumerate(values))

    return {
        "nvidia-smi.list": _list(one, one.gpus),
        "nvidia-smi.list-one-lost.15": f"Unable to determine the device handle for GPU{one.bus(0)}\n{_list(one, one.gpus - 1)}",
        "nvidia-smi.list.9": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
        "nvidia-smi.ecc.errors.uncorrected.volatile.total": each("0", "2"),
        "nvidia-smi.ecc.errors.corrected.volatile.total": each("4", "904"),
        "nvidia-smi.temperature.gpu": each("52", "97"),
        "nvidia-smi.pcie.link.width.max": each("16, 16", "16, 8"),
        "nvidia-smi.throttle": each("Not Active, Not Active, Not Active", "Active, Not Active, Active"),
        "nvidia-smi.remapped_rows.failure": each("0", "1", by_bus=True),
        "nvidia-smi.remapped_rows.pending": each("0", "1", by_bus=True),
        "nvidia-smi.q": _query(one, bad=bad),
        "nvidia-smi.nvlink-status": _links(one, bad=bad),
        "nvidia-smi.nvlink-errors": _counters(one, bad=bad),
        "dcgmi": f"| Overall Health | {'Failure' if bad else 'Healthy'} |\n",
        "dmesg": _log(one, bad=bad),
        "uptime": "86400.00 170000.00\n",
    }


def _list(one: Machine, count: int) -> str:
    return "".join(f"GPU {gpu}: {one.product} (UUID: GPU-{gpu:032x})\n" for gpu in range(count))


def _heads(one: Machine) -> list[str]:
    return _list(one, one.gpus).splitlines(keepends=True)


def _links(one: Machine, *, bad: bool) -> str:
    """The last GPU has lost all of its links at once: nvidia-smi then lists none of them."""
    out = ""
    for gpu, head in enumerate(_heads(one)):
        lost = bad and gpu == one.gpus - 1
        out += head
        if lost or not one.links:
            out += "NVML: Unable to retrieve NVLink information as all links are inActive\n"
        else:
            out += "".join(f"\t Link {link}: {one.speed}\n" for link in range(one.links))
    return out


def _counters(one: Machine, *, bad: bool) -> str:
    names = _BLACKWELL if one.blackwell else _OLDER
    fault = "Link recovery successful events" if one.blackwell else "Recovery Errors"
    out = ""
    for gpu, head in enumerate(_heads(one)):
        out += head
        for link in range(one.links):
            for name in names:
                worse = bad and gpu == one.gpus - 1 and link == one.links - 1 and name == fault
                out += f"\t Link {link}: {name}: {'505' if worse else _ALWAYS.get(name, '0')}\n"
    return out


def _query(one: Machine, *, bad: bool) -> str:
    out = "\n==============NVSMI LOG==============\n\nDriver Version                            : 570.172.08\n"
    out += f"Attached GPUs                             : {one.gpus}\n"
    for gpu in range(one.gpus):
        lost = bad and gpu == one.gpus - 1
        state, status = ("In Progress", ABSENT) if lost else ("Completed", "Success")
        state, status = (state, status) if one.joins else (ABSENT, ABSENT)
        out += f"GPU {one.bus(gpu)}\n    Product Name                          : {one.product}\n    PCI\n"
        out += f"        Replays Since Reset               : {77 if lost else 0}\n        Replay Number Rollovers           : 0\n"
        out += f"    Fabric\n        State                             : {state}\n        Status                            : {status}\n"
        out += "        CliqueId                          : 0\n        Health\n            Bandwidth                     : N/A\n"
    return out


def _log(one: Machine, *, bad: bool) -> str:
    bus = one.bus(one.gpus - 1)[4:-2].lower()
    out = "[    0.000000] Linux version 6.8.0\n"
    # A program's own mistake, on every machine.
    out += f"[86100.123456] NVRM: Xid (PCI:{bus}): 31, pid=48111, name=python3, Ch 00000008, intr 00000000. MMU Fault\n"
    if bad:
        out += f"[86380.000001] NVRM: Xid (PCI:{bus}): 94, pid=48111, name=python3, Contained: SM (0x1).\n"
        fatal = "149, NETIR_LINK_DOWN Fatal XC0 i0 Link 14" if one.blackwell else "79, pid=0, GPU has fallen off the bus."
        out += f"[86390.000001] NVRM: Xid (PCI:{bus}): {fatal}\n"
    return out
