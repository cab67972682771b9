"""Where policy documents are: folders of this repository and pinned commits of others.

In: the Project and taugen.lock. Out: files to read, by source, in an order that only the Project and the names of files decide. Nothing is dialled: a repository
whose pinned commit is not in the cache is one finding that says what to run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from taugen.diag import Diagnostic, Severity
from taugen.load.links import Outcome, resolve_link
from taugen.load.tree import LINK, SourceTree
from taugen.policy import lock, model
from taugen.policy.set import Item
from taugen.words import Path, dotted
from taugen.words.errors import shown


class Repositories(Protocol):
    """Where pinned policy repositories are read from."""

    def tree(self, url: str, commit: str) -> SourceTree | None:
        """The commit of a repository, None where it is not at hand. Never dials."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one tree; `label` stands before their paths in findings, so that files of another repository are told apart."""

    tree: SourceTree
    label: str
    files: Sequence[str]


def open_sources(
    tree: SourceTree, project: Item[model.Project], repositories: Repositories | None
) -> tuple[list[Source], dict[str, str], list[Diagnostic]]:
    """The sources that can be read, the pinned commits by URL, and what is wrong with the others."""
    found: list[Diagnostic] = []
    sources: list[Source] = []
    pinned: dict[str, str] = {}
    locked = None
    taken: set[tuple[str, str]] = set()
    for at, source in enumerate(project.spec.policy):
        path: Path = ("policy", at)
        if (source.path is None) == (source.git is None):
            found.append(_fault(project, path, "a source of policy is either path or git", "keep one of the two"))
            continue
        label, folder, where = "", source.path or "", (*path, "path")
        reading: SourceTree | None = tree
        if source.git is not None:
            if locked is None:
                locked = lock.read(tree)
                found += locked.findings
            reading, label = (
                _pinned(project, at, source.git, locked, repositories or lock.Cache(), pinned, found),
                lock.label(source.git.url),
            )
            folder, where = source.git.path, (*path, "git", "path")
        if reading is not None and (clean := _folder(project, where, folder, label, found)) is not None:
            files = [f for f in _files(reading, clean) if (label, f) not in taken]
            taken.update((label, f) for f in files)
            if not files:
                found.append(_nothing(project, where, reading, clean))
            sources.append(Source(reading, label, files))
    found += _unused(project, locked, tree)
    return sources, pinned, found


def _fault(project: Item[model.Project], path: Path, message: str, hint: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic("policy-source", message, project.span(path), path=dotted(("spec", *path)), hint=hint, severity=severity)


def _folder(project: Item[model.Project], path: Path, folder: str, label: str, found: list[Diagnostic]) -> str | None:
    parts = [p for p in folder.split("/") if p not in {"", "."}]
    if folder.startswith("/") or ".." in parts:
        found.append(_fault(project, path, f"{shown(folder)} leaves the repository", "write a path below the folder of taugen.yaml"))
        return None
    if not parts and not label:
        found.append(_fault(project, path, "the whole repository can't be policy: runs stand in it too", "write path: policy"))
        return None
    return "/".join(parts)


def _files(tree: SourceTree, folder: str) -> list[str]:
    """The YAML files of a folder (or the one file that is named), links that stay inside the tree by the file they lead to."""
    prefix = f"{folder}/" if folder else ""
    listed = tree.documents(
        lambda p: (p.startswith(prefix) and p.endswith((".yaml", ".yml"))) or (p == folder and p.endswith((".yaml", ".yml")))
    )
    files: dict[str, None] = {}
    for path in listed:
        entry = tree.paths().get(path)
        if entry is not None and entry.mode == LINK:
            led = resolve_link(tree, path)
            path = led.target if led.outcome is Outcome.FILE else path  # noqa: PLW2901
        files[path] = None
    return list(files)


def _nothing(project: Item[model.Project], path: Path, tree: SourceTree, folder: str) -> Diagnostic:
    if folder and folder not in tree.folders():
        return _fault(
            project, path, f"the folder {folder} does not exist", "create it, or write the folder that holds the policy documents"
        )
    return _fault(
        project, path, f"{folder or 'the repository'} holds no policy documents", "policy documents are .yaml files", Severity.WARNING
    )


def _pinned(
    project: Item[model.Project],
    at: int,
    source: model.GitSource,
    locked: lock.Lock,
    repositories: Repositories,
    pinned: dict[str, str],
    found: list[Diagnostic],
) -> SourceTree | None:
    path: Path = ("policy", at, "git", "url")
    if (why := lock.refuse_url(source.url)) is not None:
        found.append(_fault(project, path, *why))
        return None
    if not locked.readable:
        return None
    entry = locked.entry(source)
    if entry is None:
        found.append(_fault(project, path, *locked.missing(source)))
        return None
    pinned[source.url] = entry.commit
    reading = repositories.tree(source.url, entry.commit)
    if reading is None:
        message = f"commit {entry.commit[:12]} of {lock.plain_url(source.url)}, pinned in {lock.FILE}, is not on this machine"
        hint = "run taugen lock to fetch it; if the repository no longer has that commit, taugen lock --update pins a newer one"
        found.append(_fault(project, path, message, hint))
    return reading


def _unused(project: Item[model.Project], locked: lock.Lock | None, tree: SourceTree) -> list[Diagnostic]:
    locked = locked if locked is not None else lock.read(tree)
    wanted = {(s.git.url, s.git.ref, s.git.path) for s in project.spec.policy if s.git is not None}
    return [
        Diagnostic(
            "policy-lock", f"{lock.plain_url(e.url)} ({e.ref}) is pinned, but taugen.yaml does not use it", span,
            path=f"repositories[{i}]", hint="run taugen lock", severity=Severity.WARNING,
        )
        for i, (e, span) in enumerate(zip(locked.entries, locked.spans, strict=True))
        if (e.url, e.ref, e.path) not in wanted
    ]  # fmt: skip
