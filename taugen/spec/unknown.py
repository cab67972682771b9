"""What an unknown key was meant to be.

In: the canonical section it stands in and the key. Out: a sentence, what to write, and the canonical field that was meant (so that it is
not also reported as missing). Looked for in this order: another way to write a key of the section, the right name at another level (at
the top behind other systems' names: their files are flat), other systems' names, an older spelling at another level, a typing error.
"""

from functools import lru_cache

from taugen.spec import fields
from taugen.spec.foreign import FOREIGN
from taugen.spec.spellings import MOUNT_KEYS, RENAMES, SPECIAL
from taugen.words import Path, dotted, suggest
from taugen.words.names import printable

_HEAD = {
    **dict.fromkeys(("cpu", "numcpus", "cpucount", "vcpus"), "write cpus"),
    **dict.fromkeys(("mem", "ram"), "write memory"),
    **dict.fromkeys(("gpu", "gpus", "numgpus", "gpucount"), "remove it: the head gets no GPU; compute.gpus is for each worker"),
}
"""Keys of `compute.head`, whose fields are named as those of the workers around it: a name from there is not meant."""
_GIT = {
    **dict.fromkeys(("repo", "repository", "remote", "uri"), "url"),
    **dict.fromkeys(("branch", "commit", "revision", "rev", "sha", "tag", "hash"), "ref"),
}


def _plain(key: str) -> str:
    return key.replace("-", "").replace("_", "").casefold()


def explain(section: Path, key: str) -> tuple[str, str, Path | None]:
    """(message, hint, the canonical field that was meant or None)."""
    here = fields.keys(section)
    message = f"unknown key {dotted((printable(key)[:60],))}" + (f" in {dotted(section)}" if section else "")
    plain = _plain(key)
    for known in here:
        if _plain(known) == plain:
            return message, f"write {known}", (*section, known)
    if section == ("code", "git") and (said := _GIT.get(plain)) is not None:
        return message, "write ref: the full commit SHA" if said == "ref" else "write url", (*section, said)
    if section == ("compute", "head") and plain in _HEAD:
        return message, _HEAD[plain], None
    meaning = FOREIGN.get(plain)
    if section and meaning is not None and meaning.field == section:
        # `environment` below `runtime`: it is already there, so the section's keys say more.
        near = suggest.closest(key, here) or next((k for k in here if plain.startswith(k)), None)
        if near is None:
            return message, f"the keys of {dotted(section)} are {', '.join(here)}", None
        return message, f"write {dotted((*section, near))}", (*section, near)
    if (not section or (elsewhere := _elsewhere(plain)) is None) and meaning is not None:
        return message, meaning.hint, meaning.field
    if (elsewhere := _elsewhere(plain)) is not None:
        if section and len(elsewhere) == 1 and (near := suggest.closest(key, here)) is not None:
            # `metrics` below `execution`: a section is rarely meant inside of another, a key of this one is.
            return message, f"did you mean {near}?", (*section, near)
        return message, f"write it as {dotted(elsewhere)}", elsewhere
    if (renamed := _renamed(plain)) is not None:
        return message, f"write {dotted(renamed)}", renamed
    if (near := suggest.closest(key, (*here, *_older(section)))) is not None:
        return message, f"did you mean {near}?", _canonical((*section, near))
    listed = here or _older(section)
    return message, f"the keys of {dotted(section) if section else 'a run'} are {', '.join(listed)}" if listed else "remove it", None


@lru_cache(maxsize=64)
def _older(section: Path) -> tuple[str, ...]:
    """Keys of the section that are older spellings, or older sections."""
    if section[:2] == ("storage", "mounts") and len(section) == 3:
        return tuple(MOUNT_KEYS)
    paths = [r.old for r in RENAMES] + list(SPECIAL)
    at = len(section)
    return tuple(dict.fromkeys(str(p[at]) for p in paths if len(p) > at and p[:at] == section))


def _canonical(path: Path) -> Path:
    if path[-1] in MOUNT_KEYS and path[:2] == ("storage", "mounts"):
        return (*path[:-1], MOUNT_KEYS[str(path[-1])])
    return next((r.new for r in RENAMES if r.old == path), path)


def _renamed(plain: str) -> Path | None:
    """What an older spelling of another section is now; None where it meant several things."""
    meant = {rename.new for rename in RENAMES if len(rename.old) > 1 and _plain(str(rename.old[-1])) == plain}
    return meant.pop() if len(meant) == 1 else None


def _elsewhere(plain: str) -> Path | None:
    """The one field of that name at another level, a section before its like further down; None where several are meant equally."""
    paths = [path for name, found in fields.places().items() if _plain(name) == plain for path in found]
    paths.sort(key=len)
    return paths[0] if len(paths) == 1 or (paths and len(paths[0]) < len(paths[1])) else None
