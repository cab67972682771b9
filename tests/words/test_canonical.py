"""Canonical JSON: the same bytes as the reference implementation of RFC 8785, on the fast path and on the slow one."""

import json
import math
from collections.abc import Callable

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from taugen.words import canonical
from taugen.words.canonical import CanonicalError, digest, jcs

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
number = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-330, 300).map(lambda e: float(f"1e{e}")),
)
value = st.recursive(
    st.one_of(text, number, st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)),
    max_leaves=12,
)


@given(value)
@example(
    {"\ue000": 1, "\U0001f600": 2, "\ud7ff": 3, "a": [1e21, 1e20, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, -0.0, 123456789012345680.0]}
)
@example({"b": '\x00\x1f\x7f\u2028/"\\', "a": {}})
@example(9007199254740991)
@example([-9007199254740991, 1234567890123456])
def test_as_the_reference(data):
    assert jcs(data) == rfc8785.dumps(data)


@given(value)
def test_both_paths_agree(data):
    assert canonical._slow({"k": data}) == jcs({"k": data})


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats(data):
    assert jcs(data) == rfc8785.dumps(data)


def test_order_does_not_matter():
    assert jcs({"b": 1, "a": [{"d": 1, "c": 2}]}) == jcs({"a": [{"c": 2, "d": 1}], "b": 1}) == b'{"a":[{"c":2,"d":1}],"b":1}'


def test_digests_never_change():
    """Pinned for ever: digests are part of the names of submitted objects."""
    assert (
        digest({"intent": "v1", "run": {"gpus": 8, "lr": 0.001, "name": "é"}})
        == "8087f53720b8229541333fe57beab07ffbe6724a61950fd9177db7584c9a2113"
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (2**53, "an integer beyond 2^53"),
        ({"a": {"b": [1, -(2**60)]}}, "a.b[1]: an integer beyond 2^53"),
        ([10**5000], "[0]: an integer beyond 2^53"),
        ({"x": math.nan}, "x: not a finite number"),
        ([math.inf], "[0]: not a finite number"),
        ({"x": ["\ud800"]}, "x[0]: half a surrogate pair"),
        ({"\udfff": 1}, "half a surrogate pair"),
    ],
)
def test_refused(data, said):
    with pytest.raises(CanonicalError) as caught:
        jcs(data)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("leaf", [1, 0.5])
def test_nesting_has_an_end(leaf):
    data = leaf
    for _ in range(100_000):
        data = [data]
    with pytest.raises(CanonicalError, match="nested too deeply"):
        jcs(data)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a":1}', b'{"a": 1}', b'{"a":1,"a":1}', b'{"b":1,"a":2}', b"[-0]", b"[1e5]", b"[100000.0]", b"[0.5]",
        b"[123456789012345]", b"[1234567890123456]",
        b"[9007199254740991]", b"[9007199254740992]", b"[-9007199254740992]", b"9007199254740992",
        b'{"a":"1234567890123456"}', b'{"a":"\\u00e9"}',
        '{"a":"\u00e9"}'.encode(), '{"\U0001f600":1,"\uffff":2}'.encode(), b'{"a":"\\/"}', b'{"a":"\\u001f\x7f"}', b'{"a":"\\u001F"}',
        b'"\\ud800"', b"[NaN]",
        b"", b"[1,]", b"\xff", b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_read_quickly_is_what_the_reference_reads(content: bytes) -> None:
    def outcome(read: Callable[[bytes], object]) -> object:
        try:
            return repr(read(content))
        except (ValueError, RecursionError):
            return None

    def slowly(text: bytes) -> object:
        value = json.loads(text.decode())
        if canonical._slow(value) != text:
            raise ValueError
        return value

    assert outcome(canonical.read) == outcome(slowly)


def test_every_ascii_character_is_written_the_same_by_both_ways() -> None:
    for code in range(128):
        for value in ({"k": chr(code)}, {chr(code): 1, "a": [True, None, -1]}):
            assert canonical._WRITE(value) == canonical._slow(value)
