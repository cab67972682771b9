import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from taugen.load.ignore import Patterns, pattern_problem
from tests.gitkit import git, make_repo

PATHS = [
    "a", "b.py", "a b", "d/a", "d/b.py", "d/e/a", "d/e/f/b.py", "e/d/a", "tau/x.yaml", "#c", "!n", "x*y", "xzy", "d.py/a",
    ".hid/a", "trail ", "[q]", "q",
]  # fmt: skip
PATTERNS = [
    "a", "/a", "a/", "*.py", "/*.py", "d/", "/d/", "d/*", "d/**", "d/**/a", "**/a", "**/d/a", "d/e", "e/d/", "**", "*",
    "/**", "tau/*.yaml", "\\#c", "#c", "\\!n", "!n", "x\\*y", "x?y", "x[*z]y", "x[!z]y", "x[^z]y", "[a-b]", "[a-b].py",
    ".hid", "trail\\ ", "trail ", "a b", "", "/", "**/", "d**", "d/e/**/b.py", "*/a", "*/*/a", "**/e/**", "\\[q\\]",
    "[[]q]", "[]q]", "d//a", "./a",
]  # fmt: skip


def by_git(repo, lines):
    """The paths that git itself ignores by these lines."""
    (repo / ".git/info/exclude").write_text("\n".join(lines) + "\n")
    try:
        out = git(repo, "check-ignore", "--no-index", "-z", "--stdin", stdin="\0".join(PATHS).encode())
    except AssertionError:
        return set()
    return set(out.split("\0")) - {""}


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    repo = make_repo(tmp_path_factory.mktemp("ignore"), dict.fromkeys(PATHS, ""))
    git(repo, "config", "core.excludesFile", "/dev/null")
    return repo


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_as_git_reads_it(repo, pattern):
    assert {p for p in PATHS if Patterns([pattern])(p)} == by_git(repo, [pattern])


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(st.tuples(st.sampled_from(["", "!"]), st.sampled_from(PATTERNS)).map("".join), max_size=5))
def test_lists_of_patterns_as_git_reads_them(repo, lines):
    matches = Patterns(lines)
    assert {p for p in PATHS if matches(p)} == by_git(repo, lines)


@given(pattern=st.text(alphabet="ab*?/.", min_size=1, max_size=8), path=st.text(alphabet="ab./", min_size=1, max_size=10))
def test_agreement_with_pathspec(pattern, path):
    if not all(part.strip(".") for part in path.split("/")) or "//" in pattern:
        return
    assert Patterns([pattern])(path) == GitIgnoreSpec.from_lines([pattern]).match_file(path)


def test_the_order_of_questions_does_not_matter():
    matches = Patterns(["d/", "!d/keep", "*.log", "!x.log"])
    asked = ["d/keep", "d/e/f", "x.log", "y.log", "d", "d/keep"]
    assert [matches(p) for p in asked] == [True, True, False, True, False, True]


@pytest.mark.parametrize("pattern", ["a" * 300, "a\nb", "[z-a]", "[a", "[[:alpha:]]", "a\\"])
def test_patterns_that_are_refused(pattern):
    assert pattern_problem(pattern)


def test_patterns_that_are_not():
    assert [p for p in PATTERNS if pattern_problem(p)] == []


def test_no_pattern_is_slow():
    start = time.process_time()
    for pattern in ("*a" * 120 + "b", "**/*a*a*a*a*b/**/*a*a*a*a*c", "**/a/" * 50 + "b"):
        assert pattern_problem(pattern) is None
        assert not Patterns([pattern])(("a" * 255 + "/") * 15 + "a" * 255)
    assert time.process_time() - start < 2
