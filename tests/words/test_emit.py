"""The YAML writer: every parser reads back what was written, and the text is what a platform engineer likes to read."""

import io
import json
import math
import random
import re
import time
from enum import StrEnum
from textwrap import dedent

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from taugen.words import emit as writer
from taugen.words.emit import emit, quoted

LOADERS = {
    "PyYAML C": lambda text: yaml.load(text, Loader=yaml.CSafeLoader),
    "PyYAML": lambda text: yaml.load(text, Loader=yaml.SafeLoader),
    "ruamel 1.2": lambda text: YAML(typ="safe", pure=True).load(io.StringIO(text)),
}

WORDS = r"""
0o+0 0b-1 0x-f 0_o+0 0_x1
1e3 0o17 017 1_000 12:30:45 1:30 ~ null NULL y Y yes No NO on off TRUE = << < .inf -.Inf +.inf .nan .NAN 2026-01-01 2026-1-1T1:2:3Z - --
--- ... -a --a=b ? ?a : :a a: a:b # #a a#b % %a @ @a ` `a & &a * *a ! !a !!str | |a > >a ' '' [ ] { } , [a] {a} ,a a,b 0 -1 +1 1. .5 1.5
-.5 1e+3 1E3 1.e3 0x1F 0X1f 0b101 0B1 0O17 0x 0o 0b 08 09 0_ 1_ 1,000 1__0 ._ ._1 +_1 -_1 0x_1 0.1.2 1.36.2 10.0.0.1 500m 64Gi 1h30m
12ki 1234e567 0123e4 deadbeef 00000000 12345678 /bin/sh $HOME $(VAR) ${VAR} ~/x a=b a/b:c https://x.y/z?a=b#c nvidia.com/gpu it's
"""
# fmt: off
TEXTS = [
    '"', '""', '\\', '\\n', '"quoted"', 'C:\\x', 'é', '日本', '😀', 'naïve', '\ufeff', '\u202e', '\x7f', '\x00', '\x1b', '', ' ', '\t',
    '\n',
    '\n\n', ' a', 'a ', 'a b', 'a: b', 'a :b', 'a #b', 'a\tb', '\ta', 'a\t', '- a', '-  a', '? a', ': a', 'a: ', 'a\n', 'a\n\n', '\na',
    '\n a', ' a\nb', '  a\n b\n', 'a\nb', 'a\nb\n', 'a\nb\n\n\n', 'a\n\nb', 'a\n  \nb', 'a \nb \n', 'a\n ', 'a\n \n', 'a\n\t', '\ta\nb',
    '\n\ta', 'a\n\tb', 'a\r\nb', 'a\rb', 'a\x85b', 'a\u2028b\n', 'a\nb\ufeff', '\ufeffa\nb', 'a\n\x1b[31m\n', '# a\nb', '---\na\n',
    '...\n', 'a\n---\nb', 'a\n...', '%YAML\nb', ' \na', '\n \na', '   \n a\n', '\t\na', "a" * 300, "a b " * 60, '2026-01-01 10:00:00',
    '2026-01-01 ', '1 000', '1 #', '{"a": 1}', 'a\'b"c', '"\n"', 'a\\\nb',
]
# fmt: on
NASTY = WORDS.split() + TEXTS

text = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text("01_.:eE+-xobn~,", max_size=6),
    st.text(" \t\na#:-|>'\"\\", max_size=10),
    st.lists(st.sampled_from(["", " ", "  ", "a", " a", "a ", "\t", "\ta", "#", "- a", "---", "é", "a: b"]), max_size=6).map("\n".join),
)
scalar = st.one_of(text, st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
json_value = st.recursive(
    scalar, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)), max_leaves=12
)


def same(first, second):
    """Equal in values, types and key order."""
    return json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize("loader", LOADERS)
@given(json_value)
@settings(max_examples=150, deadline=None)
@example({"a": NASTY})
@example({key: key for key in NASTY})
@example([[[["a\nb", {" x\ny": [" x\ny\n", {}]}]]], [], [[]], [{}], {}])
def test_reads_back(loader, value):
    assert same(LOADERS[loader](emit(value)), value)


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("loader", LOADERS)
def test_reads_back_each(loader, value):
    for document in (value, [value], {"k": value}, {value: "v"}, {"k": [{"k": value}, [value]]}, {"k": value, "l": 1}, [value, value]):
        assert same(LOADERS[loader](emit(document)), document)


@given(json_value)
@settings(max_examples=100, deadline=None)
def test_layout(value):
    written = emit(value)
    assert written.endswith("\n")
    assert emit(value) == written
    assert not set(written) & {"\r", "\x1b", "\x85", "\u2028", "\u202e", "\ufeff", "\x00"}


def test_caches_never_change_the_text():
    documents = [{f"k{i}": f"v{i}", "n": str(i), "t": f"a\n{i}"} for i in range(20_000)]
    first = [emit(d) for d in documents[:100]]
    for document in random.Random(1).sample(documents, len(documents)):
        emit(document)
    assert [emit(d) for d in documents[:100]] == first


