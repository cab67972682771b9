"""YAML documents: values, places, and every way in which a file can be no document."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.load import nodes
from taugen.load.nodes import parse


def text(yaml: str) -> bytes:
    return textwrap.dedent(yaml).lstrip("\n").encode()


def faults(raw: bytes | str) -> list[tuple[str, int, int]]:
    _, found = parse("f", raw.encode() if isinstance(raw, str) else raw)
    return [(d.rule, d.span.line, d.span.column) for d in found]


def data(raw: bytes | str) -> object:
    documents, found = parse("f", raw.encode() if isinstance(raw, str) else raw)
    assert not found
    return documents[0].data


@pytest.fixture(params=["libyaml", "pure Python"])
def composer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pure Python":
        monkeypatch.setattr(nodes, "_Composer", nodes.PureComposer)
    return str(request.param)


class TestValues:
    @pytest.mark.parametrize(
        ("typed", "value"),
        [
            ("8", 8), ("-3", -3), ("+3", 3), ("0", 0), ("0o17", 15), ("0x1F", 31), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("7e-2", 0.07),  # noqa: E501
            ("true", True), ("FALSE", False), ("null", None), ("~", None), ("", None), ("1_000", "1_000"), ("0b11", "0b11"), ("tRue", "tRue"),  # noqa: E501
            ('"8"', "8"), ("'true'", "true"), ('""', ""), ("1.2.3", "1.2.3"), ("64Gi", "64Gi"), ("-", [None]), (".inf", float("inf")),
            ("9" * 41, "9" * 41), ("12345678901234567890", 12345678901234567890), ("nothing", "nothing"), ("none", "none"),
        ],
    )  # fmt: skip
    def test_a_scalar_is_what_yaml_1_2_says(self, composer: str, typed: str, value: object) -> None:
        found = data(f"a:\n  {typed}\n" if typed == "-" else f"a: {typed}\n")
        assert found == {"a": value}
        assert type(found["a"]) is type(value)  # type: ignore[index]

    @pytest.mark.parametrize(
        ("typed", "kind"),
        [
            ("no", "true or false"), ("Yes", "true or false"), ("on", "true or false"), ("OFF", "true or false"), ("NO", "true or false"),
            ("22:22", "a number in base 60"), ("1:30:00", "a number in base 60"), ("0755", "an octal number"), ("08", "an octal number"),
            ("-01", "an octal number"), ("2026-01-01", "a date"), ("2026-1-1T10:00:00Z", "a date"), ("2026-01-01 10:00:00 +1", "a date"),
        ],
    )  # fmt: skip
    def test_what_yaml_1_1_reads_otherwise_is_a_trap_and_stays_text(self, composer: str, typed: str, kind: str) -> None:
        documents, found = parse("f", f"a: {{b: [{typed}]}}\n".encode())
        assert not found
        assert documents[0].data == {"a": {"b": [typed]}}
        assert documents[0].traps == [(("a", "b", 0), typed, kind)]

    @pytest.mark.parametrize(
        "typed", ['"no"', "y", "N", "'22:22'", "now", "yesterday", "10.0.0.1:80", "12:60x", "2026-01", "0", "0.5", "00:1f", "12:99"]
    )
    def test_other_scalars_are_no_traps(self, composer: str, typed: str) -> None:
        assert parse("f", f"a: {typed}\n".encode())[0][0].traps == []

    def test_line_ends_do_not_matter(self, composer: str) -> None:
        unix = text(
            """
            a: 1
            b: |
              x
              y
            c: >-
              one
              two
            """
        )
        assert (
            data(unix) == data(unix.replace(b"\n", b"\r\n")) == data(unix.replace(b"\n", b"\r")) == {"a": 1, "b": "x\ny\n", "c": "one two"}
        )

    def test_a_byte_order_mark_is_no_part_of_the_text(self, composer: str) -> None:
        documents, found = parse("f", b"\xef\xbb\xbfname: x\n")
        assert not found
        assert documents[0].data == {"name": "x"}
        assert documents[0].span(("name",), key=True).column == 1

    def test_several_documents(self, composer: str) -> None:
        documents, found = parse("f", b"a: 1\n---\n# nothing\n---\nb: 2\n...\n---\nc: 3\n")
        assert not found
        assert [(d.index, d.data) for d in documents] == [(0, {"a": 1}), (1, {"b": 2}), (2, {"c": 3})]

    @pytest.mark.parametrize("raw", [b"", b"\n\n", b"# only\n# comments\n", b"---\n", b"---\n...\n", b"\xef\xbb\xbf", b"%YAML 1.2\n---\n"])
    def test_nothing_is_no_document(self, composer: str, raw: bytes) -> None:
        assert parse("f", raw) == ([], [])

    def test_a_large_text_is_one_value(self, composer: str) -> None:
        large = "x" * 200_000
        assert data(f"a: {large}\n") == {"a": large}


class TestFaults:
    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ("a: 1\nb: 2\na: 3\n", [("yaml-duplicate-key", 3, 1)]),
            ("a: {x: 1, 'x': 2}\n", [("yaml-duplicate-key", 1, 11)]),
            ("a: &x 1\n", [("yaml-anchor", 1, 4)]),
            ("a: &x 1\nb: *x\n", [("yaml-anchor", 1, 4), ("yaml-alias", 2, 4)]),
            ("b: *missing\n", [("yaml-alias", 1, 4)]),
            ("b: {<<: {c: 1}}\n", [("yaml-merge", 1, 5)]),
            ("a: !!str 1\n", [("yaml-tag", 1, 4)]),
            ("a: !env HOME\n", [("yaml-tag", 1, 4)]),
            ("a: !!python/object/apply:os.system [id]\n", [("yaml-tag", 1, 4)]),
            ("a: ! 1\n", [("yaml-tag", 1, 4)]),
            ("!!str a: 1\n", [("yaml-tag", 1, 1)]),
            ("a: !!map {}\n", [("yaml-tag", 1, 4)]),
            ("%YAML 1.1\n---\na: 1\n", [("yaml-directive", 1, 1)]),
            ("# x\n%YAML 1.3\n---\na: 1\n", [("yaml-directive", 2, 1)]),
            ("%TAG !e! tag:x,1:\n---\na: 1\n", [("yaml-directive", 1, 1)]),
            ("- a\n- b\n", [("yaml-shape", 1, 1)]),
            ("text\n", [("yaml-shape", 1, 1)]),
            ("null\n", [("yaml-shape", 1, 1)]),
            ("? [a, b]\n: 1\n", [("yaml-key", 1, 3)]),
            ("a: {[b]: 1}\n", [("yaml-key", 1, 5)]),
            ("a:\n  ?\n  : 1\n", [("yaml-key", 2, 4)]),
            ("a:\n\tb: 1\n", [("yaml-tab", 2, 1)]),
            ("a: 1\n \t b: 1\n", [("yaml-tab", 2, 2)]),
            ("a: b: c\n", [("yaml-syntax", 1, 5)]),
            ("a: [1, 2\n", [("yaml-syntax", 1, 4)]),
            ('a: "open\n', [("yaml-syntax", 1, 4)]),
            ("a: @x\n", [("yaml-syntax", 1, 4)]),
            ("a: 1\nb\nc: 2\n", [("yaml-syntax", 2, 1)]),
            ("a: 1\n---\nb: [\n", [("yaml-syntax", 3, 4)]),
        ],
    )
    def test_each_fault_has_its_place(self, raw: str, expected: list[tuple[str, int, int]]) -> None:
        assert faults(raw) == expected

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            (b"a: b\n\xff\xfe: 1\n", ("yaml-encoding", 2, 1)),
            (b"a: caf\xe9\n", ("yaml-encoding", 1, 7)),
            (b"\xef\xbb\xbfa: \xc3\x28\n", ("yaml-encoding", 1, 4)),
            (b"a: \xed\xa0\x80\n", ("yaml-encoding", 1, 4)),
            ("a: 1\n".encode("utf-16"), ("yaml-encoding", 1, 1)),
            ("a: 1\n".encode("utf-16-be"), ("yaml-encoding", 1, 1)),
            ("a: 1\n".encode("utf-16-le"), ("yaml-encoding", 1, 1)),
            ("a: 1\n".encode("utf-32"), ("yaml-encoding", 1, 1)),
            (b"a: 1\nb: x\x00y\n", ("yaml-character", 2, 5)),
            (b"a: 1\r\nb: \x1b[31m\r\n", ("yaml-character", 2, 4)),
            ("a: x\ufeffy\n".encode(), ("yaml-character", 1, 5)),
            (b"a: \x7f\n", ("yaml-character", 1, 4)),
        ],
    )
    def test_bytes_that_are_no_text(self, composer: str, raw: bytes, expected: tuple[str, int, int]) -> None:
        found = faults(raw)
        if composer == "libyaml" and found == []:
            pytest.skip("libyaml takes this character")
        assert found == [expected]

    @pytest.mark.parametrize(
        "raw",
        [
            "- " * 130_000 + "x",
            "? " * 130_000 + "x",
            "a: " + "[" * 260_000,
            "a: " + "{b: " * 60_000,
            "a: " + "[" * 900 + "]" * 900,
            "\n".join(" " * i + "a:" for i in range(700)),
            "\n".join(" " * i + "a:" for i in range(60)),
            "a: " + "[" * 60 + "]" * 60,
            "a:\n- " + "- " * 500 + "x",
            "-\n" * 5 + "".join(" " * i + "-\n" for i in range(600)),
        ],
        ids=["dashes", "question marks", "brackets", "braces", "closed", "indented", "just too deep", "flow", "mixed", "alone"],
    )
    def test_deep_nesting_is_one_finding_and_quick(self, composer: str, raw: str) -> None:
        documents, found = parse("f", raw.encode())
        assert [d.rule for d in found] in (["yaml-nesting"], ["yaml-syntax"], ["yaml-shape"])
        assert len(documents) <= 1

    def test_nesting_up_to_the_limit_is_read(self, composer: str) -> None:
        raw = "a: " + "[" * (nodes.MAX_DEPTH - 1) + "]" * (nodes.MAX_DEPTH - 1) + "\n"
        assert faults(raw) == []

    def test_an_alias_bomb_stays_small(self, composer: str) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        documents, found = parse("f", "\n".join(lines).encode())
        assert {d.rule for d in found} == {"yaml-anchor", "yaml-alias"}
        assert len(found) <= 20
        assert len(str(documents[0].data)) < 2000

    def test_an_alias_to_itself_ends(self, composer: str) -> None:
        documents, found = parse("f", b"a: &a [1, *a]\nb: *a\n")
        assert [d.rule for d in found][:2] == ["yaml-anchor", "yaml-alias"]
        assert all(d.data["a"] == [1, None] for d in documents)

    def test_other_findings_of_a_file_with_an_anchor_are_still_found(self, composer: str) -> None:
        documents, found = parse("f", b"a: &x {b: 1}\nc: 1\nc: 2\nd: *x\n")
        assert [d.rule for d in found] == ["yaml-anchor", "yaml-alias", "yaml-duplicate-key"]
        assert documents[0].lost == [("d",)]
        assert documents[0].data["a"] == {"b": 1}

    @pytest.mark.parametrize("raw", ["a: [x & y, '*.csv', \"&x\"]\n", "a: |\n  *x &y\n", "a: x*y&z\n", "# &a *b\na: 1\n"])
    def test_ampersands_and_stars_in_text_are_text(self, composer: str, raw: str) -> None:
        assert faults(raw) == []

    def test_percent_signs_in_text_are_text(self, composer: str) -> None:
        assert data("a: 50%\nb: |\n  %x\n") == {"a": "50%", "b": "%x\n"}

    def test_messages_say_what_to_write(self) -> None:
        for raw in (b"a: b: c\n", b"a: [1\n", b"a\tb\n", b"a: *x\n", b"a: !x 1\n", b"\xff\n", b'a: "\\q"\n'):
            for found in parse("f", raw)[1]:
                assert found.message[0].islower() or found.message.startswith("U+")
                assert found.hint
                assert not found.message.endswith(".")


class TestPlaces:
    RAW = text(
        """
        name: quick
        list:
          - one
          - {k: v}
        block: |
          first
          second
        quoted: "a
          b"
        empty:
        deep: {inner: {leaf: 5}}
        """
    )

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            (("name",), (1, 7, 1, 12)),
            (("list",), (3, 3, 3, 4)),
            (("list", 0), (3, 5, 3, 8)),
            (("list", 1, "k"), (4, 9, 4, 10)),
            (("block",), (5, 8, 5, 9)),
            (("quoted",), (8, 9, 8, 10)),
            (("deep", "inner", "leaf"), (11, 22, 11, 23)),
            (("deep", "inner"), (11, 16, 11, 20)),
        ],
    )
    def test_of_values(self, composer: str, path: tuple[str | int, ...], place: tuple[int, int, int, int]) -> None:
        span = parse("f", self.RAW)[0][0].span(path)
        assert (span.line, span.column, span.end_line, span.end_column) == place

    def test_of_keys(self, composer: str) -> None:
        document = parse("f", self.RAW)[0][0]
        assert str(document.span(("deep", "inner"), key=True)) == "f:11:8"
        assert str(document.span(("empty",), key=True)) == "f:10:1"

    def test_of_what_is_not_there_is_the_nearest_place(self, composer: str) -> None:
        document = parse("f", self.RAW)[0][0]
        assert str(document.span(("deep", "inner", "gone"))) == "f:11:8"
        assert str(document.span(("gone",))) == "f:1:1"
        assert str(document.span(("list", 7))) == "f:2:1"
        assert str(document.span(())) == "f:1:1"

    def test_of_a_key_that_is_there_twice_is_the_first(self, composer: str) -> None:
        document = parse("f", b"a: 1\na: 2\n")[0][0]
        assert document.data == {"a": 1}
        assert document.span(("a",)).line == 1

    def test_typed_texts(self, composer: str) -> None:
        document = parse("f", b"a: 3.10\nb: '7e-2'\nc: [0x10]\nd: {}\n")[0][0]
        assert [document.text(p) for p in (("a",), ("b",), ("c", 0), ("d",), ("e",))] == ["3.10", "7e-2", "0x10", None, None]


def outcome(raw: bytes) -> tuple[list[object], list[tuple[str, int]], list[object]]:
    documents, found = parse("f", raw)
    return [d.data for d in documents], [(d.rule, d.span.line) for d in found], [d.traps for d in documents]


_PIECES = st.lists(
    st.sampled_from(
        ["a: ", "b: ", "c:\n", "  d: ", "- ", "[", "]", "{", "}", ", ", "1", "no", "0755", "x y", '"q"', "'", "\n", "\n", "  ", "#c\n", "|\n", "&x ", "*x", "!t ", "? ", ": ", "\t", "%", "---\n"]  # noqa: E501
    ),
    max_size=14,
)  # fmt: skip


@given(_PIECES)
def test_nothing_raises_and_both_composers_read_the_same_documents(pieces: list[str]) -> None:
    raw = "".join(pieces).encode()
    fast = outcome(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "_Composer", nodes.PureComposer)
        pure = outcome(raw)
    if not fast[1] and any(rule == "yaml-tab" for rule, _ in pure[1]):
        return  # PyYAML's own scanner knows no tab after a value
    assert bool(fast[1]) == bool(pure[1])
    if not fast[1]:
        assert fast == pure


def test_a_key_of_a_large_mapping_is_found_at_its_first_place() -> None:
    text = "".join(f"k{i}: {i}\n" for i in range(40)) + "k7: again\n"
    document = parse("f", text.encode())[0][0]
    assert (document.span(("k7",)).line, document.span(("k39",), key=True).line, document.node(("k40",))) == (8, 40, None)


@given(st.binary(max_size=60))
def test_no_bytes_raise(raw: bytes) -> None:
    for found in parse("f", raw)[1]:
        assert found.span.line >= 1
        assert found.span.column >= 1


def test_half_a_character_is_a_fault_of_both_composers(composer: str) -> None:
    assert [d.rule for d in parse("f", b'a: "\\ud800"\nb: 1\n')[1]] == ["yaml-syntax"]
