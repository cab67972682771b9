"""Text and JSON: nothing in them acts on a terminal or a CI runner, and JSON still says the same."""

import json

import pytest

from taugen.outputs import common, text
from taugen.outputs import json as machine
from tests.outputs.kit import NASTY, nasty, report


def test_text_is_printable():
    out = text.write(report(nasty()), lambda _file, _line: NASTY)
    assert all(line.isprintable() for line in out.splitlines())
    assert "##[" not in out
    assert not any(line.lstrip().startswith("::") for line in out.splitlines())


def test_a_file_named_like_a_command():
    from taugen.diag import Span
    from tests.outputs.kit import finding

    out = text.write(report(finding(span=Span("::add-mask::x/tau.yaml"))), lambda _file, _line: None)
    assert out.startswith("\\x3a:add-mask::x/tau.yaml:1:1: error:")


def test_json_is_printable_and_says_the_same():
    for out in (machine.write(report(nasty())), common.dumps([NASTY])):
        assert out.isascii()
        assert "\x1b" not in out
        assert "##[" not in out
    assert json.loads(common.dumps([NASTY])) == [NASTY]
    assert json.loads(machine.write(report(nasty())))["findings"][0]["file"] == f"workspaces/{NASTY}/tau.yaml"


def test_json_keeps_letters():
    from tests.outputs.kit import finding

    assert "größer als 日本" in machine.write(report(finding(message="größer als 日本")))


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"a": [], "b": {}, "c": [{}, [None, True, 1, -1, 0.5, 1.0]]},
        "\"\\/\b\f\n\r\t\x00\x1f\x7f\x80\u2028 é 😀 ##",
        ["\udc80 is half of a character"],
        {"\udc80": 2**70, "x": -(2**63)},
        {NASTY: NASTY},
    ],
)
def test_json_has_one_layout_whoever_writes_it(value):
    assert common.dumps(value) == common._ESCAPED.sub(common._escape, json.dumps(value, indent=2, ensure_ascii=False)) + "\n"
