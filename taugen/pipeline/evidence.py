"""The evidence branch of a project, for those that act on it.

In: a commit of the sources whose taugen.yaml was read, where it publishes to. Out: the evidence branch, and whose word on it counts. What
must never happen: evidence judged by uncommitted policy, a cluster without readable policy whose word counts.
"""

from collections.abc import Mapping, Sequence

from taugen.advance.trust import Trust
from taugen.diag import Refused
from taugen.evidence import keys as signatures
from taugen.evidence import store
from taugen.evidence.store import Branch
from taugen.load import fastimport, git
from taugen.pipeline.source import Reading
from taugen.publish.target import Target


def find(reading: Reading, target: Target) -> Branch:
    """The evidence branch. Without a URL of its own it is looked for in this repository and, where that is another, on the target's remote.

    Raises `Refused` (exit 4) if a remote can't be reached.
    """
    place = reading.project.evidence
    here = store.find(reading.repo, place)
    if place.url or target.remote is None:
        return here
    try:
        there = fastimport.fetch(reading.repo, target.remote, f"refs/heads/{place.branch}")
    except git.GitError as error:
        raise Refused(f"evidence can't be looked for: {error}", hint="check the address and the credentials", code=4) from None
    if there is None or (here.tip is not None and git.is_ancestor(reading.repo, there, here.tip)):
        return here
    return Branch(reading.repo, there)


def trust(reading: Reading, branch: Branch) -> Trust:
    """Whose word counts, by the policy of the commit. Of a cluster that it doesn't have, or whose document can't be read, nobody's does."""
    return Trust(branch, reading.project.evidence, keys(reading), signatures.signed_by)


def keys(reading: Reading) -> Mapping[str, Sequence[str]]:
    """The keys that sign evidence, by cluster; none for a cluster of which policy lists none."""
    collectors = {name: cluster.spec.collector for name, cluster in reading.whole.policy.clusters.items()}
    return {name: tuple(collector.keys) if collector is not None else () for name, collector in collectors.items()}
