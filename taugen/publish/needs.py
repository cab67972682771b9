"""What live runs need of the platform, and what can therefore not be removed or renamed (law 5).

In: live runs and what policy provides now. Out: `Needs`: refusals that name object and run, and what has to stay as it is because of them:
the objects that these runs refer to and, where a whole workspace would lose its namespace, everything of the workspace.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from taugen.diag import Diagnostic, Span
from taugen.policy.set import Policy
from taugen.publish.state import Reference, RunState
from taugen.render.storage import claim_name
from taugen.render.types import Object, Rendered
from taugen.words import Json

RULE = "in-use"
On = tuple[str, Reference]
"""(cluster, object)."""
Doubt = Callable[[RunState, Reference], bool]
"""Whether policy errors leave open if the object that a run refers to is still wanted."""


class Needs(Struct):
    """`objects` (cluster, object) that stay; `workspaces` (cluster, workspace) of which everything stays; `namespaces` (cluster, namespace)
    that no queue may shut out; `blocked` says why a workspace gets no new runs."""

    refused: list[Diagnostic] = field(default_factory=list)
    objects: set[On] = field(default_factory=set)
    workspaces: set[tuple[str, str]] = field(default_factory=set)
    namespaces: set[tuple[str, str]] = field(default_factory=set)
    blocked: dict[str, str] = field(default_factory=dict)


def identity(obj: Mapping[str, Json]) -> Reference:
    """(kind, namespace, name) of an object."""
    metadata = obj.get("metadata")
    meta = metadata if isinstance(metadata, dict) else {}
    return str(obj.get("kind")), str(meta.get("namespace") or ""), str(meta.get("name"))


def provided(policy: Policy, rendered: Iterable[Rendered]) -> set[On]:
    """All that runs may refer to: what is rendered, claims that exist already, secrets that workspaces list."""
    found = {(item.path.partition("/")[0], identity(item.obj)) for item in rendered}
    for name, workspace in policy.workspaces.items():
        namespace = workspace.spec.namespace
        refs: list[Reference] = [("Secret", namespace, secret) for secret in workspace.spec.secrets]
        refs += [("PersistentVolumeClaim", namespace, claim_name(s)) for s in policy.storages.values() if name in s.spec.workspaces]
        found |= {(cluster, ref) for cluster in policy.clusters_of(name) for ref in refs}
    return found


def judge(live: Sequence[RunState], policy: Policy, there: set[On], doubt: Doubt, sources: Mapping[On, str]) -> Needs:
    """Refuse what would take something away from a live run.

    `there` is what is provided; `doubt` says of an object whether policy errors leave open if it is still wanted; `sources` is the policy
    file that an object came from.
    """
    out = Needs()
    lost: dict[tuple[str, str, str], list[RunState]] = {}
    for run in live:
        missing = [ref for ref in run.refs if (run.cluster, ref) not in there and not doubt(run, ref)]
        if not missing:
            continue
        out.objects |= {(run.cluster, ref) for ref in run.refs}
        whole, clusters = _whole(run, policy, missing)
        if whole:
            out.workspaces |= {(cluster, run.workspace) for cluster in clusters}
            out.blocked[run.workspace] = f"{whole} while its runs are live"
        out.namespaces |= {(cluster, name) for kind, _, name in run.refs if kind == "Namespace" for cluster in (*clusters, run.cluster)}
        source = next((sources[run.cluster, ref] for ref in missing if (run.cluster, ref) in sources), run.source)
        for what in [whole] if whole else [f"{_shown(ref)} can't be removed or renamed" for ref in missing]:
            lost.setdefault((source, run.cluster, what), []).append(run)
    out.refused = [_refusal(source, what, runs) for (source, _, what), runs in sorted(lost.items(), key=lambda item: item[0])]
    return out


def _whole(run: RunState, policy: Policy, missing: Sequence[Reference]) -> tuple[str, Sequence[str]]:
    """What goes, and on which clusters, where it takes the workspace's whole place away; else empty."""
    if run.cluster not in policy.clusters:
        return f"Cluster {run.cluster} can't leave the fleet", [run.cluster]
    namespace = next((name for kind, _, name in missing if kind == "Namespace"), None)
    if namespace is None:
        return "", []
    if run.workspace not in policy.workspaces:
        return f"Workspace {run.workspace} can't be removed", sorted(policy.clusters)
    if run.cluster not in policy.clusters_of(run.workspace):
        return f"Workspace {run.workspace} can't leave cluster {run.cluster}", [run.cluster]
    return f"Namespace {namespace} of workspace {run.workspace} can't be renamed", sorted(policy.clusters)


def _shown(ref: Reference) -> str:
    kind, namespace, name = ref
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _refusal(source: str, what: str, runs: Sequence[RunState]) -> Diagnostic:
    more = f" (and {len(runs) - 1} more)" if len(runs) > 1 else ""
    hint = f"`cancelled: true` in {runs[0].source}{more} ends it first; or keep what policy said before"
    return Diagnostic(RULE, f"{what}: the live run {runs[0].run_id}{more} needs it", Span(source), hint=hint)


def stands_on(obj: Object) -> Iterator[Reference]:
    """The objects of the platform that an object of Kueue refers to: what is kept needs them too."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    for key, kind in (("clusterQueue", "ClusterQueue"), ("cohortName", "Cohort"), ("parentName", "Cohort"), ("topologyName", "Topology")):
        if isinstance(name := spec.get(key), str):
            yield kind, "", name
    groups = spec.get("resourceGroups")
    for group in groups if isinstance(groups, list) else []:
        flavors = group.get("flavors") if isinstance(group, dict) else None
        for flavor in flavors if isinstance(flavors, list) else []:
            if isinstance(flavor, dict):
                yield "ResourceFlavor", "", str(flavor.get("name"))
