"""A document's older spellings written as canonical ones, comments kept.

In: the text of one document, its `Draft`. Out: its text under canonical names. ruamel.yaml makes the edit; what it would lay out otherwise
without any edit stays as it was typed. What must never happen: another value, a comment less, a line changed that has nothing to do with a
spelling: whoever calls this reads the new text again and compares.
"""

import io
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.tag import Tag
from ruamel.yaml.tokens import CommentToken

from taugen.spec.draft import MISSING, Draft
from taugen.words import Json, Path
from taugen.words.emit import emit

_WIDE = 1 << 20
_LONG = 1000
"""Lines."""


_NULL, _TEXT = Tag(suffix="tag:yaml.org,2002:null"), Tag(suffix="tag:yaml.org,2002:str")


class _AsTyped(VersionedResolver):
    """Every plain scalar is its text: numbers stay as they were typed. Nothing at all stays nothing."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is ScalarNode and implicit[0]:
            return _NULL if value == "" else _TEXT
        return super().resolve(kind, value, implicit)


def rewritten(text: str, draft: Draft) -> tuple[str, str]:
    """The document with its fields where the draft has them: with all other lines as they were typed, and, where that can't be, as
    ruamel.yaml lays it out. Raises its `YAMLError` for what it can't read."""
    yaml = _yaml(text)
    root = yaml.load(text)
    same = _dumped(yaml, root)
    _Edit(root, draft).apply()
    edited = _lines(_dumped(yaml, root))
    new = _merged(_lines(text), _lines(same), edited)
    end = "\n" * text.endswith("\n")
    return "\n".join(new) + end, "\n".join(edited) + end


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _merged(typed: list[str], same: list[str], edited: list[str]) -> list[str]:
    """What was typed, with what the edit changed: `same` is what was typed as ruamel.yaml lays it out, `edited` that with the edit."""
    groups: list[list[str]] = []
    """Lines as typed that it lays out together."""
    group: list[int] = []
    """Of each line of `same`."""
    waiting: list[str] = []
    for _, a, b, c, d in _opcodes(typed, same):
        parts = [[line] for line in typed[a:b]] if b - a == d - c else [typed[a:b]]
        if c == d:
            waiting += typed[a:b]
            continue
        parts[0][:0], waiting = waiting, []
        group += [len(groups) + (at if len(parts) > 1 else 0) for at in range(d - c)]
        groups += parts
    if waiting and groups:
        groups[-1] += waiting
    moves = list(_opcodes(same, edited))
    lost = {group[at] for kind, a, b, _, _ in moves if kind != "equal" for at in range(a, b)}
    out: list[str] = []
    for kind, a, b, c, d in moves:
        for at in range(a, b) if kind == "equal" else ():
            if group[at] in lost:
                out.append(same[at])
            elif not at or group[at - 1] != group[at]:
                out += groups[group[at]]
        out += edited[c:d] if kind != "equal" else []
    return out


