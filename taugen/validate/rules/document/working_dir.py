"""The folder that the program starts in is one plain absolute path.

The kubelet makes a missing folder without a word, so a slip there starts the program in an empty place.

Breaks:

    runtime: {working_dir: ../data}

Mends:

    runtime: {working_dir: /data}

Source: TauGrid's rules for runtime.working_dir (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _paths as paths

ID = "working-dir"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`runtime.working_dir`."""
    del policy
    runtime = doc.spec.runtime
    if runtime is None or runtime.working_dir is None:
        return
    if (fault := paths.absolute(runtime.working_dir)) is not None:
        hint = "write an absolute path in the container, such as /data; a folder beside tau.yaml is code.path"
        yield doc.finding(ID, ("runtime", "working_dir"), fault, hint=hint)
    run = doc.spec.run
    if run is not None and run.source is not None:
        text = "the program starts where run.source was copied to, so runtime.working_dir has no say"
        yield doc.finding(
            ID, ("runtime", "working_dir"), text, hint="remove one of the two", key=True, origin=doc.span(("run", "source"), key=True)
        )
