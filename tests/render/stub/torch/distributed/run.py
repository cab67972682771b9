"""Speaks torchrun's command line and PET_* variables, without torch: starts the processes of one node and waits for them."""

import os
import subprocess
import sys


def main() -> int:
    arguments = sys.argv[1:]
    flags = []
    while arguments and arguments[0].startswith("--"):
        flags.append(arguments.pop(0))
    program = arguments if "--no-python" in flags else [sys.executable, "-u", *arguments]
    standalone = os.environ.get("PET_STANDALONE") == "1"
    count, nodes = int(os.environ["PET_NPROC_PER_NODE"]), int(os.environ["PET_NNODES"])
    rank = 0 if standalone else int(os.environ["PET_NODE_RANK"])
    address = ("127.0.0.1", "29500") if standalone else (os.environ["PET_MASTER_ADDR"], os.environ["PET_MASTER_PORT"])
    started = []
    for local in range(count):
        env = {
            **os.environ,
            "RANK": str(rank * count + local),
            "LOCAL_RANK": str(local),
            "WORLD_SIZE": str(nodes * count),
            "MASTER_ADDR": address[0],
            "MASTER_PORT": address[1],
            "STUB_FLAGS": " ".join([*(f for f in flags if f != "--no-python"), *(["standalone"] if standalone else [])]),
        }
        started.append(subprocess.Popen(program, env=env))
    return max(process.wait() for process in started)


if __name__ == "__main__":
    sys.exit(main())
