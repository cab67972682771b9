"""Whose evidence counts.

In: files of the evidence branch, and the keys that policy lists for each cluster. Out: which files don't count, and who put them there. A
file counts only if the commit that put it there as it is was signed by a key of the run's own cluster; where policy lists no keys for a
cluster, its folder alone says whose it is. What must never happen: whoever may write for one cluster ends a run of another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from taugen.diag import Diagnostic, Span
from taugen.evidence.store import Branch, Where, complete
from taugen.publish.state import RunState

Signed = Callable[[Path, Iterable[str], Sequence[str]], Mapping[str, bool]]
"""Which commits of a repository are signed by one of some SSH public keys."""


@dataclass
class Trust:
    """`keys` are the SSH public keys by cluster, of every cluster of the fleet. `findings` say what was refused, each file once."""

    branch: Branch
    place: Where
    keys: Mapping[str, Sequence[str]]
    signed: Signed
    findings: dict[str, Diagnostic] = field(default_factory=dict)

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
        for path in bad:
            by = f"commit {added[path][:12]}" if path in added else "a merge or no commit that can be found"
            message = f"{path} was put there by {by}, which no key of cluster {cluster} signed: it does not count"
            hint = f"`taugen evidence verify` tells more; the keys stand in spec.collector.keys of Cluster {cluster}"
            self.findings[path] = Diagnostic("evidence-forged", message, Span(path), hint=hint)
        return bad

    def elsewhere(self, files: Mapping[str, RunState]) -> None:
        """Files that would end runs, under clusters where those were never placed."""
        added = self.branch.added_by(sorted(files)) if files else {}
        for path, state in files.items():
            where = path.partition("/")[0]
            by = f"commit {added[path][:12]}" if path in added else "a commit that can't be found"
            message = f"{by} says under cluster {where} how {state.run_id} went, which runs on cluster {state.cluster}: it does not count"
            hint = "find out who wrote it; `taugen evidence verify` checks the whole branch"
            self.findings[path] = Diagnostic("evidence-elsewhere", message, Span(path), hint=hint)


def no_cluster(state: RunState) -> Diagnostic:
    """Policy does not know the run's cluster: nobody can say whose evidence counts."""
    message = (
        f"evidence of {state.run_id} is left aside: policy has no Cluster {state.cluster} that can be read, so nobody's word on it counts"
    )
    hint = f"mend or bring back Cluster {state.cluster}, or end the run: `cancelled: true` in {state.source}"
    return Diagnostic("evidence-unjudged", message, Span(state.source), hint=hint)
