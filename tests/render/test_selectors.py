"""Targets of patches."""

import time

import pytest

from taugen.render.selectors import SelectorError, Target, pattern, requirements

OBJ = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train-1", "namespace": "team", "labels": {"a": "1", "tier": "gold"}}}


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("", True),
        ("a=1", True),
        ("a==1", True),
        ("a=2", False),
        ("a!=2", True),
        ("zz!=2", True),
        ("a", True),
        ("zz", False),
        ("!zz", True),
        ("!a", False),
        ("tier in (gold, silver)", True),
        ("tier in (silver)", False),
        ("tier notin (silver)", True),
        ("zz notin (silver)", True),
        ("a=1,tier=gold", True),
        ("a=1, tier in (silver,bronze)", False),
        ("example.com/x-y_z.w=", False),
        ("in", False),
        ("in=1", False),
    ],
)
def test_label_selectors(selector, holds):
    assert Target(labels=requirements(selector)).matches(OBJ) is holds


@pytest.mark.parametrize("selector", ["a b", "a=1,", "=1", "a in gold", "a in (gold", "!a=1", "a=(b)", ",a", "a,,b"])
def test_broken_selectors(selector):
    with pytest.raises(SelectorError):
        requirements(selector)


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"name": "train-.*"}, True),
        ({"name": "train"}, False),
        ({"name": "train-[0-9]"}, True),
        ({"name": "(eval|train)-1"}, True),
        ({"namespace": "team"}, True),
        ({"namespace": "tea"}, False),
        ({"group": "batch", "version": "v1"}, True),
        ({"group": ""}, False),
    ],
)
def test_patterns_match_whole_texts(fields, holds):
    assert Target(**{k: pattern(v) for k, v in fields.items()}).matches(OBJ) is holds


def test_the_core_group_has_no_name():
    assert Target(group=pattern(""), version=pattern("v1")).matches({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}})


@pytest.mark.parametrize("text", ["(a+)+", "a{3}", "(?i)a", "(a", "[", "a*b*c*d*e*", "\\1", "\\Ba", "(a|b)*", "x" * 501, "*a"])
def test_patterns_that_are_not_taken(text):
    with pytest.raises(SelectorError):
        pattern(text)


def test_no_pattern_takes_long():
    worst = pattern("a*a*a*a*b")
    start = time.perf_counter()
    assert worst.fullmatch("a" * 253) is None
    assert time.perf_counter() - start < 30
