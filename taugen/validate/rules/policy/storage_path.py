"""A storage is mounted at a plain absolute path that nothing else needs.

Mounted over a folder of the system, the volume would hide it; below /tau and /dev/shm taugen mounts code and shared memory.

Breaks:

    kind: Storage
    metadata: {name: scratch}
    spec:
      claim: {existing: scratch}
      path: /tau/scratch
      workspaces: [speech]

Mends:

    kind: Storage
    metadata: {name: scratch}
    spec:
      claim: {existing: scratch}
      path: /scratch
      workspaces: [speech]

Source: Kubernetes core validation.go (mountPath); this project
"""

import posixpath
from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.storage import RESERVED
from taugen.words.errors import shown

ID = "storage-path"

_BELOW = ("/dev/", "/proc/", "/sys/", "/tau/", "/run/", "/var/run/")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Storage"):
        path = item.spec.path
        clean = path.rstrip("/") or "/"
        if not path.startswith("/") or posixpath.normpath(clean) != clean or any(c.isspace() or c in ":\\" for c in path):
            message = f"{shown(path)} is no plain absolute path"
            yield item.finding(ID, ("path",), message, hint="write an absolute path without .., spaces and colons, such as /data")
        elif clean in RESERVED or clean.startswith(_BELOW):
            message = f"nothing can be mounted at {clean}: the system or taugen needs it"
            yield item.finding(ID, ("path",), message, hint="write another path, such as /data")
