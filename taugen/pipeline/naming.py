"""Which runs a name means.

In: documents and what somebody typed. Out: the documents that it names: `workspace/name`, `workspace/name/digest8`, an object's name, or a
path.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from taugen.diag import Refused
from taugen.spec.rundoc import RunDoc
from taugen.words.suggest import closest


def matching(docs: Sequence[RunDoc], run: str, root: Path, others: Sequence[str] = ()) -> list[RunDoc]:
    """The documents that `run` names; a path counts from the current folder. Raises `Refused` (exit 2) with what was probably meant,
    `others` included."""
    inside = os.path.relpath(Path(run).absolute(), root).replace(os.sep, "/")
    found = [doc for doc in docs if _named(doc, run, inside)]
    if not found:
        names = [f"{doc.workspace}/{doc.name}" for doc in docs]
        short = [name for name in names if name.partition("/")[2] == run]
        near = short[0] if short else closest(run, [*names, *others])
        hint = f"did you mean {near}?" if near else "name it workspace/name, or by the path of its document"
        raise Refused(f"no run is called {run}", hint=hint, code=2)
    return found


def _named(doc: RunDoc, run: str, inside: str) -> bool:
    names = (f"{doc.workspace}/{doc.name}", doc.run_id, doc.run, doc.file)
    return run in names or inside in (doc.file, doc.folder) or run.rpartition("-")[0] == doc.run
