"""Policy from files: taugen.yaml, the folders and the pinned Git repositories that it names.

In: a source tree. Out: `Policy` and every finding of every policy file. What must never happen: a connection (pinned repositories are
read from the cache that `taugen lock` fills), a result that depends on the order of files, a document that is left out without a word.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from taugen import __version__
from taugen.diag import Diagnostic, Span, has_errors
from taugen.load import nodes
from taugen.load.tree import SourceTree, Unreadable
from taugen.policy import documents, model
from taugen.policy.digest import policy_digest
from taugen.policy.documents import Parsed
from taugen.policy.heads import ANY, Key, guess, unread
from taugen.policy.set import FIELDS, Item, Policy
from taugen.policy.sources import Repositories, open_sources
from taugen.words import names

ROOT_FILE = "taugen.yaml"
MAX_FILE = 1024 * 1024  # bytes of one policy file


def load_project_file(tree: SourceTree, root_file: str = ROOT_FILE) -> tuple[Item[model.Project] | None, list[Diagnostic]]:
    """Read the Project alone; None if it can't be read."""
    found: list[Diagnostic] = []
    parsed = _project(tree, root_file, found)
    return None if parsed is None else parsed.item, found


def load_policy(
    tree: SourceTree, *, root_file: str = ROOT_FILE, repositories: Repositories | None = None
) -> tuple[Policy | None, list[Diagnostic]]:
    """Read all policy; None only if nothing of the Project can be read: without what is wrong in it the rest is looked at all the same.
    `repositories` is where pinned ones are; left out: the user's cache."""
    found: list[Diagnostic] = []
    parsed_project = _project(tree, root_file, found)
    project = None if parsed_project is None else parsed_project.item or parsed_project.partial
    if parsed_project is None or project is None:
        return None, found
    sources = open_sources(tree, project, repositories)
    if parsed_project.item is None and has_errors(sources.findings):
        return None, found  # what could not be read may have said where policy is
    found += sources.findings
    parsed: list[Parsed] = []
    hidden: set[Key] = {ANY} if has_errors(sources.findings) else set()
    for source in sources.listed:
        source.tree.prefetch(source.files)
        for path in source.files:
            parsed += _read_file(source.tree, path, source.label + path, found, hidden)
    return replace(_assemble(project, parsed, sources.pinned, found), hidden=frozenset(hidden)), found


def with_overlays(policy: Policy, overlay_texts: Mapping[str, str]) -> Policy:
    """The same policy with the digest that the texts of its overlays belong to."""
    items = [item for kind in ("Platform", *FIELDS) for item in policy.of(kind).values()]
    return replace(policy, digest=_digest(items, overlay_texts))


def _digest(items: Iterable[Item[Any]], overlay_texts: Mapping[str, str]) -> str:
    return policy_digest(((i.kind, i.name, i.document.data.get("spec")) for i in items), overlay_texts, __version__)


def _read_file(tree: SourceTree, path: str, label: str, found: list[Diagnostic], hidden: set[Key]) -> list[Parsed]:
    """The documents of a file; `hidden` gets what those may be that could not be read."""
    try:
        raw = tree.read(path, MAX_FILE)
    except Unreadable as error:
        hint = "split it into several files" if "bytes" in error.why else "a policy file is a regular, readable file"
        found.append(Diagnostic("policy-file", f"this policy file {error.why}", Span(label), hint=hint))
        hidden.add(ANY)
        return []
    parsed = []
    read, faults = nodes.parse(label, raw)
    found += faults
    if faults:
        hidden |= unread(raw.decode("utf-8", "replace"), read)
    for document in read:
        one, more = documents.read(document)
        found += more
        if more and (one is None or not names.is_dns1123_label(one.name)):
            hidden.add(guess(document))
        if one is not None:
            parsed.append(one)
    return parsed


def _project(tree: SourceTree, root_file: str, found: list[Diagnostic]) -> Parsed | None:
    parsed = _read_file(tree, root_file, root_file, found, set())
    projects = [p for p in parsed if p.kind == "Project"]
    for other in parsed:
        if other.kind != "Project":
            message = f"{root_file} holds the Project; a {other.kind} belongs in a policy folder"
            span = other.document.span(("kind",))
            found.append(Diagnostic("policy-project", message, span, path="kind", hint="move the document to policy/"))
    for second in projects[1:]:
        message = f"{root_file} holds a second Project"
        span, origin = second.document.span(("metadata", "name")), projects[0].document.span(("metadata", "name"))
        found.append(Diagnostic("policy-project", message, span, path="metadata.name", hint="keep one", origin=origin))
    if not projects and not found:
        hint = f"start it with apiVersion: {model.API_VERSION} and kind: Project"
        found.append(Diagnostic("policy-project", f"{root_file} holds no Project", Span(root_file), hint=hint))
    return projects[0] if projects else None


def _assemble(project: Item[model.Project], parsed: list[Parsed], pinned: Mapping[str, str], found: list[Diagnostic]) -> Policy:
    first: dict[tuple[str, str], Parsed] = {}
    broken: set[tuple[str, str]] = set()
    for one in parsed:
        earlier = first.setdefault((one.kind, "" if one.kind == "Platform" else one.name), one)
        if one.item is None:
            broken.add((one.kind, one.name))
        if one.kind == "Project":
            message = "a Project stands in taugen.yaml, not in a policy folder"
            span = one.document.span(("kind",))
            found.append(Diagnostic("policy-project", message, span, path="kind", hint="remove this document"))
        elif earlier is not one and (one.name or one.kind == "Platform"):
            found.append(_twice(earlier, one))
    ordered = sorted(first.items(), key=lambda entry: entry[0])
    items: dict[str, dict[str, Item[Any]]] = {kind: {} for kind in FIELDS}
    for (kind, name), one in ordered:
        if kind in FIELDS and one.item is not None:
            items[kind][name] = one.item
    policy = Policy(
        project=project,
        platform=first[("Platform", "")].item if ("Platform", "") in first else None,
        clusters=items["Cluster"],
        flavors=items["Flavor"],
        topologies=items["Topology"],
        cohorts=items["Cohort"],
        queues=items["Queue"],
        tiers=items["PriorityTier"],
        profiles=items["Profile"],
        workspaces=items["Workspace"],
        storages=items["Storage"],
        health=items["HealthPolicy"],
        broken=frozenset(broken),
        partial=tuple(one.partial for _, one in ordered if one.partial is not None),
        sources=dict(pinned),
    )
    return with_overlays(policy, {})


def _twice(first: Parsed, second: Parsed) -> Diagnostic:
    path = ("metadata", "name")
    there = first.document.span(path)
    message = f"{second.kind} {second.name} exists already, in {there}"
    hint = "rename one of the two, or remove it"
    if second.kind == "Platform":
        message, hint = f"there is one Platform, and it stands in {there}", "move what this one says there"
    return Diagnostic("policy-duplicate", message, second.document.span(path), path="metadata.name", hint=hint, origin=there)
