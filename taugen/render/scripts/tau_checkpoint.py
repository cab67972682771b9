"""Checkpoints of a run: mark one as complete, find the newest, remove old ones. Python 3.8 or newer, nothing else.

A checkpoint is a folder below TAU_CHECKPOINT_DIR. It counts once `_TAU_COMPLETE.json` stands in it, written last:
{"run", "step", "world_size", "files": {path: {"size", "sha256"}}}. In a training program, on one rank, when every rank has written:

    import tau_checkpoint
    tau_checkpoint.complete(folder, step)

and at its start: `os.environ["TAU_RESUME_FROM"]`, empty where there is nothing to resume from. A shell can call
`python tau_checkpoint.py complete FOLDER STEP`.

`start` is how the launch script uses it: it chooses where to resume, sets TAU_RESUME_FROM and becomes the program. In a gang rank 0
chooses and the others ask it: what a network file system shows differs from node to node for a while, and no file can tell this start
from the one before.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

MARKER = "_TAU_COMPLETE.json"
DEPTH = 3  # folders below TAU_CHECKPOINT_DIR that are searched
PORT = 29499
PATIENCE = 1800  # seconds that a gang waits for its slowest pod
MOST = 1 << 26  # bytes of a marker that are read
RAY_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"


def complete(folder: str, step: int | str, world_size: int | None = None) -> str:
    """Mark the checkpoint in `folder` as complete. Returns the marker's path."""
    files = {}
    for path in sorted(_files(folder)):
        digest, size = hashlib.sha256(), 0
        with open(os.path.join(folder, path), "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                size += len(block)
        files[path] = {"size": size, "sha256": digest.hexdigest()}
    world = int(world_size or os.environ.get("WORLD_SIZE") or os.environ.get("TAU_WORLD_SIZE") or 1)
    marker = {"run": os.environ["TAU_RUN_ID"], "step": int(step), "world_size": world, "files": files}
    path = os.path.join(folder, MARKER)
    with open(path + ".part", "w", encoding="utf-8") as stream:
        json.dump(marker, stream, indent=1, sort_keys=True)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(path + ".part", path)
    return path


def newest(folder: str, run: str) -> str:
    """The folder of the newest complete checkpoint of `run` below `folder`, "" where there is none."""
    best = max(_complete(folder, run), default=None)
    return best[-1] if best else ""


def prune(keep: int | None = None, folder: str | None = None) -> list[str]:
    """Remove the oldest complete checkpoints of this run beyond `keep` (TAU_CHECKPOINT_KEEP). Returns the folders removed."""
    keep = int(keep or os.environ.get("TAU_CHECKPOINT_KEEP") or 0)
    found = sorted(_complete(folder or os.environ["TAU_CHECKPOINT_DIR"], os.environ["TAU_RUN_ID"]))
    old = [entry[-1] for entry in found[:-keep]] if keep > 0 else []
    for path in old:
        os.unlink(os.path.join(path, MARKER))  # first: what is half removed must not count
        shutil.rmtree(path)
    return old


def _files(folder: str) -> Iterator[str]:
    for where, _, names in os.walk(folder):
        for name in names:
            if not name.startswith(MARKER):
                yield os.path.relpath(os.path.join(where, name), folder).replace(os.sep, "/")


def _complete(folder: str, run: str) -> Iterator[tuple[float, float, str]]:
    """(step, time, path) of the complete checkpoints of `run`."""
    level = [folder]
    for _ in range(DEPTH + 1):
        below = []
        for path in level:
            marker = _marker(path)
            if marker is None:
                below += _folders(path)
            elif marker.get("run") == run and _whole(path, marker.get("files")):
                yield _step(marker), os.path.getmtime(os.path.join(path, MARKER)), path
                if path == folder:
                    below += _folders(path)
        level = below


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return []


def _marker(path: str) -> dict[str, Any] | None:
    try:
        with open(os.path.join(path, MARKER), encoding="utf-8") as stream:
            marker = json.loads(stream.read(MOST))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) else {}


def _step(marker: dict[str, Any]) -> float:
    step = marker.get("step")
    return step if isinstance(step, (int, float)) else -1


def _whole(folder: str, files: Any) -> bool:
    """Whether every file is there in its full size: `files` maps path to size or to {"size"}, or is a list of {"path", "size"}."""
    if isinstance(files, list):
        files = {str(f.get("path") or f.get("name")): f for f in files if isinstance(f, dict)}
    if not isinstance(files, dict):
        return False
    for path, wanted in files.items():
        size = wanted.get("size") if isinstance(wanted, dict) else wanted
        try:
            if os.path.getsize(os.path.join(folder, path)) != size:
                return False
        except OSError:
            return False
    return True


def _say(text: str) -> None:
    sys.stderr.write("launch: " + text + "\n")
    sys.stderr.flush()


