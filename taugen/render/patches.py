"""One document of an overlay -> one patch.

In: a parsed document. Out: `Patch`, or findings at their places. A patch is either

    target: {kind: Job, name: "train-.*", labelSelector: taugen.dev/workspace=vision}
    patch:                       a mapping is a strategic merge, a list a JSON patch (RFC 6902), a text the YAML of one of them

all selected Jobs, JobSets and RayJobs (head, workers, submitter). A patch below `target` needs no name of its own and never renames; `path`
and `options` are refused.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from taugen.diag import Diagnostic
from taugen.load.nodes import Document, parse
from taugen.render import jsonpatch, selectors
from taugen.render.jsonpatch import Operation, PatchError
from taugen.render.selectors import SelectorError, Target
from taugen.render.types import Object
from taugen.words import Json, Path, dotted, suggest

KINDS = (
    "AppProject", "Application", "ClusterQueue", "Cohort", "ConfigMap", "GitRepository", "Job", "JobSet", "Kustomization", "LimitRange",
    "LocalQueue", "Namespace", "NetworkPolicy", "PersistentVolumeClaim", "RayJob", "ResourceFlavor", "ResourceQuota", "Role", "RoleBinding",
    "Service", "ServiceAccount", "Topology", "WorkloadPriorityClass",
)  # fmt: skip
"""Every kind that is rendered."""
POD_TEMPLATE = "PodTemplate"
_TARGET = ("group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector")
_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


class Patch(Struct, frozen=True):
    """`body` leads to the patch in its document (the whole path may end in a text); `merge` or `operations` is what it does."""

    number: int
    overlay: str
    shipped: bool
    document: Document
    body: Path
    target: Target
    merge: Object | None = None
    operations: tuple[Operation, ...] = ()

    @property
    def pods(self) -> bool:
        """Whether it patches pod templates."""
        return self.target.kind.pattern == POD_TEMPLATE

    def for_kind(self, kind: str) -> bool:
        """Whether objects of a kind can be meant."""
        if self.pods:
            return kind in {"Job", "JobSet", "RayJob"}
        return self.target.kind.fullmatch(kind) is not None

    def finding(self, rule: str, message: str, path: Path = (), hint: str = "") -> Diagnostic:
        """A finding at a place of the patch."""
        return _finding(self.document, rule, (*self.body, *path), message, hint)


def _finding(document: Document, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False) -> Diagnostic:
    return Diagnostic(rule, message, document.span(path, key=key), path=dotted(path), hint=hint)


def read(document: Document, overlay: str, number: int, *, shipped: bool) -> tuple[Patch | None, list[Diagnostic]]:
    """Read one document."""
    found = _traps(document)
    data = document.data
    if data.get("kind") in {"Kustomization", "Component"}:
        hint = "write each of its patches as a document of its own; resources and generators have no counterpart"
        return None, [*found, _finding(document, "overlay-patch", ("kind",), "an overlay holds patches, not a kustomization", hint)]
    partial = "patch" not in data and "target" not in data
    base: Path = () if partial else ("patch",)
    target = _partial(document, found) if partial else _target(document, found)
    body = data if partial else _body(document, found)
    merge, operations = _content(document, body, base, found, pods=target is not None and target.kind.pattern == POD_TEMPLATE)
    if found or target is None:
        return None, found
    return Patch(number, overlay, shipped, document, base, target, merge, operations), []


def _traps(document: Document) -> list[Diagnostic]:
    return [
        _finding(document, "yaml-trap", path, f"{text} without quotes is {kind} to many YAML readers", f'quote it: "{text}"')
        for path, text, kind in document.traps
    ]


def _partial(document: Document, found: list[Diagnostic]) -> Target | None:
    """The target of a partial object: exactly that kind and name, and what else it says of itself."""
    data = document.data
    kind, metadata = data.get("kind"), data.get("metadata")
    meta = metadata if isinstance(metadata, dict) else {}
    name, namespace = meta.get("name"), meta.get("namespace")
    if not isinstance(kind, str) or not isinstance(name, str):
        missing = "kind" if not isinstance(kind, str) else "metadata.name"
        hint = "write target: and patch:, or a partial object with kind and metadata.name"
        found.append(_finding(document, "overlay-patch", (), f"this patch says not what it is for: {missing} is missing", hint))
        return None
    found += _known_kind(document, ("kind",), kind)
    api = data.get("apiVersion")
    group, _, version = api.rpartition("/") if isinstance(api, str) else ("", "", "")
    target = Target(kind=selectors.exactly(kind), name=selectors.exactly(name))
    if isinstance(namespace, str):
        target = replace(target, namespace=selectors.exactly(namespace))
    if isinstance(api, str):
        target = replace(target, group=selectors.exactly(group), version=selectors.exactly(version))
    return target


def _target(document: Document, found: list[Diagnostic]) -> Target | None:
    before = len(found)
    target = document.data.get("target")
    for key in document.data:
        if key not in {"target", "patch"}:
            hint = "write the patch itself below patch:" if key == "path" else "a patch has target and patch, nothing else"
            found.append(_finding(document, "overlay-patch", (key,), f"unknown field {key}", hint, key=True))
    if not isinstance(target, dict) or not target:
        found.append(_finding(document, "overlay-target", ("target",), "the patch has no target", "write target: {kind: Job}"))
        return None
    fields: dict[str, str] = {}
    for key, value in target.items():
        if key not in _TARGET:
            near = suggest.closest(key, _TARGET)
            hint = f"did you mean {near}?" if near else f"a target has {', '.join(_TARGET)}"
            found.append(_finding(document, "overlay-target", ("target", key), f"unknown field {key}", hint, key=True))
        elif not isinstance(value, str):
            found.append(_finding(document, "overlay-target", ("target", key), f"{key} is not text", "write a text"))
        else:
            fields[key] = value
    if "kind" in fields:
        found += _known_kind(document, ("target", "kind"), fields["kind"])
    built = _selectors(document, fields, found)
    return built if len(found) == before else None


def _selectors(document: Document, fields: dict[str, str], found: list[Diagnostic]) -> Target:
    def one(key: str, reader: Callable[[str], object]) -> object:
        try:
            return reader(fields[key])
        except SelectorError as error:
            terms = "write terms such as a=b, c in (d,e), !f, with commas between"
            hint = terms if key.endswith("Selector") else "write a name, or for example train-.*"
            found.append(_finding(document, "overlay-target", ("target", key), str(error), hint))
            return None

    patterns = {key: one(key, selectors.pattern) for key in fields if not key.endswith("Selector")}
    chosen = {key.removesuffix("Selector") + "s": one(key, selectors.requirements) for key in fields if key.endswith("Selector")}
    return Target(**{k: v for k, v in (patterns | chosen).items() if v is not None})  # type: ignore[arg-type]


def _known_kind(document: Document, path: Path, kind: str) -> list[Diagnostic]:
    """A kind that nothing rendered has: the patch would never do anything."""
    try:
        wanted = selectors.pattern(kind)
    except SelectorError:
        return []
    if any(wanted.fullmatch(known) for known in (*KINDS, POD_TEMPLATE)):
        return []
    near = suggest.closest(kind, (*KINDS, POD_TEMPLATE))
    hint = f"did you mean {near}?" if near else f"write one of {', '.join(KINDS)}, or {POD_TEMPLATE} for the pods of runs"
    return [_finding(document, "overlay-target", path, f"no object of kind {kind} is rendered", hint)]


def _body(document: Document, found: list[Diagnostic]) -> Json:
    """What stands below `patch`; a text is read as YAML."""
    body = document.data.get("patch")
    if not isinstance(body, str):
        return body
    # A list at the top is no document to the reader, so that it is read below a key.
    indented = "".join(f" {line}\n" for line in body.splitlines())
    documents, faults = parse(document.file, f"patch:\n{indented}".encode())
    found += [_finding(document, fault.rule, ("patch",), f"in the text of patch: {fault.message}", fault.hint) for fault in faults]
    return documents[0].data.get("patch") if documents else None


def _content(
    document: Document, body: Json, base: Path, found: list[Diagnostic], *, pods: bool
) -> tuple[Object | None, tuple[Operation, ...]]:
    if isinstance(body, dict) and body:
        found += _texts(document, body, base)
        return body, ()
    if isinstance(body, list) and body:
        try:
            operations = tuple(jsonpatch.read(body))
        except PatchError as error:
            found.append(_finding(document, "overlay-patch", (*base, *error.path), error.message, error.hint))
            return None, ()
        found += _pointers(document, operations, base, pods=pods)
        return None, operations
    if not any(f.path.startswith("patch") for f in found):
        hint = "write a partial object (strategic merge) or a list of operations (JSON patch)"
        found.append(_finding(document, "overlay-patch", base, "the patch says nothing", hint))
    return None, ()


def _texts(document: Document, body: Object, base: Path) -> list[Diagnostic]:
    """Values of labels and annotations that are no text: the API server refuses them."""
    found, waiting = [], [(body, base)]
    while waiting:
        node, path = waiting.pop()
        for key, value in node.items():
            where: Path = (*path, key)
            inner = [(item, (*where, at)) for at, item in enumerate(value)] if isinstance(value, list) else [(value, where)]
            waiting += [(item, place) for item, place in inner if isinstance(item, dict)]
            if path[-1:] == ("metadata",) and key in {"labels", "annotations"} and isinstance(value, dict):
                for name, text in value.items():
                    if text is not None and not isinstance(text, str):
                        hint = f'quote it: "{document.text((*where, name)) or text}"'
                        found.append(_finding(document, "overlay-text", (*where, name), f"the value of {name} is not text", hint))
    return found


def _pointers(document: Document, operations: tuple[Operation, ...], base: Path, *, pods: bool) -> list[Diagnostic]:
    """Operations that would change what an object is."""
    found = []
    for at, operation in enumerate(operations):
        for pointer in operation.changes:
            renames = any(identity[: len(pointer)] == pointer or pointer[: len(identity)] == identity for identity in _IDENTITY)
            if (renames and not pods) or not pointer:
                message = f"{operation.op} at {jsonpatch.shown(pointer)} would change what the object is"
                hint = "apiVersion, kind, name and namespace stay; change the policy that makes the object"
                found.append(_finding(document, "overlay-identity", (*base, at, "path"), message, hint))
    return found
