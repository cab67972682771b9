"""Names: legal for Kubernetes, short enough, never equal for different inputs, and never able to act on a terminal."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from taugen.words import names

anything = st.one_of(st.text(max_size=80), st.text("aA-_. é9", max_size=50), st.from_regex(r"[a-z][a-z0-9-]{0,60}", fullmatch=True))


@given(anything, st.integers(12, 63))
def test_slugs_are_legal(name, limit):
    slug = names.slug(name, limit)
    assert names.is_dns1035(slug)
    assert len(slug) <= limit
    assert "--" not in slug
    assert names.slug(slug, limit) == slug


@given(anything, anything)
def test_slugs_differ(first, second):
    assume(first != second)
    assert names.slug(first) != names.slug(second)


@given(anything, st.text("0123456789abcdef", min_size=64, max_size=64))
def test_object_names_fit_every_attempt(name, digest):
    run = names.run_name(name, digest)
    assert len(run) <= 43
    assert run.endswith("-" + digest[:8])
    for attempt in (1, 10, 999):
        whole = names.attempt_name(run, attempt)
        assert len(whole) <= 47
        assert names.is_dns1035(whole)


@pytest.mark.parametrize("attempt", [0, -1, 1000])
def test_attempts_are_bounded(attempt):
    with pytest.raises(ValueError, match="no attempt"):
        names.attempt_name("a-12345678", attempt)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("launch-example", "launch-example"),
        ("a" * 34, "a" * 34),
        ("a" * 35, "a" * 25 + "-629362af"),
        ("Train_A", "train-a-9c6e7895"),
        ("日本", "r-cf2abf0c"),
        ("9x", "r-9x-49c45e82"),
    ],
)
def test_slugs_never_change(name, slug):
    """Pinned for ever: a slug is part of the names of submitted objects."""
    assert names.slug(name) == slug


def test_unicode_lower_case_is_not_used():
    assert names.slug("\u212aelvin") != names.slug("kelvin")
    assert names.slug("\u212aelvin").startswith("elvin-")


@given(anything)
def test_label_values_are_legal(text):
    value = names.label_value(text)
    assert names.is_label_value(value)
    assert names.label_value(value) == value


def test_label_values():
    assert names.label_value("Team_A.b") == "Team_A.b"
    assert names.label_value("") == ""
    assert names.label_value("alice@example.com").startswith("alice-example.com-")
    assert len(names.label_value("x" * 64)) == 63
    assert names.is_label_value(names.label_value("@@"))


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (names.is_dns1123_label, ["a", "0", "a-b", "a" * 63], ["", "-a", "a-", "A", "a.b", "a" * 64, "a\n", "é"]),
        (names.is_dns1035, ["a", "a-9", "a" * 63], ["", "9a", "a-", "a.b", "a" * 64, "a\n"]),
        (names.is_dns1123_subdomain, ["a", "a.b", "0.0", "a" * 253], ["", ".", "a.", ".a", "a..b", "a.-b", "a" * 254, "a\n"]),
        (names.is_label_key, ["a", "A_b.c", "x.y/z", "nvidia.com/gpu"], ["", "/a", "a/", "a/b/c", "A.b/c", "a" * 64, "-a", "a b"]),
        (names.is_label_value, ["", "a", "A_b.c"], ["-a", "a-", "a/b", "a" * 64, "a\n"]),
        (names.is_env_name, ["A", "_a", "a.b-c"], ["", "9A", "a=b", "a b", ".", "..", "..a", "É", "A\n"]),
    ],
)
def test_checks(check, good, bad):
    assert [text for text in good if not check(text)] == []
    assert [text for text in bad if check(text)] == []


@given(st.text())
def test_printable_never_acts_on_a_terminal(text):
    shown = names.printable(text)
    assert shown.isprintable()
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]", shown)


def test_printable():
    assert names.printable("plain é 日本") == "plain é 日本"
    assert names.printable("\x1b[31m\u202e\n::error::\r\t\U000e0041\ud800") == "\\x1b[31m\\u202e\\n::error::\\r\\t\\U000e0041\\ud800"


def test_printable_starts_no_command_of_a_runner():
    assert names.printable("::add-mask::x") == "\\x3a:add-mask::x"
    assert names.printable(" ::warning::x") == " \\x3a:warning::x"
    assert names.printable("a ##[group]b ##vso[task.setvariable]c") == "a #\\x23[group]b #\\x23vso[task.setvariable]c"
    for plain in ("std::vector", "a :: b", "## heading", "c ## [x]"):
        assert names.printable(plain) == plain
