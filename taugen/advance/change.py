"""What an action changes on the deploy branch.

In: the branch, a run, what follows for it. Out: files. The next attempt's objects are the committed ones of the attempt before with name,
attempt and resume point replaced; nothing is resolved anew (law 3). What must never happen: manifests of a run that is over, an attempt
made of objects that are not all there.
"""

from taugen.advance.decide import End, Retry
from taugen.diag import Diagnostic, Span
from taugen.load.nodes import parse
from taugen.publish.branch import Deployed
from taugen.publish.commit import Files
from taugen.publish.state import RunState
from taugen.render import file
from taugen.render.attempt import next_attempt
from taugen.render.types import Object


def after(state: RunState, action: Retry | End) -> RunState:
    """The state after the action. Raises ValueError for a state that is not written as taugen does."""
    if isinstance(action, Retry):
        return state.at(action.attempt, action.resume_from)
    ended = state.ended(action.phase)
    return ended if action.attempt == state.attempt else ended.at(action.attempt, "")


def files(branch: Deployed, state: RunState, action: Retry | End) -> Files | Diagnostic:
    """The changed files, or why there are none."""
    paths = branch.files_below([state.folder])
    try:
        new = after(state, action)
        out: Files = {state.path: new.content(branch.project)}
        if isinstance(action, End):
            return out | dict.fromkeys(paths)
        return out | _next(branch, paths, action)
    except ValueError as error:
        message = f"attempt {action.attempt} of {state.run_id} can't be made from what stands on the deploy branch: {error}"
        hint = f"restore {branch.folder}/{state.folder}/ as it was published, or end the run: `cancelled: true` in {state.source}"
        return Diagnostic("attempt-lost", message, Span(state.path), hint=hint)


def _next(branch: Deployed, paths: list[str], action: Retry) -> Files:
    """The files of the next attempt; those that stay the same are left out. Raises ValueError."""
    branch.tree.prefetch(paths)
    texts = {path: branch.tree.read(path).decode("utf-8", "replace") for path in paths}
    mine = [path for path in sorted(texts) if file.verify(texts[path], branch.project) == "ok"]
    objects: list[Object] = []
    for path in mine:
        documents, faults = parse(path, texts[path].encode())
        if faults or len(documents) != 1:
            raise ValueError(f"{path} is no object")
        objects.append(documents[0].data)
    made = next_attempt(objects, action.attempt, action.resume_from, action.reason)
    sources = {path: header.source for path in mine if (header := file.parse_header(texts[path])) is not None}
    written = {path: file.of_object(obj, sources[path], branch.project) for path, obj in zip(mine, made, strict=True)}
    return {path: body for path, body in written.items() if body != texts[path].encode()}
