"""Branches have names that git takes.

A name that git refuses stops the publish, or the engine in the cluster, and not the pull request that brought it.

Breaks:

    kind: Project
    metadata: {name: tern}
    spec:
      output: {branch: "deploy tree"}

Mends:

    kind: Project
    metadata: {name: tern}
    spec:
      output: {branch: deploy}

Source: git-check-ref-format(1)
"""

from collections.abc import Iterator
from typing import Any

from taugen.diag import Diagnostic
from taugen.policy.set import Item, Policy
from taugen.words import Path
from taugen.words.errors import shown
from taugen.words.regex import regex

ID = "branch-name"

_BAD = regex(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|^-|\.$|^@$|(?:^|/)\.|\.lock(?:/|$)")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item, path, name in _branches(policy):
        if _BAD.search(name) or name == "HEAD":
            message = f"{shown(name)} is no name of a branch"
            yield item.finding(ID, path, message, hint="write letters, digits, -, _ and /, such as deploy")
        elif name.startswith("refs/"):
            yield item.finding(ID, path, f"{name} is a whole ref", hint=f"write {name.removeprefix('refs/heads/')}")


def _branches(policy: Policy) -> Iterator[tuple[Item[Any], Path, str]]:
    project = policy.project
    yield project, ("output", "branch"), project.spec.output.branch
    yield project, ("evidence", "branch"), project.spec.evidence.branch
    for cluster in policy.each("Cluster"):
        yield cluster, ("gitops", "branch"), cluster.spec.gitops.branch
