"""The intent of a run and its digest: what makes one run another (law 3).

In: a read document. Out: canonical JSON of what the user wrote and its sha256. Nothing may ever change the digest of a document that
somebody has published: not a new default, field, alias or version of a library. `tests/spec/golden_digests.json` pins examples for ever; a
change of meaning needs a new version word.

What counts, beyond the values themselves: order counts in args, a command, pip, code.include and code.exclude, extra_scripts and within
configs and hyperparameters; elsewhere a list is a set. Numbers in configs and hyperparameters count as typed, texts are told from numbers
there by a leading quote. `schema_version` counts only where it makes the document managed. Nothing, an empty mapping and an empty list are
one.
"""

from typing import Any, cast

from pydantic import BaseModel
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from taugen.load.nodes import Document, plain
from taugen.spec.model import RunSpec
from taugen.words import Json, canonical

VERSION = "v1"
_OUTSIDE = ("description", "cancelled", "on_edit", "workspace")
_SETS = (("resilience", "retry_on"), ("resilience", "fatal_exit_codes"), ("metrics", "history"), ("model", "tags"))
_NAMED = (("storage", "mounts"), ("storage", "image_assets"))


def intent(document: Document, spec: RunSpec, *, managed: bool) -> dict[str, Json]:
    """What the user wrote, in canonical form."""
    data = written(spec)
    for name in _OUTSIDE:
        data.pop(name, None)
    if not managed:
        data.pop("schema_version", None)
    if data.get("generation") == 1:
        del data["generation"]
    policy = data.get("policy")
    if policy is not None:
        policy.pop("namespace", None)
        if policy.get("queue") == "auto":
            del policy["queue"]
        if policy.get("node_affinity"):
            policy["node_affinity"] = sorted(map(_term, policy["node_affinity"]), key=canonical.jcs)
    _unordered(data)
    _as_typed(document, data)
    out = cast("dict[str, Json]", _pruned(data))
    out["intent"] = VERSION
    return out


def intent_digest(document: Document, spec: RunSpec, *, managed: bool) -> str:
    """sha256 of the intent's canonical JSON, 64 hex digits."""
    return canonical.digest(intent(document, spec, managed=managed))


def written(spec: BaseModel) -> dict[str, Any]:
    """The plain data of what was written, without defaults."""
    return spec.__pydantic_serializer__.to_python(spec, exclude_unset=True)  # type: ignore[no-any-return]


def _term(term: dict[str, Any]) -> dict[str, Any]:
    out = {key: value for key, value in term.items() if not (key == "operator" and value == "In")}
    if out.get("values"):
        out["values"] = sorted(set(out["values"]))
    return out


def _unordered(data: dict[str, Any]) -> None:
    for section, key in _SETS:
        there = data.get(section)
        if there is not None and there.get(key):
            there[key] = sorted(set(there[key]))
    for section, key in _NAMED:
        there = data.get(section)
        if there is not None and there.get(key):
            there[key] = sorted(there[key], key=lambda item: str(item["name"]))


def _as_typed(document: Document, data: dict[str, Any]) -> None:
    execution = data.get("execution")
    if execution is not None and execution.get("configs"):
        node = document.node(("execution", "configs"))
        execution["configs"] = {k: _typed(_child(node, k), v, texts=isinstance(v, str)) for k, v in execution["configs"].items()}
    experiment = data.get("experiment")
    if experiment is not None:
        if experiment.get("hyperparameters"):
            experiment["hyperparameters"] = _typed(
                document.node(("experiment", "hyperparameters")), experiment["hyperparameters"], texts=False
            )
        if experiment.get("seed") is not None:
            experiment["seed"] = str(experiment["seed"])


def _child(node: Node | None, key: str) -> Node | None:
    if isinstance(node, MappingNode):
        return next((value for name, value in node.value if name.value == key), None)
    return None


def _typed(node: Node | None, value: Any, *, texts: bool) -> Json:
    """The value with numbers as typed and texts behind a quote; `texts`: every scalar is text."""
    if isinstance(node, MappingNode) and isinstance(value, dict):
        return {key.value: _typed(item, value[key.value], texts=texts) for key, item in node.value if key.value in value}
    if isinstance(node, SequenceNode) and isinstance(value, list):
        return [_typed(item, part, texts=texts) for item, part in zip(node.value, value, strict=False)]
    if isinstance(node, ScalarNode):
        resolved: Json = node.value if node.style or texts else plain(node.value)
        if isinstance(resolved, str):
            return f'"{node.value}'
        return resolved if resolved is None or isinstance(resolved, bool) else str(node.value)
    return None


def _pruned(value: Any) -> Any:
    """Without what is empty: nothing, no keys and no items are one."""
    if value.__class__ is dict:
        out = {}
        for key, item in value.items():
            kept = _pruned(item)
            if kept is not None and kept not in ({}, []):
                out[key] = kept
        return out
    return value
