"""What an error in policy holds back: itself and what needs it, never another workspace (DESIGN law 5).

In: the policy, its findings and the rendered platform. Out: the workspaces whose new runs wait, and the platform files that stay as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Item, Policy
from taugen.publish.platform import Held
from taugen.render.types import Rendered

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Scope:
    """`workspaces` whose new runs are held, `files` for the platform's part."""

    workspaces: frozenset[str]
    files: Held


def held(policy: Policy, findings: Iterable[Diagnostic], rendered: Sequence[Rendered]) -> Scope:
    """Decide from the errors among `findings`."""
    errors = [d for d in findings if d.severity is Severity.ERROR]
    if not errors:
        return Scope(frozenset(), Held())
    items = _items(policy)
    broken = set(policy.broken)
    for finding in errors:
        broken |= {(item.kind, item.name) for item in items if _within(finding, item)}
    sources = frozenset(d.span.file for d in errors)
    owners = {(r.path): {(item.kind, item.name) for item in items if r.span.file == item.document.file and _holds(item, r.span.line)} for r in rendered}
    paths = frozenset(path for path, keys in owners.items() if keys & broken)
    workspaces = frozenset(name for name in policy.workspaces if needs(policy, name) & broken)
    return Scope(workspaces, Held(sources, paths))


def needs(policy: Policy, workspace: str) -> set[Key]:
    """(kind, name) of every document that the runs of a workspace stand on."""
    spec = policy.workspaces[workspace].spec
    out: set[Key] = {("Workspace", workspace), ("Platform", policy.platform.name if policy.platform else ""), ("Project", policy.project.name)}
    out |= {("Cluster", name) for name in policy.clusters_of(workspace)}
    out |= {("Profile", name) for name in spec.profiles} | {("Storage", name) for name in spec.storage}
    for queue in spec.queues:
        out |= _queue(policy, queue.queue)
    return out


def _queue(policy: Policy, name: str) -> set[Key]:
    out: set[Key] = {("Queue", name)}
    item = policy.queues.get(name)
    if item is None:
        return out
    cohort = item.spec.cohort
    while cohort is not None and ("Cohort", cohort) not in out:
        out.add(("Cohort", cohort))
        parent = policy.cohorts.get(cohort)
        cohort = parent.spec.parent if parent is not None else None
    for quota in item.spec.quotas:
        out.add(("Flavor", quota.flavor))
        flavor = policy.flavors.get(quota.flavor)
        if flavor is not None and flavor.spec.topology:
            out.add(("Topology", flavor.spec.topology))
    return out


def _items(policy: Policy) -> list[Item[object]]:  # type: ignore[type-var]
    groups = (policy.clusters, policy.flavors, policy.topologies, policy.cohorts, policy.queues, policy.tiers, policy.profiles, policy.workspaces, policy.storages)
    out = [item for group in groups for item in group.values()]
    return [policy.project, *([policy.platform] if policy.platform else []), *out]  # type: ignore[list-item]


def _within(finding: Diagnostic, item: Item[object]) -> bool:  # type: ignore[type-var]
    return finding.span.file == item.document.file and _holds(item, finding.span.line)


def _holds(item: Item[object], line: int) -> bool:  # type: ignore[type-var]
    root = item.document.root
    return bool(root.start_mark.line < line <= root.end_mark.line + 1)
