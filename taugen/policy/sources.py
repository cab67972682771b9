"""Where policy documents are: folders of this repository and pinned commits of others.

In: the Project and taugen.lock. Out: files to read, by source, in an order that only the Project and the names of files decide. Nothing is
dialled: a repository whose pinned commit is not in the cache is one finding that says what to run.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field

from taugen.diag import Diagnostic, Severity
from taugen.load.links import Outcome, resolve_link
from taugen.load.tree import LINK, SourceTree
from taugen.policy import lock, model
from taugen.policy.set import Item
from taugen.words import Path
from taugen.words.errors import shown


class Repositories(Protocol):
    """Where pinned policy repositories are read from."""

    def tree(self, url: str, commit: str) -> SourceTree | None:
        """The commit of a repository, None where it is not at hand. Never dials."""


class Source(Struct, frozen=True):
    """Files of one tree; `label` stands before their paths in findings, so that files of another repository are told apart."""

    tree: SourceTree
    label: str
    files: Sequence[str]


class Sources(Struct):
    """What can be read, the pinned commits by URL, and what is wrong with the rest."""

    listed: list[Source] = field(default_factory=list)
    pinned: dict[str, str] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)


def open_sources(tree: SourceTree, project: Item[model.Project], repositories: Repositories | None) -> Sources:
    """List the files of every source; a file that two sources name is read once."""
    out = Sources()
    locked = lock.read(tree)
    out.findings += locked.findings
    taken: set[tuple[str, str]] = set()
    for at, source in enumerate(project.spec.policy):
        path: Path = ("policy", at)
        if source.git is not None and source.path is None:
            reading = _pinned(project, (*path, "git", "url"), source.git, locked, repositories or lock.Cache(), out=out)
            label, folder, where = lock.label(source.git.url), source.git.path, (*path, "git", "path")
        elif source.path is not None and source.git is None:
            reading, label, folder, where = tree, "", source.path, (*path, "path")
        else:
            out.findings.append(_fault(project, path, "a source of policy is either path or git", "keep one of the two"))
            continue
        clean = _folder(project, where, folder, label, out)
        if reading is None or clean is None:
            continue
        files = [f for f in _files(reading, clean) if (label, f) not in taken]
        taken.update((label, f) for f in files)
        if not files:
            out.findings.append(_nothing(project, where, reading, clean))
        out.listed.append(Source(reading, label, files))
    out.findings += _unused(project, locked)
    return out


def _fault(project: Item[model.Project], path: Path, message: str, hint: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    return project.finding("policy-source", path, message, hint=hint, severity=severity)


def _folder(project: Item[model.Project], path: Path, folder: str, label: str, out: Sources) -> str | None:
    parts = [p for p in folder.split("/") if p not in {"", "."}]
    if folder.startswith("/") or ".." in parts:
        message = f"{shown(folder)} leaves the repository"
        out.findings.append(_fault(project, path, message, "write a path relative to its root, without .."))
        return None
    if not parts and not label:
        out.findings.append(_fault(project, path, "the whole repository can't be policy: runs stand in it too", "write path: policy"))
        return None
    return "/".join(parts)


def _files(tree: SourceTree, folder: str) -> list[str]:
    """The YAML files of a folder (or the one file that is named), links that stay inside the tree by the file they lead to."""
    prefix = f"{folder}/" if folder else ""
    listed = tree.documents(lambda p: p.endswith((".yaml", ".yml")) and (p.startswith(prefix) or p == folder))
    files: dict[str, None] = {}
    for path in listed:
        entry = tree.paths().get(path)
        led = resolve_link(tree, path) if entry is not None and entry.mode == LINK else None
        files[led.target if led is not None and led.outcome is Outcome.FILE else path] = None
    return list(files)


def _nothing(project: Item[model.Project], path: Path, tree: SourceTree, folder: str) -> Diagnostic:
    if folder and folder not in tree.folders():
        message = f"the folder {folder} does not exist"
        return _fault(project, path, message, "create it, or write the folder that holds the policy documents")
    message = f"{folder or 'the repository'} holds no policy documents"
    return _fault(project, path, message, "policy documents are .yaml files", Severity.WARNING)


def _pinned(
    project: Item[model.Project],
    path: Path,
    source: model.GitSource,
    locked: lock.Lock,
    repositories: Repositories,
    *,
    out: Sources,
) -> SourceTree | None:
    if (why := lock.refuse_url(source.url)) is not None:
        out.findings.append(_fault(project, path, *why))
        return None
    if not locked.readable:
        return None
    entry = locked.entry(source)
    if entry is None:
        out.findings.append(_fault(project, path, *locked.missing(source)))
        return None
    out.pinned[source.url] = entry.commit
    reading = repositories.tree(source.url, entry.commit)
    if reading is None:
        message = f"commit {entry.commit[:12]} of {lock.plain_url(source.url)}, pinned in {lock.FILE}, is not on this machine"
        hint = "run taugen lock to fetch it; if the repository no longer has that commit, taugen lock --update pins a newer one"
        out.findings.append(_fault(project, path, message, hint))
    return reading


def _unused(project: Item[model.Project], locked: lock.Lock) -> list[Diagnostic]:
    wanted = {(s.git.url, s.git.ref, s.git.path) for s in project.spec.policy if s.git is not None}
    found = []
    for at, (entry, span) in enumerate(zip(locked.entries, locked.spans, strict=True)):
        if (entry.url, entry.ref, entry.path) not in wanted:
            message = f"{lock.plain_url(entry.url)} ({entry.ref}) is pinned, but taugen.yaml does not use it"
            path = f"repositories[{at}]"
            found.append(Diagnostic("policy-lock", message, span, path=path, hint="run taugen lock", severity=Severity.WARNING))
    return found
