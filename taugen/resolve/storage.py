"""What a run mounts, and where its results and checkpoints go.

In: the document's storage and checkpoint sections, the workspace's Storages. Out: mounts, the output folder, the checkpoint contract. A
claim that is not the workspace's is never mounted. Folders are the same for every attempt of a run.
"""

import posixpath
from typing import NamedTuple

from taugen.policy.model import Storage
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.resolve.run import Checkpoint, ImageCopy, VolumeMount
from taugen.spec.model import DataSection, Mount
from taugen.words import Path, suggest
from taugen.words.regex import regex

RESERVED = frozenset(
    ("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/mnt", "/proc", "/run", "/sbin", "/sys", "/tau", "/tmp", "/usr", "/var")  # noqa: S108
)
"""Mount points that would hide the system, the code, or what taugen itself mounts."""
_RESERVED_BELOW = ("/dev/", "/proc/", "/sys/", "/tau/", "/var/run/", "/run/")
DATA_VOLUME = "data"
CLAIM = "pvc:"
_PLAIN = regex(r"/[^\s:\\,]*")


class Stored(NamedTuple):
    """What the run sees of storage. `output` None: there is none, and results end with the pod."""

    mounts: tuple[VolumeMount, ...] = ()
    copies: tuple[ImageCopy, ...] = ()
    data_dir: str | None = None
    output: str | None = None
    checkpoint: Checkpoint | None = None


_NOTHING = Stored()


def store(case: Case) -> Stored:
    """Decide mounts, output and checkpoints."""
    spec, defaults = case.doc.spec, case.workspace.storage
    section: DataSection | None = spec.storage
    if section is None:
        if spec.checkpoint is None and defaults.data is None and not defaults.mounts and defaults.output is None:
            return _NOTHING
        section = defaults
    mounts: list[VolumeMount] = []
    data = section.data or defaults.data
    data_dir = None
    if data is not None and (item := _storage(case, ("storage", "data"), data)) is not None:
        data_dir = clean(item.spec.path)
        if data_dir is None or data_dir == "/":
            case.report.refused = True  # a rule of policy says that nothing can be mounted there
        else:
            mounts.append(VolumeMount(DATA_VOLUME, _claim(item), data_dir, item.spec.readOnly, item.name))
    _mount(case, mounts, section.mounts if section.mounts is not None else defaults.mounts)
    output = _output(case, mounts, section.output or defaults.output)
    return Stored(tuple(mounts), _copies(case, mounts), data_dir, output, _checkpoint(case, mounts, output))


def _mount(case: Case, mounts: list[VolumeMount], typed: list[Mount] | None) -> None:
    names, paths = {m.name for m in mounts}, {m.path: m.storage for m in mounts}
    for at, mount in enumerate(typed or ()):
        where: Path = ("storage", "mounts", at)
        item = _storage(case, (*where, "storage"), mount.storage)
        path = mount_point(case, (*where, "path"), mount.path)
        if item is None or path is None:
            continue
        if mount.read_only is False and item.spec.readOnly:
            text = f"storage {item.name} can only be read"
            origin = item.span(("readOnly",), key=True)
            case.report.error("storage-read-only", (*where, "read_only"), text, hint="leave read_only out", origin=origin)
        if mount.name in names:
            text = f"two mounts are named {mount.name}"
            text = text if mount.name != DATA_VOLUME else "data is the name of the mount that storage.data makes"
            case.report.error("mount-name-twice", (*where, "name"), text, hint="rename this one")
        if path in paths:
            text = f"{path} is already the place of storage {paths[path]}"
            case.report.error("mount-path-twice", (*where, "path"), text, hint="mount one of them elsewhere")
        names.add(mount.name)
        paths[path] = item.name
        mounts.append(VolumeMount(mount.name, _claim(item), path, bool(mount.read_only) or item.spec.readOnly, item.name))


def _storage(case: Case, path: Path, name: str) -> Item[Storage] | None:
    """The workspace's Storage `name`; `pvc:CLAIM`, and in TauGrid's files the claim alone, name it by its claim."""
    workspace = case.workspace
    claim = name.removeprefix(CLAIM)
    item = (workspace.storages.get(name) if claim is name else None) or workspace.storages.get(workspace.claims.get(claim, ""))
    if item is not None:
        return item
    listed = workspace.item.spec.storage
    unknown = [one for one in listed if one not in case.context.policy.storages]
    if name in listed or suggest.closest(name, unknown):  # missing, broken, misspelt or not shared: policy's own finding
        case.report.refused = True
        return None
    what = f"storage {name}" if claim is name else f"storage with the claim {claim}"
    near = suggest.closest(name, listed)
    text = f"workspace {workspace.name} has no {what}: " + (f"it has {', '.join(listed)}" if listed else "it lists none")
    hint = f"write {near}" if near else f"write one of {', '.join(listed)}" if listed else "ask the platform team for a Storage"
    origin = workspace.item.span(("storage",), key=True) if listed else workspace.item.span()
    case.report.error("storage-unknown", path, text, hint=hint, origin=origin)
    return None