def choose(also: str | None = None) -> str:
    """Where to resume: this run's newest complete checkpoint, else that of the run `also`, else what the manifest says."""
    fallback = os.environ.get("TAU_RESUME_FROM", "")
    try:
        folder = os.environ["TAU_CHECKPOINT_DIR"]
        return newest(folder, os.environ["TAU_RUN_ID"]) or (newest(folder, also) if also else "") or fallback
    except Exception as error:  # whatever the storage does, the run starts
        _say(f"can't look for checkpoints: {type(error).__name__}: {error}")
        return fallback


def agree(nodes: int, also: str | None = None) -> str:
    """One choice for all nodes of a gang. Raises TimeoutError when a node does not come up in time."""
    rank = int(os.environ["JOB_COMPLETION_INDEX"])
    name = f"{os.environ['TAU_RUN_ID']}#{os.environ.get('TAU_ATTEMPT', '1')}"
    port = int(os.environ.get("TAU_RESUME_PORT") or PORT)
    until = time.monotonic() + float(os.environ.get("TAU_RESUME_PATIENCE") or PATIENCE)
    if rank == 0:
        return _tell(choose(also), nodes, name, port, until)
    return _ask(rank, name, (os.environ["MASTER_ADDR"], port), until)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    except (AttributeError, OSError, ValueError):
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("", port))
        server.listen(128)
        return server


def _tell(choice: str, nodes: int, name: str, port: int, until: float) -> str:
    """Rank 0: answer until every other rank has said that it has the answer."""
    waiting = set(range(1, nodes))
    server = _listen(port)
    with server:
        while waiting:
            server.settimeout(_left(until, f"ranks {sorted(waiting)} did not ask where to resume"))
            try:
                client, _ = server.accept()
            except OSError:
                continue
            try:
                with client, client.makefile("rw", encoding="utf-8") as stream:
                    client.settimeout(10)
                    asked = json.loads(stream.readline(4096))
                    if asked["name"] != name:
                        continue
                    stream.write(json.dumps(choice) + "\n")
                    stream.flush()
                    if stream.readline(16) == "ok\n":
                        waiting.discard(asked["rank"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
    return choice


def _ask(rank: int, name: str, address: tuple[str, int], until: float) -> str:
    """Another rank: ask rank 0, which may not be up or not have a name yet."""
    while True:
        left = _left(until, f"rank 0 ({address[0]}) did not say where to resume")
        try:
            with socket.create_connection(address, timeout=min(left, 10)) as server, server.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps({"name": name, "rank": rank}) + "\n")
                stream.flush()
                choice = json.loads(stream.readline(65536))
                if isinstance(choice, str):
                    stream.write("ok\n")
                    stream.flush()
                    return choice
        except (OSError, ValueError):
            pass
        time.sleep(min(0.5, max(0, until - time.monotonic())))


def _left(until: float, why: str) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError(why)
    return left


def _tell_ray(choice: str) -> None:
    """Ray workers get their environment from the job's runtime environment, which `ray job submit` hands to the driver."""
    try:
        job = json.loads(os.environ[RAY_JOB])
        job.setdefault("runtime_env", {}).setdefault("env_vars", {})["TAU_RESUME_FROM"] = choice
        os.environ[RAY_JOB] = json.dumps(job)
    except (KeyError, ValueError, AttributeError, TypeError):
        pass


def start(args: list[str]) -> int:
    """start [--nodes N] [--also RUN] -- PROGRAM...: choose, set TAU_RESUME_FROM, become the program."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))  # as process 1 there is no default action
    options = args[: args.index("--")]
    program = args[len(options) + 1 :]
    given = {options[at]: options[at + 1] for at in range(0, len(options), 2)}
    nodes = int(given.get("--nodes", 1))
    try:
        choice = agree(nodes, given.get("--also")) if nodes > 1 else choose(given.get("--also"))
    except TimeoutError as error:
        _say(f"the gang is not complete: {error}")
        return 1
    _say(f"resuming from {choice}" if choice else "nothing to resume from")
    os.environ["TAU_RESUME_FROM"] = choice
    _tell_ray(choice)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606
    except OSError as error:
        _say(f"can't start {program[0]}: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126


def main(args: list[str]) -> int:
    """The command line: start, complete, newest, prune."""
    command, rest = (args[0] if args else ""), args[1:]
    if command == "start":
        return start(rest)
    if command == "complete" and len(rest) == 2:
        sys.stdout.write(complete(rest[0], rest[1]) + "\n")
    elif command == "newest" and not rest:
        sys.stdout.write(newest(os.environ["TAU_CHECKPOINT_DIR"], os.environ["TAU_RUN_ID"]) + "\n")
    elif command == "prune" and not rest:
        sys.stdout.write("".join(path + "\n" for path in prune()))
    else:
        sys.stderr.write("usage: tau_checkpoint.py complete FOLDER STEP | newest | prune\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
