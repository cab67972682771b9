"""Variables have a size that the kernel and the API server can carry.

One value of more than 64 KiB, or 128 KiB in all, fails only when the process starts: `argument list too long`.

Breaks: a value of 64 KiB + 1 in runtime.env.

Mends: the value in a file beside tau.yaml, and its name in runtime.env.

Source: TauGrid's limits (core/runconfig); Linux execve(2), MAX_ARG_STRLEN.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "env-size"

MOST_VALUE = 64 * 1024
MOST_TOTAL = 128 * 1024
_HINT = "put it into a file beside tau.yaml and pass the file's name"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Literal values, then their sum with names, ``=`` and the end byte of each."""
    del policy
    runtime = doc.spec.runtime
    if runtime is None or not runtime.env or sum(map(len, runtime.env.values())) < MOST_VALUE // 4:
        return
    total = 0
    for name, value in runtime.env.items():
        size = len(value.encode("utf-8", "surrogatepass"))
        total += len(name) + size + 2
        if size > MOST_VALUE:
            yield doc.finding(ID, ("runtime", "env", name), f"{name} has {size} bytes, but at most {MOST_VALUE} fit", hint=_HINT)
    if total > MOST_TOTAL:
        yield doc.finding(ID, ("runtime", "env"), f"runtime.env has {total} bytes, but at most {MOST_TOTAL} fit", hint=_HINT, key=True)
