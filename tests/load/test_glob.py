import time

import pytest

from taugen.load.glob import GlobError, Matcher


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("w/*/**/tau.yaml", ["w/a/tau.yaml", "w/a/b/c/tau.yaml"], ["w/tau.yaml", "x/w/a/tau.yaml"]),
        ("w/*/**/tau/*.yaml", ["w/a/tau/x.yaml", "w/a/b/tau/x.yaml"], ["w/a/tau/b/x.yaml", "w/a/x.yaml"]),
        ("**/tau.yaml", ["tau.yaml", "a/tau.yaml", ".hidden/tau.yaml"], ["a/xtau.yaml", "a/tau.yaml/b", "a/TAU.yaml"]),
        ("runs/**", ["runs/a", "runs/a/b"], ["runs", "run/a"]),
        ("**", ["a", "a/b"], []),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c"], ["a/c", "a/b", "a/bc"]),
        ("a/**/**/c", ["a/c", "a/b/c"], ["ac"]),
        ("?.yaml", ["a.yaml"], ["ab.yaml", "/.yaml", ".yaml"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "/x"]),
        ("[!a-c]x", ["dx"], ["ax", "/x"]),
        ("[]]x", ["]x"], ["x"]),
        ("[!]]x", ["ax"], ["]x"]),
        ("a*b*c.y", ["abc.y", "axxbxxc.y", "abbcc.y"], ["ac.y", "a/b/c.y"]),
        ("*ab", ["ab", "aab", "abab"], ["aba"]),
        ("*", ["a"], ["a/b"]),
        ("a+(b).yaml", ["a+(b).yaml"], ["aab.yaml"]),
    ],
)
def test_matching(pattern, yes, no):
    matcher = Matcher([pattern])
    assert [p for p in yes + no if matcher(p)] == yes


def test_any_of_several():
    matcher = Matcher(["a/*.yaml", "b/*.json"])
    assert [p for p in ("a/x.yaml", "b/x.json", "a/x.json", "b/x.yaml") if matcher(p)] == ["a/x.yaml", "b/x.json"]
    assert not Matcher([])("a")


@pytest.mark.parametrize("pattern", ["", "/a", "a//b", "../a", "a/./b", "a\\*", "{a,b}", "!a", "a**", "**a/b", "[z-a]", "a[", "a" * 2000])
def test_what_can_not_be_used_is_refused(pattern):
    with pytest.raises(GlobError):
        Matcher([pattern])


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 100 + "b", "a" * 4000),
        ("**/a/" * 50 + "b", "a/" * 2000 + "c"),
        ("**/*a*a*a*a*a*b/" * 20 + "**/z", ("a" * 200 + "/") * 20 + "y"),
    ],
)
def test_no_pattern_is_slow(pattern, path):
    start = time.process_time()
    assert not Matcher([pattern])(path)
    assert not Matcher([pattern + "*"])(path)
    assert time.process_time() - start < 2
