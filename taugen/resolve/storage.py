"""What a run mounts, and where its results and checkpoints go.

In: the document's storage and checkpoint sections, the workspace's Storages. Out: mounts, the output folder, the checkpoint contract. A claim that is not the
workspace's is never mounted. Folders are the same for every attempt of a run.
"""

import posixpath
import re
from typing import NamedTuple

from taugen.policy.model import Storage
from taugen.policy.set import Item
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.resolve.run import Checkpoint, ImageCopy, VolumeMount
from taugen.words import Path, suggest

RESERVED = ("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/tau", "/usr", "/var/run")
"""Mount points that would hide the system, the code or what taugen itself mounts; folders below /dev, /proc, /sys, /tau and /var/run too."""
_RESERVED_BELOW = ("/dev/", "/proc/", "/sys/", "/tau/", "/var/run/", "/run/")
DATA_VOLUME = "data"
_RUN_ID = re.compile(r"[^/\s]+/[^/\s]+/[0-9a-f]{8}")


class Stored(NamedTuple):
    """What the run sees of storage. `output` None: there is none, results end with the pod."""

    mounts: tuple[VolumeMount, ...]
    copies: tuple[ImageCopy, ...]
    data_dir: str | None
    output: str | None
    checkpoint: Checkpoint | None


def store(report: Report, workspace: WorkspaceContext) -> Stored:
    """Decide mounts, output and checkpoints."""
    spec = report.doc.spec
    section, defaults = spec.storage, workspace.storage
    if section is None and spec.checkpoint is None and defaults.data is None and not defaults.mounts and defaults.output is None:
        return Stored((), (), None, None, None)
    mounts: list[VolumeMount] = []
    data = section.data if section is not None and section.data is not None else defaults.data
    data_dir = None
    if data is not None and (item := _storage(report, workspace, ("storage", "data"), data)) is not None:
        data_dir = item.spec.path
        mounts.append(VolumeMount(DATA_VOLUME, _claim(item), item.spec.path, item.spec.readOnly, item.name))
    typed = section.mounts if section is not None and section.mounts is not None else defaults.mounts
    for at, mount in enumerate(typed or ()):
        where: Path = ("storage", "mounts", at)
        item = _storage(report, workspace, (*where, "storage"), mount.storage)
        path = _mount_point(report, (*where, "path"), mount.path)
        if item is None or path is None:
            continue
        if mount.read_only is False and item.spec.readOnly:
            text = f"storage {item.name} is read-only"
            report.error(
                "storage-read-only", (*where, "read_only"), text, hint="leave read_only out", origin=item.span(("readOnly",), key=True)
            )
        _distinct(report, where, mounts, mount.name, path)
        mounts.append(VolumeMount(mount.name, _claim(item), path, bool(mount.read_only) or item.spec.readOnly, item.name))
    copies = _copies(report, mounts)
    output = _output(report, mounts, section.output if section is not None and section.output is not None else defaults.output)
    return Stored(tuple(mounts), copies, data_dir, output, _checkpoint(report, mounts, output))


def _storage(report: Report, workspace: WorkspaceContext, path: Path, name: str) -> Item[Storage] | None:
    """The workspace's Storage `name`; TauGrid names the claim instead."""
    item = workspace.storages.get(name) or workspace.storages.get(workspace.claims.get(name, ""))
    if item is not None:
        return item
    if name in workspace.item.spec.storage:  # listed, but missing, broken or not shared with this workspace: policy's own finding
        report.refused = True
        return None
    known = ", ".join(workspace.item.spec.storage)
    near = suggest.closest(name, workspace.item.spec.storage)
    text = f"workspace {workspace.name} has no storage {name}: " + (f"it has {known}" if known else "it lists none")
    report.error(
        "storage-unknown",
        path,
        text,
        hint=f"write {near}" if near else (f"write one of {known}" if known else "ask the platform team for storage"),
    )
    return None


def _claim(item: Item[Storage]) -> str:
    return item.spec.claim.existing or item.name


def _mount_point(report: Report, path: Path, typed: str) -> str | None:
    clean = typed.rstrip("/") or "/"
    if not typed.startswith("/") or posixpath.normpath(clean) != clean or any(c.isspace() or c in "\\:" for c in typed):
        report.error(
            "mount-path", path, f"{typed} is no plain absolute path", hint="write an absolute path without .. and spaces, such as /data"
        )
        return None
    if clean in RESERVED or clean.startswith(_RESERVED_BELOW):
        report.error(
            "mount-path-reserved",
            path,
            f"nothing can be mounted at {clean}: the system or taugen keeps it",
            hint="mount it elsewhere, such as /data",
        )
        return None
    return clean


