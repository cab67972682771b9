"""TauGrid's ways to name storage: claims, volumes and mounts as text.

In: a `Draft`. Out: `storage.data` and `storage.mounts` in canonical form. A claim stands where the name of a Storage would: `resolve` knows
the workspace's Storages by name and by claim. A request for storage is never dropped.
"""

from typing import Any

from taugen.diag import Severity
from taugen.spec.draft import MISSING, Draft
from taugen.spec.spellings import MOUNT_KEYS
from taugen.spec.types import kind_of
from taugen.words import Json, Path
from taugen.words.regex import regex

_VOLUME = regex(r"([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)=pvc:(\S+)")
_MOUNT = regex(r"([a-z0-9](?:[-a-z0-9]*[a-z0-9])?):(/\S*)")
_MOUNTS: Path = ("storage", "mounts")


def claims(draft: Draft) -> None:
    """`data_pvc`, `result_pvc`, `volumes`, `publish`."""
    _data(draft)
    _result(draft)
    _volumes(draft)
    if draft.get(("storage", "publish")) in ("", None):
        draft.take(("storage", "publish"))


def _data(draft: Draft) -> None:
    path: Path = ("storage", "data_pvc")
    value = draft.take(path)
    if value in (MISSING, None):
        return
    if isinstance(value, str) and value:
        draft.older(path, "storage.data with the Storage's name")
        draft.put(("storage", "data"), value, path)
    else:
        draft.add("value-type", path, f"storage.data_pvc is {kind_of(value)}, but the name of a claim is wanted", "write storage.data")
        draft.gone.add(("storage", "data"))


def _result(draft: Draft) -> None:
    """Results lie on the data claim, as TauGrid demands of a Job."""
    path: Path = ("storage", "result_pvc")
    value = draft.take(path)
    if value in (MISSING, None):
        return
    data = draft.get(("storage", "data"))
    if not isinstance(value, str) or not value:
        draft.add("value-type", path, f"storage.result_pvc is {kind_of(value)}, but the name of a claim is wanted", "write storage.output")
    elif data is MISSING or data is None or data == value:
        draft.older(path, "storage.data and storage.output")
        draft.put(("storage", "data"), value, path)
    else:
        hint = "mount it with storage.mounts and write storage.output below its path"
        draft.add(
            "not-taken-over",
            path,
            "storage.result_pvc names another claim than the data",
            hint,
            key=True,
            other=draft.as_typed(("storage", "data")),
        )


def _volumes(draft: Draft) -> None:
    path: Path = ("storage", "volumes")
    value = draft.take(path)
    if value in (MISSING, None, []):
        return
    if not isinstance(value, list):
        draft.add(
            "value-type",
            path,
            f"storage.volumes is {kind_of(value)}, but a list is wanted",
            "write storage.mounts: [{name, storage, path}]",
        )
        draft.gone.add(_MOUNTS)
        return
    draft.older(path, "storage.mounts: [{name: …, storage: …, path: …}]")
    known: dict[str, tuple[str, Path]] = {}
    for at, item in enumerate(value):
        found = _VOLUME.fullmatch(item) if isinstance(item, str) else None
        if found is None:
            draft.add("value-form", (*path, at), "a volume is NAME=pvc:CLAIM", "write storage.mounts: [{name, storage, path}]")
            draft.gone.add(_MOUNTS)
        elif found[1] in known:
            draft.add("mount-twice", (*path, at), f"the volume {found[1]} is there twice", "keep one of the two", other=known[found[1]][1])
        else:
            known[found[1]] = (found[2], (*path, at))
    _mount_volumes(draft, known)


def _mount_volumes(draft: Draft, known: dict[str, tuple[str, Path]]) -> None:
    """`mounts: [NAME:/path]` of the volumes."""
    items = draft.get(_MOUNTS)
    used = set()
    out: list[Json] = []
    for at, item in enumerate(items if isinstance(items, list) else []):
        found = _MOUNT.fullmatch(item) if isinstance(item, str) else None
        if found is not None and found[1] in known:
            used.add(found[1])
            claim, typed = known[found[1]]
            out.append(_text_mount(draft, at, found[1], claim, found[2]))
            draft.typed[(*_MOUNTS, at, "storage")] = typed
        else:
            out.append(item)
    for name in known.keys() - used:
        hint = f"write storage.mounts: [{{name: {name}, storage: …, path: /{name}}}]"
        draft.add("volume-unused", known[name][1], f"the volume {name} is mounted nowhere", hint)
    section = draft.own(("storage",))
    if section is not None and isinstance(items, list):
        section["mounts"] = out


def _text_mount(draft: Draft, at: int, name: str, storage: str, path: str) -> dict[str, Json]:
    draft.typed |= dict.fromkeys(((*_MOUNTS, at, key) for key in ("name", "storage", "path")), (*_MOUNTS, at))
    return {"name": name, "storage": storage, "path": path}


def mounts(draft: Draft) -> None:
    """Mounts as text or with the managed dialect's keys."""
    storage = draft.data.get("storage")
    items: Any = storage.get("mounts") if storage.__class__ is dict else None
    if items.__class__ is not list or not any(
        item.__class__ is str or (item.__class__ is dict and not MOUNT_KEYS.keys().isdisjoint(item)) for item in items
    ):
        return
    section = draft.own(("storage",))
    if section is not None:
        section["mounts"] = [_mount(draft, at, item) for at, item in enumerate(items)]


def _mount(draft: Draft, at: int, item: Any) -> Json:
    here: Path = (*_MOUNTS, at)
    if isinstance(item, str):
        found = _MOUNT.fullmatch(item)
        if found is None:
            return item  # the model says what a mount is
        draft.older(here, f"{{name: {found[1]}, storage: {found[1]}, path: {found[2]}}}", f"the mount {item}")
        return _text_mount(draft, at, found[1], found[1], found[2])
    if not isinstance(item, dict) or MOUNT_KEYS.keys().isdisjoint(item):
        return item  # type: ignore[no-any-return]
    out = {key: value for key, value in item.items() if key not in MOUNT_KEYS}
    for old, new in MOUNT_KEYS.items():
        if old not in item:
            continue
        draft.older((*here, old), new)
        if new in out:
            draft.add(
                "spellings-disagree",
                (*here, old),
                f"{old} and {new} are one field",
                f"keep {new}",
                Severity.ERROR,
                key=True,
                other=(*here, new),
            )
            continue
        out[new] = item[old]
        draft.typed[(*here, new)] = (*here, old)
    return out
