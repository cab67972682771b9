"""A real control plane on loopback: `python -m tests.e2e.plane up|down|status|kubeconfig`.

In: the parts that are wanted, a state folder, a base port. Out: running components, their logs, a kubeconfig for an administrator.
Several planes stand side by side, each with a folder and a block of ports of its own. Whatever happens to its owner, a plane that was
started for one owner goes down with it.
"""

import argparse
import fcntl
import json
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e import build, core, operators, reconcilers
from tests.e2e.certs import Certs
from tests.e2e.core import LOCAL, SPAN, Site
from tests.e2e.kube import Kube
from tests.e2e.processes import Died, Processes

BLOCKS = range(18100, 32000, SPAN)  # below the range that the kernel takes client ports from
# Kueue last among the operators: it asks once which of the others' kinds are there.
ORDER = ("jobset", "kuberay", "kueue", "flux", "argocd")
STARTERS = {
    "jobset": operators.start_jobset,
    "kuberay": operators.start_kuberay,
    "flux": reconcilers.start_flux,
    "argocd": reconcilers.start_argocd,
}


class Plane:
    """One plane, by its state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes = Processes(folder)
        self._file = folder / "plane.json"

    def up(self, parts: tuple[str, ...], base: int = 0, *, owned: bool = False, kueue: dict[str, object] | None = None) -> None:
        """Start the plane. `owned`: it ends with this process. Raises processes.Died, build.BuildError."""
        build.build(build.needed(parts))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes.watch()
        try:
            with block(base) as chosen:
                self._file.write_text(json.dumps({"base": chosen, "parts": parts, "kueue": kueue}), encoding="utf-8")
                self.site.certs.make()
                core.start(self.site)
                for part in ORDER:
                    if part in parts:
                        self._start(part, kueue)
        except BaseException:
            self.down(keep=True)
            raise
        if not owned:
            self.processes.unwatch(keep=True)

    def configure(self, kueue: dict[str, object] | None) -> None:
        """Let Kueue run with this over its configuration; it starts anew unless it does so already. Raises processes.Died."""
        state = json.loads(self._file.read_text(encoding="utf-8"))
        if state["kueue"] != kueue:
            self._file.write_text(json.dumps(state | {"kueue": kueue}), encoding="utf-8")
            self.restart_kueue()

    def restart_kueue(self) -> None:
        """End Kueue and start it anew, as its Deployment would. Raises processes.Died."""
        self.processes.stop("kueue")
        with self.kube() as kube:
            operators.run_kueue(self.site, kube, json.loads(self._file.read_text(encoding="utf-8"))["kueue"])

    def down(self, *, keep: bool = False) -> None:
        """End every process; without `keep` the folder goes too."""
        self.processes.stop()
        self.processes.unwatch()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def site(self) -> Site:
        """Ports, certificates and processes."""
        return Site(self.folder, json.loads(self._file.read_text(encoding="utf-8"))["base"], Certs(self.folder / "certs"), self.processes)

    def parts(self) -> tuple[str, ...]:
        """What the plane was started with; empty if it is not up."""
        if not self._file.exists() or "kube-apiserver" not in self.processes.running():
            return ()
        return ("core", *json.loads(self._file.read_text(encoding="utf-8"))["parts"])

    def kube(self, name: str = "admin", user: str = "admin", groups: tuple[str, ...] = ("system:masters",)) -> Kube:
        """A client that is `user`."""
        site = self.site
        site.certs.client(name, user, groups)
        return Kube(site.port("api"), site.certs.authority, site.certs.certificate(name), site.certs.key(name))

    def kubeconfig(self) -> str:
        """Path of the administrator's kubeconfig."""
        return self.site.kubeconfig("admin", "admin", ("system:masters",))

    def _start(self, part: str, kueue: dict[str, object] | None) -> None:
        with self.kube() as kube:
            if part == "kueue":
                operators.start_kueue(self.site, kube, kueue)
            else:
                STARTERS[part](self.site, kube)


@contextmanager
def block(wanted: int = 0) -> Iterator[int]:
    """The first block of ports that nobody listens on, or the one that is wanted; no other plane takes it while this one starts."""
    folder = build.cache() / "ports"
    folder.mkdir(parents=True, exist_ok=True)
    for base in [wanted] if wanted else BLOCKS:
        with (folder / str(base)).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if all(_free(base + number) for number in range(len(core.PORTS))):
                yield base
                return
    raise Died(f"ports from {wanted} on are taken" if wanted else "no free block of ports below 32000")


def default_folder() -> Path:
    """State folder of the plane that a developer keeps up."""
    return build.cache() / "planes" / "default"


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCAL, port))
        except OSError:
            return False
    return True


def main(args: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.plane", description="A real control plane on loopback.")
    parser.add_argument("action", choices=["up", "down", "status", "kubeconfig"])
    parser.add_argument(
        "--with", dest="parts", default="kueue", help=f"comma-separated, of: {', '.join(ORDER)}; empty: Kubernetes alone (default: kueue)"
    )
    parser.add_argument("--state", type=Path, default=default_folder(), help="state folder (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help=f"first of {SPAN} ports, below 32768 (default: a free block)")
    chosen = parser.parse_args(args)
    plane = Plane(chosen.state.absolute())
    parts = tuple(part for part in chosen.parts.split(",") if part)
    if unknown := [part for part in parts if part not in ORDER]:
        parser.error(f"--with: no {', '.join(unknown)}; choose from {', '.join(ORDER)}")
    if chosen.port and chosen.port + SPAN > 32768:
        parser.error("--port: ports from 32768 belong to the kernel's clients; choose a lower one")
    return {"up": _up, "down": _down, "status": _status, "kubeconfig": _kubeconfig}[chosen.action](plane, parts, chosen.port)


def _up(plane: Plane, parts: tuple[str, ...], port: int) -> int:
    if plane.parts():
        print(f"already up: {' '.join(plane.parts())}; end it with: down", file=sys.stderr)
        return 1
    if reason := build.missing(parts):
        print(reason, file=sys.stderr)
        return 1
    began = time.monotonic()
    try:
        plane.up(parts, port)
    except (Died, build.BuildError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"up in {time.monotonic() - began:.1f} s: {' '.join(plane.processes.running())}", file=sys.stderr)
    print(f"export KUBECONFIG={plane.kubeconfig()}")
    return 0


def _down(plane: Plane, _parts: tuple[str, ...], _port: int) -> int:
    began = time.monotonic()
    plane.down()
    print(f"down in {time.monotonic() - began:.1f} s", file=sys.stderr)
    return 0


def _status(plane: Plane, _parts: tuple[str, ...], _port: int) -> int:
    records = plane.processes.records()
    for record in records:
        print(f"{record.name:26} {'up' if record.alive() else 'ENDED':6} pid {record.pid:<8} {plane.processes.logs / record.name}.log")
    if not records:
        print("no plane there", file=sys.stderr)
    return 0 if records and all(record.alive() for record in records) else 1


def _kubeconfig(plane: Plane, _parts: tuple[str, ...], _port: int) -> int:
    if not plane.parts():
        print("no plane is up", file=sys.stderr)
        return 1
    print(plane.kubeconfig())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
