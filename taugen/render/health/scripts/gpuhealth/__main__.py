"""``python3 -m gpuhealth``: runs until it is told to stop.

In: environment NODE_NAME, KUBERNETES_SERVICE_HOST and _PORT, GPUHEALTH_PORT, and files beside this package. Out: exit code 0 on SIGTERM.
"""

import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType

from . import config, metrics
from .kube import Api
from .processes import Scripts
from .rounds import Runner, log

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def main() -> int:
    """The program."""
    env = os.environ
    home = Path(env.get("GPUHEALTH_HOME") or Path(__file__).parent.parent)
    account = Path(env.get("GPUHEALTH_ACCOUNT") or ACCOUNT)
    settings = config.read((home / "checks.json").read_text(encoding="utf-8"))
    api = Api(env["KUBERNETES_SERVICE_HOST"], int(env["KUBERNETES_SERVICE_PORT"]), account / "ca.crt", account / "token")
    namespace = (account / "namespace").read_text(encoding="utf-8").strip()
    passed = {name: value for name, value in env.items() if name.startswith(("GPUHEALTH_", "NVIDIA_", "LD_")) or name == "PATH"}
    runner = Runner(settings, Scripts(home / "checks", passed), api, env["NODE_NAME"], namespace)
    stop = threading.Event()

    def ended(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stop.set()

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGINT, ended)
    server = metrics.serve(int(env.get("GPUHEALTH_PORT", "9408")), lambda: metrics.text(runner.state), runner.alive)
    log(f"{len(settings.checks)} checks of {settings.gpu_class} every {settings.interval} s, policy {settings.policy}")
    while not stop.is_set():
        try:
            runner.round()
        except Exception:
            log(traceback.format_exc())
        stop.wait(settings.interval)
    server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