def _claim(item: Item[Storage]) -> str:
    return item.spec.claim.existing or item.name


def clean(typed: str) -> str | None:
    """A plain absolute path without a slash at its end; None for anything else."""
    path = typed.rstrip("/") or "/"
    return path if _PLAIN.fullmatch(path) and posixpath.normpath(path) == path else None


def mount_point(case: Case, path: Path, typed: str) -> str | None:
    """Where something may be mounted; None, with a finding, elsewhere."""
    place = clean(typed)
    if place is None:
        hint = "write an absolute path without .., spaces and colons, such as /data"
        case.report.error("mount-path", path, f"{typed} is no plain absolute path", hint=hint)
    elif place in RESERVED or place.startswith(_RESERVED_BELOW):
        text = f"nothing can be mounted at {place}: the system or taugen keeps it"
        case.report.error("mount-path-reserved", path, text, hint="mount it elsewhere, such as /data")
    else:
        return place
    return None


def _copies(case: Case, mounts: list[VolumeMount]) -> tuple[ImageCopy, ...]:
    section = case.doc.spec.storage
    found: list[ImageCopy] = []
    for at, asset in enumerate((section.image_assets if section is not None else None) or ()):
        where: Path = ("storage", "image_assets", at)
        path = mount_point(case, (*where, "mount_path"), asset.mount_path)
        if path is None:
            continue
        for other in [m.path for m in mounts] + [c.mount_path for c in found]:
            if path == other or path.startswith(other + "/") or other.startswith(path + "/"):
                case.report.error("mount-path-twice", (*where, "mount_path"), f"{path} overlaps {other}", hint="copy it elsewhere")
        found.append(ImageCopy(asset.name, asset.image, asset.source_path, path))
    return tuple(found)


def below(path: str, mounts: list[VolumeMount]) -> VolumeMount | None:
    """The innermost mount that `path` lies in."""
    inside = [m for m in mounts if path == m.path or path.startswith(m.path + "/")]
    return max(inside, key=lambda m: len(m.path), default=None)


def _output(case: Case, mounts: list[VolumeMount], typed: str | None) -> str | None:
    """The folder for results: as typed, else `runs/<run>` below the data storage, or below the first mount that can be written."""
    if typed is None:
        mount = next((m for m in mounts if not m.read_only), None)
        return None if mount is None else f"{mount.path}/runs/{case.doc.run}"
    return _writable(case, mounts, ("storage", "output"), typed, what="the output folder")


def _writable(case: Case, mounts: list[VolumeMount], path: Path, typed: str, *, what: str) -> str | None:
    place = clean(typed)
    mount = below(place, mounts) if place is not None else None
    if place is None:
        text, hint = f"{what} {typed} is no plain absolute path", "write an absolute path below a mounted storage, without .."
    elif mount is None:
        places = ", ".join(m.path for m in mounts)
        text = f"{what} {place} lies below no mounted storage: " + (f"the run mounts {places}" if places else "the run mounts none")
        hint = "mount a storage there (storage.data or storage.mounts), or write a path below one"
    elif mount.read_only:
        text, hint = f"{what} {place} lies in storage {mount.storage}, which can only be read", "mount a storage that can be written"
    else:
        return place
    # A storage that is not there, or that could not be read, has been reported: this would be its echo.
    echo = mount is None and place is not None and any(case.doc.lost(("storage", name)) for name in ("data", "mounts"))
    case.report.refused |= echo
    if not echo and (mounts or not case.report.refused):
        case.report.error("storage-place", path, text, hint=hint)
    return None


def _checkpoint(case: Case, mounts: list[VolumeMount], output: str | None) -> Checkpoint | None:
    """`path` may be relative to the output folder; left out it is `checkpoints` there."""
    section, report = case.doc.spec.checkpoint, case.report
    if section is None:
        return None
    typed = section.path or "checkpoints"
    if typed.startswith("/"):
        path = _writable(case, mounts, ("checkpoint", "path"), typed, what="the checkpoint folder")
    elif output is None:
        path = None
        if not report.refused and not case.doc.lost(("storage",)):
            text = "checkpoints need storage that outlives the pod, and the run mounts none that can be written"
            report.error("checkpoint-without-storage", ("checkpoint",), text, hint="name a storage of the workspace: storage: {data: NAME}")
    else:
        path = clean(f"{output}/{typed}")
        if path is None:
            text = f"{typed} is no plain relative path"
            report.error("checkpoint-path", ("checkpoint", "path"), text, hint="write a path below storage.output, without ..")
    if path is None:
        report.refused = True
        return None
    return Checkpoint(path, section.every, section.keep, section.resume or "auto")
