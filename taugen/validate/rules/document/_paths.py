"""Paths as documents write them.

In: text. Out: what is wrong with it, in words, or None. Nothing here touches a file system.
"""

from taugen.words import confusables
from taugen.words.errors import shown

_RESERVED = ("/tau-source", "/tau-asset")


def absolute(path: str) -> str | None:
    """What keeps `path` from being a plain absolute path: one spelling only, nothing that a shell or a kubelet would read otherwise."""
    if not path.startswith("/"):
        return f"{shown(path)} is not an absolute path"
    return _plain(path)


def relative(path: str) -> str | None:
    """What keeps `path` from being a plain relative path that stays where it starts."""
    if path.startswith("/"):
        return f"{shown(path)} is an absolute path"
    return _plain(path)


def in_image(path: str) -> str | None:
    """What keeps `path` from being a folder of an image to copy from."""
    if (fault := absolute(path)) is not None:
        return fault
    if path.rstrip("/") == "":
        return "the whole image can't be copied"
    if any(path == kept or path.startswith(kept + "/") for kept in _RESERVED):
        return f"{shown(path)} is taken by the copy itself"
    return None


def _plain(path: str) -> str | None:
    if "\\" in path:
        return f"{shown(path)} has a backslash"
    if any(c.isspace() for c in path):
        return f"{shown(path)} has white space in it"
    if (odd := confusables.confusable(path)) is not None and not odd.startswith("U+0020"):
        return f"{shown(path)} has {odd}"
    parts = path.strip("/").split("/")
    if ".." in parts:
        return f"{shown(path)} has .. in it"
    if "." in parts or ("" in parts and path.strip("/")):
        return f"{shown(path)} has an empty part or a . in it"
    return None
