"""What an unknown key was meant to be.

In: the canonical section it stands in and the key. Out: a sentence, what to write, and the canonical field that was meant (so that it is
not also reported as missing). Looked for in this order: another way to write a key of the section, the right name at another level, other
systems' names, a typing error.
"""

from taugen.spec import fields
from taugen.spec.foreign import FOREIGN
from taugen.spec.spellings import RENAMES
from taugen.words import Path, dotted, suggest
from taugen.words.names import printable


def _plain(key: str) -> str:
    return key.replace("-", "").replace("_", "").casefold()


def explain(section: Path, key: str) -> tuple[str, str, Path | None]:
    """(message, hint, the canonical field that was meant or None)."""
    here = fields.keys(section)
    message = f"unknown key {printable(key)[:60]}" + (f" in {dotted(section)}" if section else "")
    plain = _plain(key)
    for known in here:
        if _plain(known) == plain:
            return message, f"write {known}", (*section, known)
    if (elsewhere := _elsewhere(plain)) is not None:
        return message, f"write it as {dotted(elsewhere)}", elsewhere
    if (meaning := FOREIGN.get(plain)) is not None:
        return message, meaning.hint, meaning.field
    if (near := suggest.closest(key, (*here, *_older(section)))) is not None:
        return message, f"did you mean {near}?", _canonical((*section, near))
    if not here:
        return message, "remove it", None
    return message, f"the keys of {dotted(section) if section else 'a run'} are {', '.join(here)}", None


def _older(section: Path) -> tuple[str, ...]:
    return tuple(str(r.old[-1]) for r in RENAMES if r.old[:-1] == section)


def _canonical(path: Path) -> Path:
    return next((r.new for r in RENAMES if r.old == path), path)


def _elsewhere(plain: str) -> Path | None:
    """The one field of that name at another level, a section before its like further down; None where several are meant equally."""
    paths = [path for name, found in fields.places().items() if _plain(name) == plain for path in found]
    paths.sort(key=len)
    return paths[0] if len(paths) == 1 or (paths and len(paths[0]) < len(paths[1])) else None
