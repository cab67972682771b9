"""Repositories have URLs that their readers take, without passwords.

The engine in the cluster and publish reach the deploy tree by these URLs. Flux takes https, http and ssh URLs only, not the short form
git@host:path. A password in one would stand in Git and in the cluster for everybody.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: git@git.tern.example:platform/fleet.git

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: ssh://git@git.tern.example/platform/fleet.git

Source: Flux GitRepository CRD (url pattern); Argo CD docs, private repositories
"""

from collections.abc import Iterator
from typing import Any

from taugen.diag import Diagnostic
from taugen.policy.lock import plain_url
from taugen.policy.set import Item, Policy
from taugen.words import Path
from taugen.words.regex import regex

ID = "git-url"

_URL = regex(r"(?:https?|ssh)://[^\s/@]*@?[^\s/@]+/\S*")
_SCP = regex(r"([\w.-]+@[\w.-]+):(?!/)(\S+)")
_LOCAL = regex(r"(?:file://)?/\S+")
_PASSWORD = regex(r"(?:https?://[^/@]+@)|(?:ssh://[^/@]+:[^/@]*@)")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item, path, url, engine in _urls(policy):
        short = _SCP.fullmatch(url)
        if _PASSWORD.match(url):
            message = f"{plain_url(url)} carries a user name or a password"
            hint = "leave it out; the engine has credentials of its own" if engine else "leave it out; git's credential helper knows it"
            yield item.finding(ID, path, message, hint=hint)
        elif engine == "flux" and short is not None:
            yield item.finding(ID, path, "the short form of an ssh URL is not for Flux", hint=f"write ssh://{short[1]}/{short[2]}")
        elif not (_URL.fullmatch(url) or short or _LOCAL.fullmatch(url)):
            yield item.finding(
                ID, path, "this is no URL of a Git repository", hint="write https://HOST/PATH.git or ssh://git@HOST/PATH.git"
            )


def _urls(policy: Policy) -> Iterator[tuple[Item[Any], Path, str, str]]:
    """URLs with the engine that reads them; empty for publish itself."""
    project = policy.project
    for field in ("output", "evidence"):
        url = getattr(project.spec, field).url
        if url is not None:
            yield project, (field, "url"), url, ""
    for cluster in policy.each("Cluster"):
        yield cluster, ("gitops", "url"), cluster.spec.gitops.url, cluster.spec.gitops.engine
        if cluster.spec.collector is not None and cluster.spec.collector.url is not None:
            yield cluster, ("collector", "url"), cluster.spec.collector.url, ""
