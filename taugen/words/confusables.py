"""Characters that look like others.

In: a name that a person typed. Out: a description of the first character that isn't plain ASCII, fit for a finding. The text itself is
never shown raw.
"""

import unicodedata

_LIKE = {
    "a": "аɑα", "c": "сϲ", "d": "ԁ", "e": "е", "g": "ɡ", "h": "һ", "i": "іıι", "j": "ј", "k": "κк", "l": "ӏ", "m": "м", "n": "ո",
    "o": "оοօ", "p": "рρ", "q": "ԛ", "r": "г", "s": "ѕ", "t": "т", "u": "υս", "v": "ѵν", "w": "ԝω", "x": "х", "y": "уγ",
    "A": "АΑ", "B": "ВΒ", "C": "СϹ", "E": "ЕΕ", "H": "НΗ", "I": "ІΙ", "J": "Ј", "K": "КΚK", "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ",
    "S": "Ѕ", "T": "ТΤ", "X": "ХΧ", "Y": "УΥ", "Z": "Ζ", "-": "‐‑‒–—−", "_": "＿", ".": "․。", "/": "⁄∕", ":": "꞉ː∶", "'": "‘’", '"': "“”",
    "0": "᧐", "1": "１",
}  # fmt: skip
_TWINS = {twin: plain for plain, twins in _LIKE.items() for twin in twins}


def confusable(text: str) -> str | None:
    """Name the first character that is not printable ASCII: ``U+0430 CYRILLIC SMALL LETTER A, which looks like "a"``. None when all are."""
    for position, char in enumerate(text, 1):
        if not " " <= char <= "~":
            return f"{describe(char)} at character {position}"
    return None


def describe(char: str) -> str:
    """One character by code point, Unicode name and, where it has one, the ASCII character that it looks like."""
    name = unicodedata.name(char, "a control character" if unicodedata.category(char) == "Cc" else "an unnamed character")
    out = f"U+{ord(char):04X} {name}"
    twin = _TWINS.get(char) or _compatible(char)
    if twin:
        return f'{out}, which looks like "{twin}"'
    if unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}:
        return f"{out}, which changes the direction of the text after it"
    return f"{out}, which can't be seen" if unicodedata.category(char) == "Cf" else out


def _compatible(char: str) -> str:
    """The ASCII character that full-width, mathematical and similar forms stand for."""
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and " " < plain <= "~" else ""
