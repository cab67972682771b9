"""Labels that a run's objects carry beside taugen's own.

In: the document's labels, team and lane, the workspace's defaults. Out: legal label values; an illegal one is mended deterministically, never refused.
"""

from collections.abc import Mapping

from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.words import names

TEAM, LANE = "taugen.dev/team", "taugen.dev/lane"


def labels(report: Report, workspace: WorkspaceContext) -> Mapping[str, str]:
    """Defaults, then the document's; sorted by key."""
    spec = report.doc.spec
    policy = spec.policy
    if spec.labels is None and (policy is None or (policy.team is None and policy.lane is None)):
        return workspace.labels
    found = dict(workspace.labels)
    found |= {key: names.label_value(value) for key, value in (spec.labels or {}).items()}
    if policy is not None and policy.team is not None:
        found[TEAM] = names.label_value(policy.team)
    if policy is not None and policy.lane is not None:
        found[LANE] = names.label_value(policy.lane)
    return {key: found[key] for key in sorted(found)}
