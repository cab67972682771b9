import re

import pytest

from taugen.words.regex import regex


def test_it_finds_what_the_compiled_one_finds():
    late, now = regex(r"(a+)b", re.IGNORECASE), re.compile(r"(a+)b", re.IGNORECASE)
    for text in ("xAAb", "", "b"):
        assert (late.findall(text), bool(late.search(text)), late.sub("-", text)) == (
            now.findall(text), bool(now.search(text)), now.sub("-", text)
        )  # fmt: skip
    assert (late.pattern, late.flags) == (now.pattern, now.flags)


def test_it_is_compiled_once_and_only_when_it_is_used(monkeypatch):
    seen = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda *args: seen.append(args) or real(*args))
    late = regex("a")
    assert seen == []
    late.match("a")
    late.match("b")
    assert seen == [("a", 0)]


def test_a_bad_pattern_is_an_error_when_it_is_used():
    with pytest.raises(re.error):
        regex("(").match("a")
