"""Edits that Kueue can't take in place, each with the safe way.

In: the old and the new text of one platform file. Out: a refusal. The API server would refuse such an edit, and Flux or Argo CD would be
stuck on it, with everything else that they sync beside it.

Source: Kueue localqueue_types.go (`clusterQueue` is immutable), resourceflavor_webhook.go (with `topologyName`, node labels and topology
are), topology_types.go (`levels` are).
"""

from taugen.diag import Diagnostic, Span
from taugen.load.nodes import parse
from taugen.publish.state import Reference
from taugen.render import file
from taugen.words import Json

_FIELDS = {"LocalQueue": ("clusterQueue",), "ResourceFlavor": ("nodeLabels", "topologyName"), "Topology": ("levels",)}
_WAYS = {
    "LocalQueue": "give it another name in Workspace.spec.queues, and let runs name that one",
    "ResourceFlavor": "add a Flavor of another name, and put that one into the queues",
    "Topology": "add a Topology of another name, and a Flavor that names it",
}


def refused(ref: Reference, old: str, new: str) -> Diagnostic | None:
    """Why the new text can't replace the old one of the same object; None if it can."""
    kind, namespace, name = ref
    if kind not in _FIELDS:
        return None
    before, after = _spec(old), _spec(new)
    if kind == "ResourceFlavor" and not before.get("topologyName"):
        return None
    changed = [field for field in _FIELDS[kind] if before.get(field) != after.get(field)]
    if not changed:
        return None
    header = file.parse_header(new)
    shown = f"{namespace}/{name}" if namespace else name
    message = f"{kind} {shown} can't change its {' and '.join(changed)}: Kueue takes no such edit in place"
    return Diagnostic("field-immutable", message, Span(header.source if header else ""), hint=_WAYS[kind])


def _spec(text: str) -> dict[str, Json]:
    documents, _ = parse("", text.encode())
    spec = documents[0].data.get("spec") if documents else None
    return spec if isinstance(spec, dict) else {}
