"""No object is larger than the API server stores.

A ConfigMap holds 1 MiB, the annotations of an object 256 KiB, and no object may have more than 1.5 MiB as JSON: etcd refuses it.

Breaks (beside 8,000 small files):

    code: {delivery: configmap}

Mends:

    code: {delivery: configmap, include: ["*.py"]}

Source: Kubernetes core validation (ValidateConfigMap, MaxSecretSize), apimachinery (TotalAnnotationSizeLimitB), etcd --max-request-bytes
"""

import json
from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods

ID = "object-size"
DATA, ANNOTATIONS, OBJECT = 1024 * 1024, 256 * 1024, 1536 * 1024
_MANY = 500
"""Files of a ConfigMap below which its volumes can't make an object too large."""


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    many = False
    for item in objects:
        annotations = sum(len(k.encode()) + len(str(v).encode()) for k, v in _pods.annotations_of(item).items())
        if annotations > ANNOTATIONS:
            message = f"the annotations have {annotations} bytes, more than {ANNOTATIONS}"
            yield _pods.finding(ID, item, ("metadata", "annotations"), message, "put it elsewhere: in a file, or in storage")
        if item.kind == "ConfigMap":
            size, count = _data(item.obj)
            many = many or count > _MANY
            if size > DATA:
                hint = "leave files out (code.exclude), or deliver the code by git or with the image"
                yield _pods.finding(ID, item, ("data",), f"the data has {size} bytes, more than {DATA}", hint)
    for item in _pods.runs(objects) if many else ():
        size = len(json.dumps(item.obj, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if size > OBJECT:
            hint = "deliver the code by git or with the image: each file of a ConfigMap is listed in each of its volumes"
            yield _pods.finding(ID, item, (), f"the object has {size} bytes, more than {OBJECT}", hint)


def _data(obj: Object) -> tuple[int, int]:
    """Bytes that count, and how many keys."""
    data, binary = _pods.mapping(obj.get("data")), _pods.mapping(obj.get("binaryData"))
    size = sum(len(str(text).encode("utf-8", "surrogatepass")) for text in data.values())
    return size + sum(len(str(text)) * 3 // 4 for text in binary.values()), len(data) + len(binary)
