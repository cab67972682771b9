"""Look-alike characters: named, with what they look like, and never shown raw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.words.confusables import confusable


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain text_1.2", None),
        ("", None),
        ("p\u0430y", 'U+0430 CYRILLIC SMALL LETTER A, which looks like "a" at character 2'),
        ("\u03bf", 'U+03BF GREEK SMALL LETTER OMICRON, which looks like "o" at character 1'),
        ("\uff41", 'U+FF41 FULLWIDTH LATIN SMALL LETTER A, which looks like "a" at character 1'),
        ("a\u2013b", 'U+2013 EN DASH, which looks like "-" at character 2'),
        ("a\u202eb", "U+202E RIGHT-TO-LEFT OVERRIDE, which changes the direction of the text after it at character 2"),
        ("a\u200bb", "U+200B ZERO WIDTH SPACE, which can't be seen at character 2"),
        ("a\x1b", "U+001B a control character at character 2"),
        ("\u65e5", "U+65E5 CJK UNIFIED IDEOGRAPH-65E5 at character 1"),
    ],
)
def test_confusable(text, said):
    assert confusable(text) == said


@given(st.text())
def test_all_but_printable_ascii_is_named(text):
    said = confusable(text)
    assert (said is None) == all(" " <= c <= "~" for c in text)
    assert said is None or (said.isascii() and said.isprintable())
