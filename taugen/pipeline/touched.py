"""Which documents a change touches.

In: a project's place and what changed. Out: the project, open as far as needed, and the documents to judge: those that changed, those of
which the code changed, those whose code names a module that is new, and all of them where policy did. What must never happen: a document
whose verdict the change could alter left out.
"""

import sys
from collections.abc import Iterable, Sequence

from taugen.load import git
from taugen.load.glob import Matcher
from taugen.load.links import resolve_link
from taugen.load.root import Place
from taugen.load.since import Since
from taugen.load.tree import LINK, SourceTree, Unreadable
from taugen.pipeline.project import DOCUMENT_NAMES, Project, linked, open_place, policy_files, workspace_of
from taugen.resolve.code import CodePlan, plan, within
from taugen.spec.read import read_file

_ATTRIBUTES = ".gitattributes"
_RUNS = "workspaces/"
_MOST = 1 << 20
"""Bytes of a document that are looked at here; one that is larger is refused when it is read."""


def touched(place: Place, ref: str | None, since: Since) -> tuple[Project, list[str] | None]:
    """The project and the documents that the change touches, None for all of them."""
    changed = since.paths()
    project = open_place(place, ref, near(changed), since)
    policy = policy_files(project.policy.project.spec)
    if place.trusted is None and any(path == where or path.startswith(where + "/") for path in changed for where in policy):
        return open_place(place, ref), None
    elsewhere = [path for path in changed if not path.startswith(_RUNS)]
    if place.trusted is None and changed and linked(project.tree, policy):
        return project, None
    if any(path.rpartition("/")[2] == _ATTRIBUTES for path in elsewhere):
        return open_place(place, ref), None
    if elsewhere and not all(pattern.startswith(_RUNS) for pattern in project.policy.project.spec.runs):
        project = open_place(place, ref)
    return project, documents(project.tree, project.matcher, changed | _importers(place, ref, project, changed, since.added))


def near(changed: Iterable[str]) -> list[str]:
    """The folders of the workspaces that paths belong to, and paths elsewhere that have a document's name."""
    found = set()
    for path in changed:
        workspace = workspace_of(path)
        if workspace:
            found.add(f"{_RUNS}{workspace}")
        elif path.rpartition("/")[2] in DOCUMENT_NAMES:
            found.add(path)
    return sorted(found)


def documents(tree: SourceTree, matcher: Matcher, changed: Iterable[str]) -> list[str]:
    """The documents among `changed`, and those whose code holds one of the others."""
    listed = tree.documents(matcher)
    paths = set(changed)
    picked = {path for path in listed if path in paths or any(other.startswith(path + "/") for other in paths)}
    code = _through_links(tree, {path for path in paths if not matcher(path)})
    folders = {folder for path in code for folder in _folders(path)}
    attributes = [path.rpartition("/")[0] for path in code if path.rpartition("/")[2] == _ATTRIBUTES]
    workspaces = {workspace_of(path) for path in code}
    for path in listed:
        if path in picked or workspace_of(path) not in workspaces:
            continue
        beside = path.rpartition("/")[0].removesuffix("/tau") in folders or path.rpartition("/")[0] in folders
        if beside or any(within(path, folder) for folder in attributes) or _reaches(tree, path, code):
            picked.add(path)
    return sorted(picked)


def _importers(place: Place, ref: str | None, project: Project, changed: Iterable[str], added: Iterable[str]) -> set[str]:
    """The sources in which the name of a module stands that the change brings to their workspace: they may import it, and their runs miss
    it. The sources beside a document that left are modules to others from now on."""
    left = {path.rpartition("/")[0] for path in changed if project.matcher(path) and path not in project.tree.paths()}
    new = {*added, *(path for folder in left for path in project.tree.below(folder))}
    names: dict[str, set[str]] = {}
    for path in new:
        if path.startswith(_RUNS) and path.endswith(".py"):
            found = {word for word in path[:-3].split("/")[-2:] if word.isidentifier() and word not in sys.stdlib_module_names}
            names.setdefault(_RUNS + workspace_of(path), set()).update(found)
    words = sorted(set[str]().union(*names.values()))
    if not words:
        return set()
    listed = [part for word in words for part in ("-e", word)]
    options = ("--no-recurse-submodules", "-l", "-z", "-w", "-F", *listed, *([] if ref is None else [git.resolve(place.root, ref)]))
    told = git.run(["-c", "grep.fullName=false", "grep", *options, "--", *sorted(names)], cwd=place.root, check=False).out
    paths = told.decode("utf-8", "surrogateescape").split("\0")[:-1]
    return {path for path in (path if ref is None else path.partition(":")[2] for path in paths) if path.endswith(".py")}


def _folders(path: str) -> Iterable[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def _through_links(tree: SourceTree, code: set[str]) -> set[str]:
    """The paths, and the links that lead to one of them, links to those links included."""
    if not code:
        return code
    workspaces = {workspace_of(path) for path in code}
    links = [path for path, entry in tree.paths().items() if entry.mode == LINK and workspace_of(path) in workspaces]
    if any(path in code for path in links):
        return code | set(links)
    ends = {path: resolve_link(tree, path).target for path in links}
    return code | {link for link, end in ends.items() if any(within(path, end) or within(end, path) for path in code)}


def _reaches(tree: SourceTree, path: str, code: set[str]) -> bool:
    """Whether a document that stands elsewhere names a folder or a file of `code`. Without two dots it can name only what is beside it."""
    try:
        raw = tree.read(path, _MOST)
    except Unreadable:
        return False
    if b".." not in raw and b"\\" not in raw:
        return False
    plans = [plan(doc) for doc in read_file(path, raw, workspace_of(path))[0]]
    return any(_covers(one, changed) for one in plans for changed in code)


def _covers(one: CodePlan, changed: str) -> bool:
    files = (*one.folders, *(extra.source for extra in one.extra), *([one.entrypoint] if one.entrypoint else ()))
    return any(within(changed, file) for file in files)


def rivals(project: Project, names: Iterable[tuple[str, str]], read: Sequence[str]) -> list[str]:
    """Documents beside those that were `read` which may have one of the names (workspace, name)."""
    wanted: dict[str, set[bytes]] = {}
    for workspace, name in names:
        # A name with a space may be written over two lines.
        wanted.setdefault(workspace, set()).add(b"" if " " in name else name.encode("utf-8", "surrogatepass"))
    done = set(read)
    found = []
    for path in project.documents():
        mine = wanted.get(workspace_of(path))
        if mine is None or path in done:
            continue
        try:
            raw = project.tree.read(path, _MOST)
        except Unreadable:
            continue
        if b"\\" in raw or any(name in raw for name in mine):
            found.append(path)
    return found
