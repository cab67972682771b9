"""What changed beside the documents, for people: code under a published run, files that are not committed.

In: changed paths and what was published. Out: notes. None of it changes what is published: a run keeps the code that it was published with
(law 3).
"""

from collections.abc import Iterable

from taugen.diag import Diagnostic, Severity
from taugen.load.glob import Matcher
from taugen.load.tree import SourceTree, Unreadable
from taugen.pipeline.code import gather
from taugen.pipeline.project import workspace_of
from taugen.publish.branch import Deployed
from taugen.resolve.code import plan
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc

_DIGEST = 64  # characters of a digest over delivered files; a checkout is known by its commit


def code_notes(tree: SourceTree, matcher: Matcher, branch: Deployed, changed: Iterable[str], read: set[str]) -> list[Diagnostic]:
    """Published runs whose code changed while their document did not. `changed` are files that are no documents, `read` documents that
    changed too."""
    docs = [doc for path in _beside(tree, matcher, changed) if path not in read for doc in _documents(tree, path)]
    keys = {(doc.workspace, doc.run): doc for doc in docs if doc.name}
    branch.load(sorted(keys.keys() & branch.runs))
    found = []
    for key, doc in sorted(keys.items()):
        state = branch.state(key)
        if state is not None and state.live and len(state.code) == _DIGEST:
            code = gather(tree, doc, plan(doc), matcher).tree
            if code is not None and code.digest() != state.code:
                message = f"the code of this run changed since it was published; {doc.run} goes on with what it was published with"
                hint = "bump `generation` to run the new code"
                found.append(doc.finding("code-changed", ("name",), message, hint=hint, severity=Severity.NOTE))
    return found


def _beside(tree: SourceTree, matcher: Matcher, changed: Iterable[str]) -> list[str]:
    """The documents in the folders of changed files and in those above."""
    folders = set()
    for path in changed:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    near = (path for path in tree.paths() if path.endswith((".yaml", ".yml")))
    return sorted(path for path in near if _folder(path) in folders and matcher(path))


def _folder(path: str) -> str:
    """The folder that a document stands for: `tau/NAME.yaml` belongs to the folder above `tau`."""
    folder = path.rpartition("/")[0]
    return folder.removesuffix("/tau")


def _documents(tree: SourceTree, path: str) -> list[RunDoc]:
    try:
        return read_file(path, tree.read(path, 1 << 20), workspace_of(path))[0]
    except Unreadable:
        return []
