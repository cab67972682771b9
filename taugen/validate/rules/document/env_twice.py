"""A variable has one source.

A name in both `runtime.env` and `runtime.env_secret` would be rendered twice, and which one counts depends on their order.

Breaks:

    runtime:
      env: {TOKEN_FILE: a}
      env_secret: {TOKEN_FILE: "wandb:file"}

Mends:

    runtime:
      env_secret: {TOKEN_FILE: "wandb:file"}

Source: TauGrid's rule (core/runconfig); Kubernetes EnvVar, where the last of two wins.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "env-twice"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Names that are in both maps."""
    del policy
    runtime = doc.spec.runtime
    if runtime is None or not runtime.env or not runtime.env_secret:
        return
    for name in sorted(runtime.env.keys() & runtime.env_secret.keys()):
        other = doc.span(("runtime", "env_secret", name), key=True)
        text = f"{name} is set in runtime.env and in runtime.env_secret"
        yield doc.finding(ID, ("runtime", "env", name), text, hint="keep one of the two", origin=other, key=True)
