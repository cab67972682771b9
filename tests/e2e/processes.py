"""The processes of a plane: each in a group of its own with its own log, known by a record on disk, ended by whoever holds the folder.

In: a state folder. Out: running processes, and none of them once `stop` was called, the owner ended by itself, or was killed: a
watchdog holds the read end of a pipe whose write end only the owner has. A record holds the start time of its process, so that a reused
id is never signalled; what has no record yet, or was started by a component, is known by a variable of its environment.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 8.0  # seconds between SIGTERM and SIGKILL, for the whole group
MARK = "TAUGEN_E2E_PLANE"
"""The variable that every process of a plane has: the plane's folder."""


def say(text: str) -> None:
    """A line of progress."""
    print(f"e2e: {text}", file=sys.stderr, flush=True)


class Died(Exception):
    """A component ended or never became ready; the text ends with its own last words."""


@dataclass(frozen=True)
class Record:
    """A process that was started: its name, id and start time in clock ticks since boot."""

    name: str
    pid: int
    born: int

    def alive(self) -> bool:
        """Whether this very process still runs."""
        return self.born > 0 and _born(self.pid) == self.born


class Processes:
    """All processes of one state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self._file = folder / "processes.json"
        self._children: list[subprocess.Popen[bytes]] = []
        self._pipe = -1

    def start(self, name: str, argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        """Start a process; its output goes to logs/<name>.log, its group is its own."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                list(argv),
                env=os.environ | (env or {}) | {MARK: str(self.folder)},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._children.append(process)
        self._write([*self.records(), Record(name, process.pid, _born(process.pid))])

    def records(self) -> list[Record]:
        """Processes in the order of their start."""
        if not self._file.exists():
            return []
        return [Record(*item) for item in json.loads(self._file.read_text(encoding="utf-8"))]

    def running(self) -> list[str]:
        """Names of the processes that are alive."""
        return [record.name for record in self.records() if record.alive()]

    def last_words(self, name: str, lines: int = 15) -> str:
        """The end of a component's log."""
        file = self.logs / f"{name}.log"
        text = file.read_bytes()[-200_000:].decode("utf-8", "replace") if file.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def complaints(self, name: str, lines: int = 3) -> str:
        """The last errors in a component's log."""
        words = ('"level":"error"', '"level":"ERROR"', "\tERROR\t", " ERROR ")
        usual = ("the object has been modified", "The manifest file is empty", '"pod-delete"')  # two writers at once, and other noise
        text = self.last_words(name, 2000).splitlines()
        found = [
            line for line in text if (line.startswith("E") or any(word in line for word in words)) and not any(w in line for w in usual)
        ]
        return "\n".join(line[:400] for line in found[-lines:])

    def wait(self, name: str, ready: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until `ready`. Raises Died with the component's last words when it ended or time is over."""
        record = next(record for record in reversed(self.records()) if record.name == name)
        end = time.monotonic() + seconds
        while not ready():
            if not record.alive():
                raise Died(f"{name} ended:\n{self.last_words(name)}")
            if time.monotonic() > end:
                raise Died(f"{name} was not ready after {seconds:.0f} s:\n{self.last_words(name)}")
            time.sleep(0.05)

    def stop(self, name: str = "") -> None:
        """End one process, or all in reverse order of their start; those that stay are killed."""
        records = self.records()
        chosen = [record for record in reversed(records) if not name or record.name == name]
        for record in chosen:
            _signal(record, signal.SIGTERM)
            if record.name == "kube-apiserver":  # it waits for its clients, who are being ended: nothing in it is worth the time
                _signal(record, signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        for record in chosen:
            while record.alive() and time.monotonic() < end:
                time.sleep(0.02)
            if record.alive():
                _signal(record, signal.SIGKILL)
        self._write([record for record in records if record not in chosen])
        if not name:
            self._sweep()
        ended = {record.pid for record in chosen}
        for child in [child for child in self._children if child.pid in ended]:
            child.wait()
            self._children.remove(child)

    def watch(self) -> None:
        """End everything as soon as this process ends, however it ends."""
        read, self._pipe = os.pipe()  # not inherited by the others: only this process holds the write end
        argv = [sys.executable, "-m", "tests.e2e.processes", str(self.folder)]
        self._children.append(subprocess.Popen(argv, cwd=ROOT, stdin=read, start_new_session=True))
        os.close(read)

    def unwatch(self, *, keep: bool = False) -> None:
        """Let the watchdog do its work and go; with `keep` it goes without."""
        if self._pipe >= 0:
            if keep:
                os.write(self._pipe, b"keep")
            os.close(self._pipe)
            self._pipe = -1
            self._children.pop(0).wait()

    def _sweep(self) -> None:
        """Kill what carries the plane's mark and has no record."""
        for pid in marked(self.folder):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _write(self, records: list[Record]) -> None:
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps([[record.name, record.pid, record.born] for record in records]), encoding="utf-8")
        part.replace(self._file)


def marked(folder: Path) -> list[int]:
    """Ids of all processes that carry a plane's mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"{MARK}={folder}".encode() in environment and _born(int(entry.name)):
                found.append(int(entry.name))
    return found


def _born(pid: int) -> int:
    """Start time of a process in clock ticks since boot, 0 if there is none or it waits to be collected."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0
    if fields[0] == "Z":
        return 0
    return int(fields[19])


def _signal(record: Record, number: signal.Signals) -> None:
    if record.alive():
        try:
            os.killpg(record.pid, number)
        except ProcessLookupError:
            return


def main(folder: str) -> None:
    """The watchdog: returns from reading when the owner is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not sys.stdin.buffer.read() and Path(folder).exists():
        Processes(Path(folder)).stop()


if __name__ == "__main__":
    main(sys.argv[1])
