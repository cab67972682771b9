"""Applications never replace or force, apply on the server's side, and retry within bounds.

Replace and Force delete an object and make it anew, at every sync: running work dies. Client-side apply takes back what Kueue wrote. A
retry without bound keeps an Application on a bad commit, so that not even the commit that mends it is applied.

Breaks:

    target: {kind: Application, name: taugen-fjord-runs-.*}
    patch:
      spec: {syncPolicy: {syncOptions: [ServerSideApply=true, ApplyOutOfSyncOnly=true, RespectIgnoreDifferences=true, Replace=true]}}

Mends:

    target: {kind: Application, name: taugen-fjord-runs-.*}
    patch:
      spec: {syncPolicy: {syncOptions: [ServerSideApply=true, ApplyOutOfSyncOnly=true, RespectIgnoreDifferences=true, PruneLast=false]}}

Source: Argo CD docs/user-guide/sync-options.md, docs/user-guide/auto_sync.md
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render import meta
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import annotations, finding, is_run, items, mapping
from taugen.words import at

ID = "argocd-sync"
_DEADLY = ("Replace=true", "Force=true")
_NEEDED = ("ServerSideApply=true", "ApplyOutOfSyncOnly=true", "RespectIgnoreDifferences=true")
_MOST_RETRIES = 100


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        if is_run(item):
            continue  # `reconciler-annotations` looks at those
        own = str(annotations(item).get(meta.ARGO_OPTIONS, "")).replace(" ", "").split(",")
        for option in _DEADLY:
            if option in own:
                yield finding(ID, item, f"{option} deletes it and makes it anew at every sync")
        if item.kind == "Application":
            for message in _application(item):
                yield finding(ID, item, message)


def _application(item: Rendered) -> Iterator[str]:
    options = [str(option) for option in items(at(item.obj, "spec", "syncPolicy", "syncOptions"))]
    for option in _DEADLY:
        if option in options:
            yield f"{option} deletes objects and makes them anew at every sync"
    missing = [option for option in _NEEDED if option not in options]
    if missing:
        yield f"syncOptions lack {', '.join(missing)}"
    limit = at(item.obj, "spec", "syncPolicy", "retry", "limit")
    if not isinstance(limit, int) or not 0 <= limit <= _MOST_RETRIES:
        yield f"retry has no bound: limit is {limit}, and {_MOST_RETRIES} is the most"
    if at(item.obj, "spec", "source", "directory", "recurse") is not True:
        yield "source.directory.recurse is not true, so that nothing in subfolders is applied"
    if mapping(at(item.obj, "spec", "syncPolicy", "automated")).get("allowEmpty"):
        yield "allowEmpty lets it prune everything"
