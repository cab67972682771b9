"""What says which code to deliver has something to deliver.

A repository beside `delivery: configmap`, or patterns beside an image, would be accepted and do nothing.

Breaks:

    code: {delivery: image, exclude: ["*.csv"]}

Mends:

    code: {delivery: image}

Source: the project's rule that every accepted field has an effect.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path, dotted

ID = "code-unused"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`code.git`, `include`, `exclude` and `path` against the delivery."""
    del policy
    code = doc.spec.code
    if code is None or doc.lost(("code", "delivery")):
        return
    source = doc.spec.run is not None and doc.spec.run.source is not None
    if (why := git(doc)) is not None:
        yield doc.finding(ID, ("code", "git"), f"code.git has no effect: {why}", hint="remove one of the two", key=True)
    fields: tuple[str, ...]
    if source or code.delivery == "image":
        why, fields = "the code comes with an image", ("path", "include", "exclude")
    elif code.git is not None and code.delivery != "configmap":
        why, fields = "a checkout is whole", ("include", "exclude")
    else:
        return
    for field in fields:
        if getattr(code, field):
            path: Path = ("code", field)
            yield doc.finding(ID, path, f"{dotted(doc.as_typed(path))} has no effect: {why}", hint="remove it", key=True)


def git(doc: RunDoc) -> str | None:
    """Why `code.git` has no effect; None where it has, or is not there."""
    code = doc.spec.code
    if code is None or code.git is None or doc.lost(("code", "delivery")):
        return None
    if doc.spec.run is not None and doc.spec.run.source is not None:
        return "run.source takes the code from an image"
    return f"delivery is {code.delivery}" if code.delivery in {"configmap", "image"} else None
