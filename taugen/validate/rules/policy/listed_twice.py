"""Nothing stands twice in one list of names.

A name that is listed twice is a copy that was meant to be changed, and where Kubernetes keeps lists as sets the object is refused.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      clusters: [mesa, mesa]
      nodeLabels: {tern.example/nodes: general}

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      clusters: [mesa]
      nodeLabels: {tern.example/nodes: general}

Source: Kubernetes validation of set lists; Kueue CRDs (admissionChecks, listType map)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.words import Path

ID = "listed-twice"

_SETS = {("Queue", ("admissionChecks",))}
"""Lists that the API server keeps by name: it refuses one that holds a name twice."""

_LISTS: tuple[tuple[str, Path], ...] = (
    ("Cluster", ("overlays",)),
    ("Flavor", ("clusters",)),
    ("Platform", ("images", "allow")),
    ("Platform", ("code", "allow")),
    ("Profile", ("kinds",)),
    ("Profile", ("applies", "workspaces")),
    ("Profile", ("applies", "teams")),
    ("Profile", ("applies", "lanes")),
    ("Queue", ("admissionChecks",)),
    ("Queue", ("clusters",)),
    ("Storage", ("claim", "accessModes")),
    ("Storage", ("workspaces",)),
    ("Workspace", ("clusters",)),
    ("Workspace", ("owners", "groups")),
    ("Workspace", ("owners", "users")),
    ("Workspace", ("viewers", "groups")),
    ("Workspace", ("viewers", "users")),
    ("Workspace", ("profiles",)),
    ("Workspace", ("secrets",)),
    ("Workspace", ("storage",)),
)


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for kind, path in _LISTS:
        severity = Severity.ERROR if (kind, path) in _SETS else Severity.WARNING
        for item in policy.each(kind):
            values = item.spec
            for part in path:
                values = getattr(values, str(part))
            seen: dict[str, int] = {}
            for at, value in enumerate(values or ()):
                first = seen.setdefault(value, at)
                if first != at:
                    origin = item.span((*path, first))
                    message = f"{value} stands in this list already"
                    yield item.finding(ID, (*path, at), message, hint="remove it", severity=severity, origin=origin)
