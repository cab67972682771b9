"""The variables that policy gives to runs are nobody else's, and no credentials.

Variables of taugen and of the launcher are set by them alone, NCCL_* by profiles. A secret's value never stands in Git: the workspace
names the Secret.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      defaults:
        runtime: {env: {MASTER_PORT: "29500"}}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      defaults:
        runtime: {env: {HF_HUB_OFFLINE: "1"}}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.validate.rules.document.reserved_env import FREE
from taugen.words import credentials

ID = "default-env"

_OWNERS = {"PET_": "torchrun", "NCCL_": "profiles (nccl)"}
_NAMES = {
    "JOB_COMPLETION_INDEX": "Kubernetes",
    "LOCAL_RANK": "torchrun",
    "MASTER_ADDR": "taugen",
    "MASTER_PORT": "taugen",
    "RANK": "torchrun",
    "WORLD_SIZE": "torchrun",
}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for kind in ("Platform", "Workspace"):
        for item in policy.each(kind):
            runtime = item.spec.defaults.runtime
            if runtime is None:
                continue
            path = ("defaults", "runtime", "env")
            for name in [*(runtime.env or {}), *(runtime.env_secret or {})]:
                owner = _owner(name)
                where = path if name in (runtime.env or {}) else ("defaults", "runtime", "env_secret")
                if owner is not None:
                    message = f"{name} is set by {owner}"
                    yield item.finding(ID, (*where, name), message, hint="remove it", key=True)
            for name, value in (runtime.env or {}).items():
                what = credentials.shape(value) or credentials.named(name, value)
                if what is not None:
                    message = f"{name} looks like {what}: a secret's value never stands in Git"
                    hint = "put it into a Secret of the namespace and write env_secret: {NAME: SECRET:KEY}"
                    yield item.finding(ID, (*path, name), message, hint=hint, key=True)


def _owner(name: str) -> str | None:
    """Who sets a variable of that name."""
    if name.upper().startswith("TAU_") and name not in FREE:
        return "taugen"
    return _NAMES.get(name) or next((who for start, who in _OWNERS.items() if name.startswith(start)), None)
