"""Code comes over https or ssh.

git would follow other URLs into a shell or the node, plain http can be changed on the way, and a password in the list would stand in Git
for everybody.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      code:
        allow: ["http://git.tern.example/research"]

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      code:
        allow: ["https://git.tern.example/research"]

Source: gitprotocol security notes; git-remote-ext(1)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.validate.rules.document.code_git import _prefix

ID = "code-allow"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for platform in policy.each("Platform"):
        for at, entry in enumerate(platform.spec.code.allow):
            if _prefix(entry) is None or ("@" in entry and entry.startswith("https://")):
                message = "this is no plain https or ssh URL"
                yield platform.finding(
                    ID,
                    ("code", "allow", at),
                    message,
                    hint="write https://HOST/PATH or ssh://git@HOST/PATH, without wildcards and passwords",
                )
