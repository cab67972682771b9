"""The ConfigMap of a run: its code and its launch script, one readable key a file.

In: a `Frame` and the bytes of the code. Out: the ConfigMap, and the `items` that restore each file to its place and mode in the mounted
volume. What must never happen: two files under one key, or a file whose bytes change on the way.

A key is the path with ``__`` for ``/`` (Kubernetes IsConfigMapKey allows letters, digits, ``-``, ``_`` and ``.``, at most 253). Text stands
in `data`; what is not UTF-8, or holds a NUL, in `binaryData`."""

import base64
import hashlib
import posixpath
from collections.abc import Callable

from msgspec import Struct

from taugen.render.frame import Frame, metadata
from taugen.render.launch import launch_files
from taugen.render.types import Object
from taugen.words import Json
from taugen.words.regex import regex

EXECUTABLE = 0o755
_NOT_KEY = regex(r"[^-._a-zA-Z0-9]")
_LONGEST = 253


class Delivered(Struct, frozen=True):
    """A ConfigMap, the `items` of its code volume (empty: no code in it) and those of its launch volume."""

    obj: Object
    code: list[Json]
    launch: list[Json]


def configmap(f: Frame, read: Callable[[str], bytes]) -> Delivered:
    """The ConfigMap of the run. `read` gives the bytes of a file of the repository."""
    data: dict[str, str] = {}
    binary: dict[str, str] = {}
    launch: list[Json] = []
    for name, script in launch_files(f).items():
        data[name] = script
        launch.append({"key": name, "path": name})
    code: list[Json] = []
    tree = f.run.code.tree if f.run.code.delivery == "configmap" else None
    shell = _entrypoint(f) if f.run.program.launcher == "shell" else None
    for file in tree.files if tree is not None else ():
        key = _key(file.path, data, binary)
        content = read(file.source)
        text = _text(content)
        if text is not None:
            data[key] = text
        else:
            binary[key] = base64.b64encode(content).decode("ascii")
        item: dict[str, Json] = {"key": key, "path": file.path}
        if file.mode == "100755" or file.path == shell:
            item["mode"] = EXECUTABLE
        code.append(item)
    obj: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(f, f.base, {}),
        "immutable": True,
        "data": {k: data[k] for k in sorted(data)},
    }
    if binary:
        obj["binaryData"] = {k: binary[k] for k in sorted(binary)}
    return Delivered(obj, code, launch)


def _entrypoint(f: Frame) -> str | None:
    """The entrypoint's path below the code root: run by its first line, so executable whatever Git says."""
    return None if f.run.program.file is None else posixpath.normpath(posixpath.join(f.run.code.base, f.run.program.file))


def _text(content: bytes) -> str | None:
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _key(path: str, *taken: dict[str, str]) -> str:
    """The key of a path: readable, and with a hash of the path where it would be too long, forbidden or another file's."""
    key = _NOT_KEY.sub("_", path.replace("/", "__"))
    if len(key) <= _LONGEST and not key.startswith("..") and key != "." and not any(key in keys for keys in taken):
        return key
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem, dot, suffix = key.lstrip(".").rpartition(".")
    if not dot or len(suffix) > 16:
        stem, suffix = key.lstrip("."), ""
    tail = f"-{digest}{dot if suffix else ''}{suffix}"
    return stem[: _LONGEST - len(tail)] + tail
