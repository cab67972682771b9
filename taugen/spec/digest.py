"""The intent of a run and its digest: what makes one run another (law 3).

In: a read document. Out: canonical JSON of what the user wrote and its sha256. Nothing may ever change the digest of a document that
somebody has published: not a new default, field, alias or version of a library. `tests/spec/golden_digests.json` pins examples for ever; a
change of meaning needs a new version word.

What counts, beyond the values themselves: the order of every list but `retry_on`, `fatal_exit_codes` and `tags`, which the model keeps
sorted; numbers in configs and hyperparameters as typed, with texts told from numbers there by a leading quote; an empty list, which says
"none" where policy has a default; `schema_version` only where it makes the document managed. Nothing and an empty mapping are one.
"""

from typing import Any

from pydantic import BaseModel
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from taugen.load.nodes import Document, plain
from taugen.spec.model import RunSpec
from taugen.words import Json, canonical

VERSION = "v1"
_OUTSIDE = ("description", "cancelled", "on_edit", "workspace")
_FREE = frozenset(("configs", "hyperparameters"))


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
        for term in policy.get("node_affinity") or ():
            if term.get("operator") == "In":
                del term["operator"]
    out = _pruned(data)
    _as_typed(document, out)
    out["intent"] = VERSION
    return out


def intent_digest(document: Document, spec: RunSpec, *, managed: bool) -> str:
    """sha256 of the intent's canonical JSON, 64 hex digits."""
    return canonical.digest(intent(document, spec, managed=managed))


def written(spec: BaseModel) -> dict[str, Any]:
    """The plain data of what was written, without defaults."""
    return spec.__pydantic_serializer__.to_python(spec, exclude_unset=True)  # type: ignore[no-any-return]


def _as_typed(document: Document, data: dict[str, Any]) -> None:
    execution = data.get("execution")
    if execution is not None and execution.get("configs"):
        below = _children(document.node(("execution", "configs")))
        execution["configs"] = {k: _typed(below.get(k), v, texts=isinstance(v, str)) for k, v in execution["configs"].items()}
    experiment = data.get("experiment")
    if experiment is not None:
        if experiment.get("hyperparameters"):
            experiment["hyperparameters"] = _typed(
                document.node(("experiment", "hyperparameters")), experiment["hyperparameters"], texts=False
            )
        if experiment.get("seed") is not None:
            experiment["seed"] = str(experiment["seed"])


def _children(node: Node | None) -> dict[str, Node]:
    """The values of a mapping by key; of two with one name the first. What is no name has a finding, and is nothing here."""
    pairs = reversed(node.value) if isinstance(node, MappingNode) else ()
    return {name.value: value for name, value in pairs if isinstance(name, ScalarNode)}


def _typed(node: Node | None, value: Any, *, texts: bool) -> Json:
    """The value with numbers as typed and texts behind a quote; `texts`: every scalar is text."""
    if isinstance(node, MappingNode) and isinstance(value, dict):
        return {name: _typed(item, value[name], texts=texts) for name, item in _children(node).items() if name in value}
    if isinstance(node, SequenceNode) and isinstance(value, list):
        return [_typed(item, part, texts=texts) for item, part in zip(node.value, value, strict=False)]
    if isinstance(node, ScalarNode):
        resolved: Json = node.value if node.style or texts else plain(node.value)
        if isinstance(resolved, str):
            return f'"{node.value}'
        return resolved if resolved is None or isinstance(resolved, bool) else str(node.value)
    return None


def _pruned(data: dict[str, Any]) -> dict[str, Any]:
    """Without what is nothing, at every level but inside free-form data."""
    out = {}
    for key, value in data.items():
        kept = value
        if value.__class__ is dict:
            kept = _pruned(value) if key not in _FREE else value
        elif value.__class__ is list and value and value[0].__class__ is dict:
            kept = [_pruned(item) for item in value]
        if kept is not None and kept != {}:
            out[key] = kept
    return out
