"""Whose evidence counts.

In: files of the evidence branch, and the keys that policy lists for each cluster. Out: which files don't count, and who put them there. A
file counts only if the commit that put it there as it is was signed by a key of the run's own cluster; where policy lists no keys for a
cluster, its folder alone says whose it is. What must never happen: whoever may write for one cluster ends a run of another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from taugen.diag import Diagnostic, Span
from taugen.evidence.store import Branch, Where, complete
from taugen.publish.state import RunState

_LISTED = 20
"""Findings about commits; the rest is counted."""
Signed = Callable[[Path, Iterable[str], Sequence[str]], Mapping[str, bool]]
"""Which commits of a repository are signed by one of some SSH public keys."""


@dataclass
class Trust:
    """`keys` are the SSH public keys by cluster, of every cluster of the fleet. `refused` are files that don't count: the commit that put
    each there (empty if none can be found), and the run where it stands under another's cluster."""

    branch: Branch
    place: Where
    keys: Mapping[str, Sequence[str]]
    signed: Signed
    refused: dict[str, tuple[str, RunState | None]] = field(default_factory=dict)

    def unsigned(self, cluster: str, paths: Iterable[str]) -> set[str]:
        """Those of a run's files that don't count, each with a finding. Raises `Refused` if the branch's history is not all there."""
        keys = self.keys.get(cluster)
        if keys is not None and not keys:
            return set()
        wanted = list(dict.fromkeys(paths))
        if keys is None:
            return set(wanted)
        complete(self.branch, self.place)
        added = self.branch.added_by(wanted)
        good = self.signed(self.branch.repo, sorted(set(added.values())), keys)
        bad = {path for path in wanted if not good.get(added.get(path, ""), False)}
        self.refused.update({path: (added.get(path, ""), None) for path in bad})
        return bad

    def elsewhere(self, files: Mapping[str, RunState]) -> None:
        """Files that would end runs, under clusters where those were never placed."""
        added = self.branch.added_by(sorted(files)) if files else {}
        self.refused.update({path: (added.get(path, ""), state) for path, state in files.items()})

    @property
    def findings(self) -> list[Diagnostic]:
        """What was refused: a finding for each commit and cluster, by the first of its files."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for path, (commit, state) in sorted(self.refused.items()):
            found.setdefault((commit, path.partition("/")[0], state.run_id if state is not None else ""), []).append(path)
        out = [self.finding(commit, cluster, paths) for (commit, cluster, _), paths in found.items()]
        if len(out) > _LISTED:
            message = f"{len(out) - _LISTED} more commits put evidence there that does not count"
            out[_LISTED:] = [replace(out[_LISTED], message=message)]
        return out

    def finding(self, commit: str, cluster: str, paths: Sequence[str]) -> Diagnostic:
        """What one commit did."""
        by, what = f"commit {commit[:12]}" if commit else "a commit that can't be found", paths[0]
        what += f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        state = self.refused[paths[0]][1]
        if state is None:
            message = f"{what} was put there by {by}, which no key of cluster {cluster} signed: it does not count"
            hint = f"`taugen evidence verify` tells more; the keys stand in spec.collector.keys of Cluster {cluster}"
            return Diagnostic("evidence-forged", message, Span(paths[0]), hint=hint)
        message = f"{by} says under cluster {cluster} how {state.run_id} went, which runs on cluster {state.cluster}: it does not count"
        hint = "find out who wrote it; `taugen evidence verify` checks the whole branch"
        return Diagnostic("evidence-elsewhere", message, Span(paths[0]), hint=hint)


def no_cluster(state: RunState) -> Diagnostic:
    """Policy does not know the run's cluster: nobody can say whose evidence counts."""
    message = (
        f"evidence of {state.run_id} is left aside: policy has no Cluster {state.cluster} that can be read, so nobody's word on it counts"
    )
    hint = f"mend or bring back Cluster {state.cluster}, or end the run: `cancelled: true` in {state.source}"
    return Diagnostic("evidence-unjudged", message, Span(state.source), hint=hint)