def _distinct(report: Report, where: Path, mounts: list[VolumeMount], name: str, path: str) -> None:
    for other in mounts:
        if other.name == name:
            report.error("mount-name-twice", (*where, "name"), f"two mounts are named {name}", hint="rename one of them")
        if other.path == path:
            report.error(
                "mount-path-twice",
                (*where, "path"),
                f"{path} is already the place of storage {other.storage}",
                hint="mount one of them elsewhere",
            )


def _copies(report: Report, mounts: list[VolumeMount]) -> tuple[ImageCopy, ...]:
    section = report.doc.spec.storage
    found: list[ImageCopy] = []
    for at, asset in enumerate((section.image_assets if section is not None else None) or ()):
        where: Path = ("storage", "image_assets", at)
        path = _mount_point(report, (*where, "mount_path"), asset.mount_path)
        if path is None:
            continue
        for other in [m.path for m in mounts] + [c.mount_path for c in found]:
            if path == other or path.startswith(other + "/") or other.startswith(path + "/"):
                report.error("mount-path-twice", (*where, "mount_path"), f"{path} overlaps {other}", hint="copy it elsewhere")
        found.append(ImageCopy(asset.name, asset.image, asset.source_path, path))
    return tuple(found)


def below(path: str, mounts: list[VolumeMount]) -> VolumeMount | None:
    """The innermost mount that `path` lies in."""
    inside = [m for m in mounts if path == m.path or path.startswith(m.path.rstrip("/") + "/")]
    return max(inside, key=lambda m: len(m.path), default=None)


def _output(report: Report, mounts: list[VolumeMount], typed: str | None) -> str | None:
    """The folder for results: as typed, else `runs/<run>` below the data storage, or below the first mount that can be written."""
    if typed is None:
        mount = next((m for m in mounts if not m.read_only), None)
        return None if mount is None else f"{mount.path.rstrip('/')}/runs/{report.doc.run}"
    return _writable(report, mounts, ("storage", "output"), typed, "the output folder")


def _writable(report: Report, mounts: list[VolumeMount], path: Path, typed: str, what: str) -> str | None:
    clean = typed.rstrip("/")
    if not typed.startswith("/") or posixpath.normpath(clean or "/") != clean:
        report.error(
            "storage-path",
            path,
            f"{what} {typed} is no plain absolute path",
            hint="write an absolute path below a mounted storage, without ..",
        )
        return None
    mount = below(clean, mounts)
    if mount is None:
        places = ", ".join(m.path for m in mounts)
        text = f"{what} {clean} lies below no mounted storage" + (f" ({places})" if places else ": the run mounts none")
        report.error("storage-path", path, text, hint="mount a storage there (storage.data or storage.mounts), or write a path below one")
        return None
    if mount.read_only:
        text = f"{what} {clean} lies in storage {mount.storage}, which is read-only"
        report.error("storage-path", path, text, hint="mount a storage that can be written")
        return None
    return clean


def _checkpoint(report: Report, mounts: list[VolumeMount], output: str | None) -> Checkpoint | None:
    section = report.doc.spec.checkpoint
    if section is None:
        return None
    path: str | None
    if section.path is not None:
        path = _writable(report, mounts, ("checkpoint", "path"), section.path, "the checkpoint folder")
    else:
        path = f"{output}/checkpoints" if output is not None else None
        if path is None and not report.unread(("storage",)):
            text = "checkpoints need storage that outlives the pod, and the run mounts none that can be written"
            report.error("checkpoint-without-storage", ("checkpoint",), text, hint="name a storage of the workspace: storage: {data: NAME}")
    if path is None:
        report.refused = True
        return None
    return Checkpoint(path, section.every, section.keep, _resume(report, section.resume or "auto"))


def _resume(report: Report, typed: str) -> str:
    if typed in {"auto", "never"}:
        return typed
    where: Path = ("checkpoint", "resume")
    if not _RUN_ID.fullmatch(typed):
        near = suggest.closest(typed, ("auto", "never"))
        hint = f"write {near}" if near else "write auto, never, or a run as WORKSPACE/NAME/DIGEST8"
        report.error("checkpoint-resume", where, f"{typed} is neither auto, never nor a run", hint=hint)
    elif typed.partition("/")[0] != report.doc.workspace:
        text = f"{typed} is a run of another workspace than {report.doc.workspace}"
        report.error("checkpoint-resume", where, text, hint="resume a run of this workspace")
    return typed