def _opcodes(a: list[str], b: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    # Of long texts, what stands there often is no mark to go by: time would grow with the square of it.
    yield from SequenceMatcher(None, a, b, autojunk=len(b) > _LONG).get_opcodes()


def _yaml(text: str) -> YAML:
    yaml = YAML()
    yaml.Resolver = _AsTyped
    yaml.preserve_quotes = True
    yaml.width = _WIDE
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    steps = [(len(b) - len(b.lstrip()) - len(a) + len(a.lstrip()), b.lstrip().startswith("- ")) for a, b in pairwise(lines)]
    mapping = next((step for step, item in steps if step > 0 and not item), 2)
    offset = next((step for step, item in steps if step >= 0 and item), 0)
    yaml.indent(mapping=mapping, sequence=offset + 2, offset=offset)
    return yaml


def _dumped(yaml: YAML, root: object) -> str:
    out = io.StringIO()
    yaml.dump(root, out)
    return out.getvalue()


class _Edit:
    """Moves what stands in the tree of ruamel.yaml to where the draft has it."""

    def __init__(self, root: CommentedMap, draft: Draft) -> None:
        self._root, self._draft = root, draft
        self._typed: Json = draft.document.data
        self._moved: set[Path] = set()

    def apply(self) -> None:
        """All of it."""
        self._put((), self._draft.data)
        self._clear((), self._typed, self._draft.data)

    # -------------------------------------------------------------------------------------------------------- what is to be there

    def _put(self, path: Path, value: Json) -> None:
        """See to it that `value` stands at `path`."""
        there = _at(self._typed, path)
        if there is not MISSING and there == value and isinstance(there, bool) == isinstance(value, bool):
            return
        origin = self._draft.typed.get(path)
        if isinstance(value, dict) and (isinstance(there, dict) or (value and origin is None and there in (MISSING, None))):
            for key, inner in value.items():
                self._put((*path, key), inner)
        elif isinstance(value, list) and isinstance(there, list) and len(value) >= len(there):
            for at, inner in enumerate(value):
                self._put((*path, at), inner)
        else:
            self._set(path, value, origin)

    def _set(self, path: Path, value: Json, origin: Path | None) -> None:
        parent, key = self._parent(path), path[-1]
        self._loosen(path)
        if origin is not None and _at(self._root, origin) is MISSING:
            origin = None  # it went with what it stood in
        node = _at(self._root, origin) if origin is not None and _at(self._typed, origin) == value else _node(value)
        moved = origin if origin is not None and origin not in self._moved and _at(self._draft.data, origin) is MISSING else None
        if isinstance(parent, CommentedSeq):
            _item(parent, int(key), node)
        elif key in parent:
            _replace(parent, key, node)
        elif moved is not None and moved[:-1] == path[:-1]:
            _rename(parent, moved[-1], key, node)
        else:
            eol = _take_eol(self._parent(moved), moved[-1]) if moved is not None else ""
            parent[key] = node
            if eol:
                _Slot(parent.ca.items, key, 2).put(f"{eol}\n")
        if moved is not None:
            self._moved.add(moved)

    def _parent(self, path: Path) -> Any:
        here: Any = self._root
        for part in path[:-1]:
            if isinstance(here, CommentedMap) and here.get(part) is None:
                here[part] = CommentedMap()
            here = here[part]
        return here

    def _loosen(self, path: Path) -> None:
        """Where a change is within a line, what stands behind it need not be where it was."""
        here: Any = self._root
        for part in path:
            inside = here[part] if part in here or isinstance(part, int) else None
            if isinstance(inside, CommentedMap | CommentedSeq) and inside.fa.flow_style():
                slot = _slot(here, part)
                slot.put(slot.text)
                return
            if not isinstance(inside, CommentedMap | CommentedSeq):
                return
            here = inside

    # ---------------------------------------------------------------------------------------------------- what is not to be there

    def _clear(self, path: Path, typed: Json, wanted: object) -> bool:
        """Remove what is nowhere in the draft; True where nothing is left, so that the section itself goes."""
        if path in self._moved or (wanted is MISSING and not isinstance(typed, dict)):
            return True
        here: Any = _at(self._root, path)
        if not isinstance(typed, dict) or not typed or not isinstance(here, CommentedMap):
            return wanted is MISSING
        below = wanted if isinstance(wanted, dict) else {}
        gone = [key for key, inner in typed.items() if self._clear((*path, key), inner, below.get(key, MISSING))]
        gone = [key for key in gone if key in here]
        if len(gone) == len(here) and not below:
            return bool(path)
        for key in gone:
            self._loosen((*path, key))
            _cut(here, key)
        return False


def _at(data: object, path: Path) -> object:
    here = data
    for part in path:
        known = part in here if isinstance(here, dict) else isinstance(here, list) and isinstance(part, int) and part < len(here)
        if not known:
            return MISSING
        here = here[part]  # type: ignore[index]
    return here


def _node(value: Json) -> Any:
    """A new value, written as generated files are."""
    yaml = YAML()
    yaml.Resolver = _AsTyped
    yaml.preserve_quotes = True
    return yaml.load(emit({"x": value}))["x"]


# --------------------------------------------------------------------------------------------------------------------- comments


class _Slot:
    """Where ruamel.yaml keeps what stands behind a value: the end of its line, and the lines below until the next key."""

    def __init__(self, items: dict[Any, Any], key: Any, at: int) -> None:
        self._items, self._key, self._at = items, key, at

    @property
    def text(self) -> str:
        """The end of the line, then the lines below."""
        token = (self._items.get(self._key) or [None] * 4)[self._at]
        return token.value if token is not None else ""

    def put(self, text: str) -> None:
        """Set it."""
        entry = self._items.setdefault(self._key, [None] * 4)
        entry[self._at] = _token(text) if text else None
        if all(part is None for part in entry):
            del self._items[self._key]


def _slot(parent: Any, key: Any) -> _Slot:
    value = parent[key]
    if isinstance(value, CommentedMap | CommentedSeq) and value and not value.fa.flow_style():
        return _slot(value, list(value)[-1] if isinstance(value, CommentedMap) else len(value) - 1)
    return _Slot(parent.ca.items, key, 2 if isinstance(parent, CommentedMap) else 0)


def _token(text: str) -> CommentToken:
    return CommentToken(text, CommentMark(0), None)


def _take_eol(parent: CommentedMap, key: Any) -> str:
    """What stands behind the value of a key on its line, which goes with it; the lines below stay where they are."""
    slot = _slot(parent, key)
    eol, _, below = slot.text.partition("\n")
    if eol:
        slot.put(f"\n{below}" if below else "")
    return eol


def _rename(parent: CommentedMap, old: Any, new: Any, node: Any) -> None:
    """Another name at the same place: comments stay where they are."""
    at, text = list(parent).index(old), _Slot(parent.ca.items, old, 2).text
    comment = parent.ca.items.pop(old, None)
    del parent[old]
    parent.insert(at, new, node)
    if comment is not None:
        parent.ca.items[new] = comment
        _Slot(parent.ca.items, new, 2).put(text)


def _replace(parent: CommentedMap, key: Any, node: Any) -> None:
    """Another value at the same place. Comments within the one before stand above it from now on."""
    old = parent[key]
    if not isinstance(old, CommentedMap | CommentedSeq) or old.fa.flow_style() or not old:
        parent[key] = node
        return
    within, below = _emptied(parent, key)
    parent[key] = node
    _lead(parent, key, within)
    if below:
        _slot(parent, key).put(f"\n{below}")


def _emptied(parent: CommentedMap, key: Any) -> tuple[list[str], str]:
    """The comments above, beside and in a value, a line each, and the lines below it, which belong to what follows; none is left there."""
    slot, value = _slot(parent, key), parent[key]
    eol, _, below = slot.text.partition("\n")
    slot.put("")
    entry = parent.ca.items.pop(key, None) or [None] * 4
    above = [line.strip() for token in _tokens(entry[:2]) for line in token.value.removesuffix("\n").split("\n")]
    found = _tokens(entry[2:])
    if isinstance(value, CommentedMap | CommentedSeq):
        below += "".join(token.value for token in getattr(value.ca, "end", ()))
        value.ca.end = []
        found += _within(value)
    # Some stand in two places.
    texts = [token.value for token in {id(token): token for token in found}.values()]
    return above + [line.strip() for text in [*texts, eol] for line in text.split("\n") if line.strip()], below


def _within(node: CommentedMap | CommentedSeq) -> list[CommentToken]:
    """The comments in a block."""
    found = _tokens(node.ca.comment)
    for key, value in node.items() if isinstance(node, CommentedMap) else enumerate(node):
        found += _tokens(node.ca.items.get(key))
        found += _within(value) if isinstance(value, CommentedMap | CommentedSeq) else []
    return found


def _tokens(found: Any) -> list[CommentToken]:
    """Tokens, however deep in lists."""
    return [found] if isinstance(found, CommentToken) else [token for one in found or () for token in _tokens(one)]


def _item(parent: CommentedSeq, at: int, node: Any) -> None:
    if at < len(parent):
        parent[at] = node
    else:
        parent.append(node)


def _lead(parent: CommentedMap, key: Any, lines: list[str]) -> None:
    """Lines of comments, and empty ones, above a key."""
    if lines:
        entry = parent.ca.items.setdefault(key, [None] * 4)
        entry[1] = [*(entry[1] or []), *(CommentToken(f"{line}\n", CommentMark(parent.lc.col if line else 0), None) for line in lines)]


def _cut(parent: CommentedMap, key: Any) -> None:
    """Take a key out of a mapping that has others. Its comments stay, and so does what stood below it and belongs to what follows."""
    within, below = _emptied(parent, key)
    keys = list(parent)
    at = keys.index(key)
    del parent[key]
    left = [*within, *(line.strip() for line in below.removesuffix("\n").split("\n") if below)]
    if at + 1 < len(keys):
        _lead(parent, keys[at + 1], left)
    elif left:
        last = _slot(parent, keys[at - 1])
        last.put((last.text or "\n") + "".join(f"{' ' * parent.lc.col if line else ''}{line}\n" for line in left))