def test_a_job_as_an_engineer_reads_it():
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train-1a2b3c4d-1",
            "labels": {"kueue.x-k8s.io/queue-name": "team-a", "taugen.dev/attempt": "1"},
            "annotations": {"taugen.dev/params": '{"lr": 0.1}', "empty": ""},
        },
        "spec": {
            "completions": 2,
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "main",
                            "image": "ghcr.io/acme/train:1.2.0",
                            "command": ["bash", "-c", "set -e\npython train.py \\\n  --lr=$LR\n"],
                            "args": ["--epochs", "10", "--flag=yes", "yes"],
                            "env": [{"name": "LR", "value": "1e-3"}, {"name": "WHO", "value": "it's me: you"}],
                            "resources": {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}},
                            "volumeMounts": [],
                        }
                    ],
                    "securityContext": {},
                    "enableServiceLinks": False,
                }
            },
        },
    }
    assert emit(job) == dedent("""\
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: train-1a2b3c4d-1
          labels:
            kueue.x-k8s.io/queue-name: team-a
            taugen.dev/attempt: "1"
          annotations:
            taugen.dev/params: '{"lr": 0.1}'
            empty: ""
        spec:
          completions: 2
          template:
            spec:
              containers:
              - name: main
                image: ghcr.io/acme/train:1.2.0
                command:
                - bash
                - -c
                - |
                  set -e
                  python train.py \\
                    --lr=$LR
                args:
                - --epochs
                - "10"
                - --flag=yes
                - "yes"
                env:
                - name: LR
                  value: "1e-3"
                - name: WHO
                  value: "it's me: you"
                resources:
                  limits:
                    cpu: "8"
                    memory: 64Gi
                    nvidia.com/gpu: "1"
                volumeMounts: []
              securityContext: {}
              enableServiceLinks: false
        """)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain words, it's fine", "plain words, it's fine"),
        ("1.36.2", "1.36.2"),
        ("500m", "500m"),
        ("--lr=0.1", "--lr=0.1"),
        ("$(POD_NAME)", "$(POD_NAME)"),
        ("https://x.y/z?a=b#c", "https://x.y/z?a=b#c"),
        ("Modèle 日本", "Modèle 日本"),
        ("1234e567", '"1234e567"'),
        ("2026-01-01", '"2026-01-01"'),
        ("On", '"On"'),
        ("key: value", '"key: value"'),
        ("a #b", '"a #b"'),
        ("*.log", '"*.log"'),
        ('say "hi": now', "'say \"hi\": now'"),
        ('^\\d+: "it\'s"$', "'^\\d+: \"it''s\"$'"),
        ("tab\there", '"tab\\there"'),
        ("bidi \u202e", '"bidi \\u202e"'),
        ("esc \x1b[31m", '"esc \\e[31m"'),
        ("tag \U000e0041", '"tag \\U000e0041"'),
        ("\n", '"\\n"'),
        ("a\r\nb", '"a\\r\\nb"'),
    ],
)
def test_styles(value, written):
    assert emit({"k": value}) == f"k: {written}\n"
    assert quoted(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\nb\n", "k: |\n  a\n  b\n"),
        ("a\nb", "k: |-\n  a\n  b\n"),
        ("a\n\n", "k: |+\n  a\n\n"),
        ("  a\nb\n", "k: |2\n    a\n  b\n"),
        ("\na\n", "k: |2\n\n  a\n"),
        ("\ta\n", "k: |2\n  \ta\n"),
        ("def f():\n    a\n    \n    b\n", "k: |\n  def f():\n      a\n      \n      b\n"),
    ],
)
def test_block_literals(value, written):
    assert emit({"k": value}) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [({}, "{}\n"), ([], "[]\n"), (None, "null\n"), (True, "true\n"), (1.0, "1.0\n"), (1e16, "1.0e+16\n"), ("a", "a\n")],
)
def test_roots(value, written):
    assert emit(value) == written


def test_subclasses_are_their_value():
    class Kind(StrEnum):
        JOB = "true"

    class Counted(int):
        pass

    assert emit({"k": Kind.JOB, Kind.JOB: [Kind.JOB], "count": Counted(3)}) == 'k: "true"\n"true":\n- "true"\ncount: 3\n'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800", {"\udfff": 1}, {"k" * 1001: 1}, ["a\n\ud800"]])
def test_refused(value):
    with pytest.raises(ValueError, match=r"finite|surrogate|key"):
        emit({"k": value})


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="set"):
        emit({"k": {1, 2}})


def test_patterns_mean_the_same_to_every_python():
    """A possessive quantifier within another matched wrongly before CPython 3.11.5 (issue 101955). Debian 12 has 3.11.2."""
    for pattern in (writer._PLAIN, writer._NUMBER, writer._ESCAPE, writer._ONE_LINE, writer._LINE_START, writer._hidden()):
        assert "POSSESSIVE" not in str(re._parser.parse(pattern.pattern)), pattern.pattern


def test_no_text_takes_long_to_judge():
    for text in ("x" * 100_000 + "\x7f", "a " * 50_000 + "\x7f", "a:b#" * 50_000 + "\t", ":" * 100_000, "a:" * 50_000):
        began = time.process_time()
        quoted(text)
        assert time.process_time() - began < 1
