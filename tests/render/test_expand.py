"""The model of Kubernetes' expansion, and that escaped text expands to itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.render.expand import escape, expand

KNOWN = {"A": "va", "": "empty", "B": "$(A)"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [  # what Kubernetes' own code answers (third_party/forked/golang/expansion of 1.36, run over 19,531 strings)
        ("$(A)", "va"), ("$$(A)", "$(A)"), ("$$$(A)", "$va"), ("$(X)", "$(X)"), ("$()", "empty"), ("$(A", "$(A"),
        ("$", "$"), ("$$", "$"), ("$$$", "$$"), ("$A", "$A"), ("${A}", "${A}"),
        ("$(B)", "$(A)"), ("$($(A)", "$($(A)"), ("a$(A)b$(A)", "avabva"), ("$(A)$", "va$"), ("$ (A)", "$ (A)"),
    ],
)  # fmt: skip
def test_expand(text: str, expanded: str) -> None:
    assert expand(text, KNOWN) == expanded


@given(st.text(st.sampled_from("$()AB {}x"), max_size=12))
def test_escaped_text_arrives(text: str) -> None:
    assert expand(escape(text), KNOWN) == text


@given(st.text())
def test_text_without_the_two_sequences_is_not_touched(text: str) -> None:
    if "$$" not in text and "$(" not in text:
        assert escape(text) == text
