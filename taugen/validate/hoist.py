"""Repeated parts of a schema, named once; and the bytes of a bundle.

In: a compacted schema, where a pod's template stands in full each time it is used. Out: the same schema with ``$defs``, a tenth of the
size, and its file. Never: an output that depends on the order of keys or of sources.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import copy
from typing import Any

from msgspec import Struct, field

from taugen.validate.bundles import Schema
from taugen.validate.dialect import JUNCTORS

# A definition smaller than its reference and the indirection at run time isn't worth a name.
HOIST_FROM = 160


def _children(node: Schema) -> Iterator[tuple[Any, Any, Schema, str]]:
    """(container, key, child, name) for each schema right below `node`, in a fixed order. `name` is what a definition would be called."""
    properties = node.get("properties", {})
    for key in sorted(properties):
        yield properties, key, properties[key], key
    for key in ("additionalProperties", "items", "not"):
        if isinstance(node.get(key), dict):
            yield node, key, node[key], {"additionalProperties": "value", "items": "item", "not": "not"}[key]
    for key in JUNCTORS:
        for index, child in enumerate(node.get(key, ())):
            yield node[key], index, child, key


class _Hoister(Struct):
    sizes: dict[str, int] = field(default_factory=dict)
    digests: dict[int, tuple[Schema, str]] = field(default_factory=dict)
    """By the node's id, which stays its own as long as the node is kept here."""
    uses: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    defs: dict[str, Schema] = field(default_factory=dict)

    def digest(self, node: Schema) -> str:
        """The same for equal schemas. Trees share nodes, so each is hashed once."""
        known = self.digests.get(id(node))
        if known is None:
            text = json.dumps(node, sort_keys=True, separators=(",", ":"))
            known = node, hashlib.sha256(text.encode()).hexdigest()
            self.digests[id(node)] = known
            self.sizes[known[1]] = len(text)
        return known[1]

    def count(self, node: Schema) -> None:
        """Count uses; below an equal schema seen before nothing is counted twice, as it will be there once."""
        for _, _, child, _ in _children(node):
            key = self.digest(child)
            self.uses[key] += 1
            if self.uses[key] == 1:
                self.count(child)

    def rewrite(self, node: Schema, name: str) -> Schema:
        """A copy whose repeated parts are references."""
        out: Schema = {key: copy(value) for key, value in node.items()}
        for container, key, child, step in _children(out):
            step_name = f"{name}.{step}" if step in ("item", "value", "not", *JUNCTORS) else step
            container[key] = self._place(child, step_name)
        return out

    def _place(self, child: Schema, name: str) -> Schema:
        key = self.digest(child)
        if self.uses[key] < 2 or self.sizes[key] < HOIST_FROM:
            return self.rewrite(child, name)
        if key not in self.names:
            taken = self.names.values()
            name = re.sub(r"[^A-Za-z0-9.-]", "_", name)
            self.names[key] = next(n for n in (name, *(f"{name}-{i}" for i in range(2, 9999))) if n not in taken)
            self.defs[self.names[key]] = self.rewrite(child, name)
        return {"$ref": f"#/$defs/{self.names[key]}"}


def hoist(root: Schema) -> Schema:
    """Name what occurs more than once under ``$defs``. Equal input gives equal output, whatever the order of its keys."""
    work = _Hoister()
    work.count(root)
    out = work.rewrite(root, "")
    if work.defs:
        out["$defs"] = work.defs
    return out


def dump(bundle: Schema) -> bytes:
    """The file's bytes: keys sorted, no blanks, a line for each top-level key and definition: a new release can be read as a diff."""

    def line(value: object) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    rows = []
    for key in sorted(bundle):
        if key == "$defs":
            inner = ",\n".join(f"{line(name)}:{line(bundle[key][name])}" for name in sorted(bundle[key]))
            rows.append(f'"$defs":{{\n{inner}\n}}')
        else:
            rows.append(f"{line(key)}:{line(bundle[key])}")
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()
