"""What a hostile pull request tries with texts: bytes that are none, YAML that readers disagree about, names and markup for those who read
the report."""

from tests.attacks.cases import case
from tests.attacks.kit import PROBE, RUN, Fork

# ------------------------------------------------------------------------------------------------------------ bytes and YAML


@case("name is set twice: first on line 1", "compute is set twice", "[yaml-duplicate-key]")
def a_value_that_is_written_twice(f: Fork) -> None:
    f.run(more="name: other\ncompute: {memory: 900Gi}\n? name\n: x\n")


@case("invalid Unicode character escape", "[yaml-syntax]")
def half_a_character(f: Fork) -> None:
    f.run(("name: probe", 'name: "\\ud800x"'), more='"\\udfff": 1\n')


@case("U+0000 is not allowed in YAML", "[yaml-character]")
def a_null_byte(f: Fork) -> None:
    f.put({"tau.yaml": b"name: probe\0x\n"})


@case("the file is UTF-16 or UTF-32", "[yaml-encoding]")
def another_encoding(f: Fork) -> None:
    f.put({"tau.yaml": RUN.encode("utf-16")})


@case("the file is UTF-16 or UTF-32", "[yaml-encoding]")
def another_encoding_full_of_mistakes(f: Fork) -> None:
    f.put({"tau.yaml": b"\xff\xfe" + b"\x00\xd8" * 5000})


@case("byte 0xc0 is not UTF-8", "[yaml-encoding]")
def a_slash_in_two_bytes(f: Fork) -> None:
    f.put({"tau.yaml": b"name: \xc0\xaf\xc0\xae\n"})


@case("the directive %YAML is not allowed", "the directive %TAG is not allowed", "[yaml-directive]")
def directives(f: Fork) -> None:
    f.put({"tau.yaml": "%YAML 9.9\n%TAG ! tag:evil.example,2000:\n---\n" + RUN})


@case("the tag !!set is not allowed", "the tag !!binary is not allowed", "[yaml-tag]")
def sets_and_bytes(f: Fork) -> None:
    f.run(more="labels: !!set {a, b}\ndescription: !!binary aGk=\n")


@case("[yaml-key]")
def keys_that_are_no_words(f: Fork) -> None:
    f.run(more="? {a: b}\n: 1\n? " + "[a, " * 40 + "]" * 40 + "\n: 1\n")


@case("is a number in base 60 to other YAML readers", '"0b11", but a whole number is wanted')
def numbers_that_readers_disagree_about(f: Fork) -> None:
    f.run(("cpus: 1", "cpus: 1:30:00"), more="generation: 0b11\n")


# ---------------------------------------------------------------------------------------------------------------- large texts


@case("tau.yaml:9:200018: error", "[value-form]")
def a_line_of_200_kilobytes(f: Fork) -> None:
    f.run(more="labels: {a: " + "x" * 200_000 + ", b: {}}\n")


@case("[unknown-key]", "[more-findings]")
def a_line_of_many_mistakes(f: Fork) -> None:
    f.put({"tau.yaml": "{name: probe, " + ", ".join(f"k{n}: 1" for n in range(20_000)) + "}"})


@case("x is set twice", "[more-findings]")
def hundreds_of_documents_full_of_mistakes(f: Fork) -> None:
    f.put({"tau.yaml": "---\n".join(f"name: probe-{n}\n" + "x: 1\n" * 20 for n in range(499))})


@case()
def hundreds_of_documents_without_mistakes(f: Fork) -> None:
    f.put({"tau.yaml": "---\n".join(RUN.replace("name: probe", f"name: probe-{n}") for n in range(499))})


@case()
def programs_that_break_parsers(f: Fork) -> None:
    f.put({"workspaces/climate/x.py": "1\n", "train.py": "import x\n" + "a." * 290_000 + "b\n", "cookie.py": "# coding: zlib\nimport x\n"})


@case("train.py imports x", "[import-not-delivered]")
def a_program_of_many_levels(f: Fork) -> None:
    levels = "".join(" " * n + "if 1:\n" for n in range(99))
    f.put({"workspaces/climate/x.py": "1\n", "train.py": f"import x\n{levels}{' ' * 99}pass\n"})


# ----------------------------------------------------------------------------------------------------- those who read the report


@case("\\ufffe\\uffff\\x0b\\x85\\u2028\\ue000]]>&amp;<!--", "[unknown-key]")
def characters_that_xml_can_not_hold(f: Fork) -> None:
    f.run(more='"\\ufffe\\uffff\\u000b\\u0085\\u2028\\ue000]]>&amp;<!--": 1\n')


MARKUP = (
    "a|b <img src=x onerror=1> [l](javascript:1) ![i](//e.example/x.png) <https://evil.example> www.evil.example mailto:a@evil.example "
    "@octo #12 GH-12 team/repo#1 <!-- --> &lt;b&gt; `x` ``` $x$ ~~~ **b** __c__ ~~d~~ [^1] &#60;i&#62; \\\\<b>"
)


@case("<img src=x onerror=1>", "[unknown-key]")
def markup_of_every_kind(f: Fork) -> None:
    f.run(more=f'"{MARKUP}\\n| x | y |\\n\\n# title": 1\n')


@case("/tau.yaml:1:1: error", "[missing-entrypoint]")
def markup_in_the_name_of_a_folder(f: Fork) -> None:
    f.put({"workspaces/climate/![x](https://evil.example)|<img src=x>@team]]>&lt;\"'/tau.yaml": "name: x\n"})


@case("a\\n::error file=x::y", "[document-unreadable]")
def a_workflow_command_in_the_name_of_a_folder(f: Fork) -> None:
    f.put({"workspaces/climate/a\n::error file=x::y/tau.yaml": "name: x\n"})


@case("U+2028 LINE SEPARATOR", "U+E000", "U+0085 a control character", "SOFT HYPHEN, which can't be seen", "[run-name]")
def names_that_can_not_be_seen(f: Fork) -> None:
    for number, letter in enumerate(("\\u2028", "\\ue000", "\\u0085", "\\u00ad", "\\U000e0041")):
        f.put({f"workspaces/climate/n{number}/tau.yaml": RUN.replace("name: probe", f'name: "a{letter}"')})


@case("unknown key", "%s%n{{ 1 }}${{ secrets.X }}")
def placeholders_of_every_language(f: Fork) -> None:
    f.run(more='"%s%n{{ 1 }}${{ secrets.X }}$(id)`id`{0.__class__}": 1\n')


@case()
def names_that_differ_in_case_or_in_form_only(f: Fork) -> None:
    f.put({"Train.py": "x\n", "TRAIN.PY": "x\n", f"{PROBE}/caf\u00e9.py": "1\n", f"{PROBE}/cafe\u0301.py": "2\n", "TAU.YAML": "name: x\n"})
