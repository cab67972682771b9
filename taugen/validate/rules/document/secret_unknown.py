"""A run uses the secrets that its workspace lists, no others.

Whoever may name any Secret of the namespace may read them all. The workspace's list is what its owners agreed to.

Breaks:

    runtime:
      env_secret: {KEY: "nlp-admin:token"}

Mends:

    runtime:
      env_secret: {KEY: "wandb:api-key"}

Source: Workspace.spec.secrets.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.spec.types import secret_parts
from taugen.words import Path, suggest

ID = "secret-unknown"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """References of `runtime.env_secret` and `code.git.secret`."""
    references: list[tuple[Path, str]] = []
    runtime, code = doc.spec.runtime, doc.spec.code
    if runtime is not None and runtime.env_secret:
        references += [(("runtime", "env_secret", name), ref) for name, ref in runtime.env_secret.items()]
    if code is not None and code.git is not None and code.git.secret is not None:
        references.append((("code", "git", "secret"), code.git.secret))
    workspace = policy.workspaces.get(doc.workspace)
    if not references or workspace is None:
        return
    known = workspace.spec.secrets
    for path, reference in references:
        secret = secret_parts(reference)[0]
        if secret in known:
            continue
        has = f"its secrets are {', '.join(known)}" if known else "it lists none"
        text = f"workspace {doc.workspace} has no secret {secret}: {has}"
        near = suggest.closest(secret, known)
        hint = f"write {near}" if near else "use one of them, or have the workspace's owners add it to Workspace.spec.secrets"
        yield doc.finding(ID, path, text, hint=hint, origin=workspace.span(("secrets",), key=True))
