"""The volumes of a run restore each file of its ConfigMap to a path that the kubelet takes.

A key that is missing keeps the pods from starting; a path must not begin with `..`, leave the volume or stand twice.

Breaks:

    target: {kind: ConfigMap}
    patch: {data: {launch.sh: null}}

Mends:

    target: {kind: ConfigMap}
    patch: {metadata: {labels: {lab.example/code: "yes"}}}

Source: Kubernetes core validation (validateKeyToPath, ValidateConfigMap)
"""

import re
from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.words import Json, Path
from taugen.words.regex import regex

ID = "configmap-items"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    keys: dict[str, set[str]] = {}
    for item in objects:
        if item.kind == "ConfigMap":
            keys[item.name] = {*_pods.mapping(item.obj.get("data")), *_pods.mapping(item.obj.get("binaryData"))}
    for pod in _pods.pods(objects):
        for at, volume in enumerate(_pods.sequence(pod.spec.get("volumes"))):
            source = _pods.mapping(_pods.mapping(volume).get("configMap"))
            name = source.get("name")
            if isinstance(name, str) and name in keys:
                yield from _items(pod, ("spec", "volumes", at, "configMap", "items"), source, keys[name])


def _items(pod: Pod, path: Path, source: Object, keys: set[str]) -> Iterator[Diagnostic]:
    if _plain(source.get("items"), keys):
        return
    seen: set[Json] = set()
    for at, value in enumerate(_pods.sequence(source.get("items"))):
        item = _pods.mapping(value)
        key, place = item.get("key"), item.get("path")
        if not isinstance(key, str) or not isinstance(place, str):
            continue
        if key not in keys:
            yield pod.finding(ID, (*path, at, "key"), f"the ConfigMap {source['name']} has no key {key}")
        if place in seen:
            yield pod.finding(ID, (*path, at, "path"), f"{place} stands twice")
        elif place.startswith(("/", "..")) or "/../" in place or place.endswith("/.."):
            message = f"{place} is no path that the kubelet takes: it begins with .. or leaves the volume"
            yield pod.finding(ID, (*path, at, "path"), message, "rename the file, or deliver the code by git")
        seen.add(place)


def _plain(items: Json, keys: set[str]) -> bool:
    """Whether there is nothing to find, at a glance."""
    try:
        places = [item["path"] for item in items]  # type: ignore[union-attr,index,call-overload]
        return (
            keys.issuperset([item["key"] for item in items])  # type: ignore[union-attr,index,call-overload]
            and len(set(places)) == len(places)
            and not _ODD.search("\n".join(places))  # type: ignore[arg-type]
        )
    except (KeyError, TypeError):
        return False


_ODD = regex(r"^[/.]|/\.\.", re.MULTILINE)
