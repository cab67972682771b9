"""Labels and annotations have names and values that the API server takes.

The schemas say only that they are text. An object with another label is refused, and under Argo CD or Flux every later commit of its folder
with it; in a pod template of a RayJob it is found out only when the pods can't be made.

Breaks:

    target: {kind: PodTemplate}
    patch: {metadata: {labels: {lab.example/owner: "speech team"}}}

Mends:

    target: {kind: PodTemplate}
    patch: {metadata: {labels: {lab.example/owner: speech-team}}}

Source: apimachinery validation (ValidateLabels, ValidateAnnotations, IsQualifiedName)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods
from taugen.words import Json, Path, names

ID = "label-form"
_MOST = 4096
_good: set[tuple[str, Json]] = set()
"""Labels that were judged before."""


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        yield from _metadata(item, ("metadata",), item.obj.get("metadata"))
    for pod in _pods.pods(objects):
        yield from _metadata(pod.item, (*pod.path, "metadata"), pod.template.get("metadata"))


def _metadata(item: Rendered, path: Path, value: Json) -> Iterator[Diagnostic]:
    metadata = _pods.mapping(value)
    for label in _pods.mapping(metadata.get("labels")).items():
        if label not in _good and (why := _fault(*label)):
            yield _pods.finding(ID, item, (*path, "labels", label[0]), f"the label {label[0]}: {why}", _hint())
    for key in _pods.mapping(metadata.get("annotations")):
        if (key, None) not in _good and (why := _fault(key.lower(), "")):
            yield _pods.finding(ID, item, (*path, "annotations", key), f"the annotation {key}: {why}", _hint())


def _hint() -> str:
    return "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"


def _fault(key: str, value: Json) -> str:
    """What is wrong with a label; one that is right is remembered."""
    if not names.is_label_key(key):
        return "this is no name of a label"
    if not isinstance(value, str) or not names.is_label_value(value):
        return f"{value} is no value of a label"
    if len(_good) >= _MOST:
        _good.clear()
    _good.update(((key, value), (key, None)))
    return ""
