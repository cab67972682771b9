"""The platform's files against those of the branch: what is written, what leaves, what must stay because a live run needs it.

In: the rendered platform, the branch, live runs, what policy errors hold back. Out: changes and refusals. Objects that a live run refers to are never removed or
renamed (law 5); files of a cluster that left the fleet stay (law 6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taugen.diag import Diagnostic, Span
from taugen.load.nodes import parse
from taugen.publish.branch import Deployed
from taugen.publish.state import Reference, RunState
from taugen.render import file
from taugen.render.types import Object, Rendered

Identity = tuple[str, Reference]
"""Cluster and object."""


@dataclass(slots=True)
class PlatformChange:
    """`writes` path -> text, `deletes` paths (both on the branch), `refused` what can't be done while runs live, `notes` for people."""

    writes: dict[str, str] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    refused: list[Diagnostic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Held:
    """What policy errors hold back: source files with an error, for deletions; rendered paths, for writes."""

    sources: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()


def change(branch: Deployed, project: str, rendered: Sequence[Rendered], clusters: Sequence[str], live: Sequence[RunState], held: Held) -> PlatformChange:
    """Compare the platform's files with the branch."""
    out = PlatformChange()
    wanted = {f"{branch.folder}/{item.path}": item for item in rendered}
    old = _owned(branch, project)
    texts = {path: file.text(item, project) for path, item in wanted.items() if item.path not in held.paths}
    writes = {path: text for path, text in texts.items() if old.get(path) != text}
    deletes = [path for path in sorted(old) if path not in wanted and not _kept(path, old[path], branch, clusters, held, out)]
    kept_by = _needed(branch, old, wanted, writes, deletes, live)
    for path, (text, need, run) in sorted(kept_by.items()):
        source = file.parse_header(text)
        kind, namespace, name = need
        what = f"{kind} {namespace + '/' if namespace else ''}{name}"
        message = f"{what} can't be removed or renamed: the live run {run} needs it"
        hint = "cancel the run first (`cancelled: true` in its document), or keep the document"
        out.refused.append(Diagnostic("in-use", message, Span(source.source if source else path), hint=hint))
    out.writes = {p: t for p, t in writes.items() if p not in kept_by}
    out.deletes = [p for p in deletes if p not in kept_by]
    _foreign(branch, project, old, out)
    return out


def _owned(branch: Deployed, project: str) -> dict[str, str]:
    """The platform's files on the branch that are ours: path -> text."""
    if branch.tip is None:
        return {}
    paths = [p for p in branch.tree.paths() if _platform_path(p, branch.folder)]
    branch.tree.prefetch(paths)
    out = {}
    for path in paths:
        text = branch.tree.read(path).decode("utf-8", "replace")
        header = file.parse_header(text)
        if header is not None and header.project == project:
            out[path] = text
    return out


def _platform_path(path: str, folder: str) -> bool:
    if not path.startswith(folder + "/"):
        return False
    parts = path[len(folder) + 1 :].split("/")
    return len(parts) > 2 and (parts[1] != "runs" or len(parts) == 4)


def _kept(path: str, text: str, branch: Deployed, clusters: Sequence[str], held: Held, out: PlatformChange) -> bool:
    cluster = path[len(branch.folder) + 1 :].split("/")[0]
    if cluster not in clusters:
        note = f"cluster {cluster} left the fleet: its files stay, so that nothing is pruned there; delete {branch.folder}/{cluster}/ by hand when it is gone"
        if note not in out.notes:
            out.notes.append(note)
        return True
    header = file.parse_header(text)
    return header is not None and header.source in held.sources


def _needed(
    branch: Deployed, old: Mapping[str, str], wanted: Mapping[str, Rendered], writes: Mapping[str, str], deletes: Sequence[str], live: Sequence[RunState]
) -> dict[str, tuple[str, Reference, str]]:
    """Files that would take an object away from a live run: path -> (old text, the object, the run)."""
    needs: dict[Identity, str] = {}
    for run in live:
        for ref in run.refs:
            needs.setdefault((run.cluster, ref), run.run_id)
    if not needs:
        return {}
    there = {(path[len(branch.folder) + 1 :].split("/")[0], identity(item.obj)) for path, item in wanted.items()}
    found = {}
    for path in [*deletes, *(p for p in writes if p in old)]:
        cluster = path[len(branch.folder) + 1 :].split("/")[0]
        documents, _ = parse(path, old[path].encode())
        for document in documents:
            ref = identity(document.data)
            run_id = needs.get((cluster, ref))
            if run_id is not None and (cluster, ref) not in there:
                found[path] = (old[path], ref, run_id)
    return found


def identity(obj: Object) -> Reference:
    """(kind, namespace, name) of an object."""
    metadata = obj.get("metadata")
    meta = metadata if isinstance(metadata, dict) else {}
    return (str(obj.get("kind")), str(meta.get("namespace") or ""), str(meta.get("name")))


def _foreign(branch: Deployed, project: str, old: Mapping[str, str], out: PlatformChange) -> None:
    """A file of somebody else where one of ours would go: it is left alone, and ours is refused."""
    if branch.tip is None:
        return
    for path in [p for p in out.writes if p not in old and p in branch.tree.paths()]:
        hint = f"rename it or remove it from the branch: taugen never touches a file that does not carry the header of project {project}"
        out.refused.append(Diagnostic("deploy-foreign", f"{path} stands on the deploy branch and is not taugen's", Span(path), hint=hint))
        del out.writes[path]
