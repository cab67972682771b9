from tests.processkit import python

COUNTED = """
import re, re._compiler, base64, datetime
real, texts = re._compiler.compile, []
re._compiler.compile = lambda text, flags=0: (texts.append(text), real(text, flags))[1]
import taugen.load.patterns, yaml
"""


def test_loading_yaml_compiles_no_pattern_of_it():
    assert python(COUNTED + "assert not any('year' in str(text) or chr(0x10ffff) in str(text) for text in texts), texts") == (0, "")


def test_its_parser_in_python_reads_as_before():
    code = """
import re
before = re.compile
import taugen.load.patterns, yaml
assert re.compile is before and type(re.compile("a")) is re.Pattern
text = "a: 2026-10-12\\nb: 2026-10-12 01:02:03 +01:00\\nc: [1, 0x10, 1.5, yes, ~, '1']\\n<<: {d: e}\\n"
import datetime
assert yaml.load(text, yaml.SafeLoader) == yaml.load(text, yaml.CSafeLoader)
assert yaml.load(text, yaml.SafeLoader)["a"] == datetime.date(2026, 10, 12)
try:
    yaml.load("a: \\x07", yaml.SafeLoader)
except yaml.reader.ReaderError as error:
    assert error.position == 3
else:
    raise SystemExit("a bell was read")
"""
    assert python(code) == (0, "")


def test_nothing_changes_where_yaml_was_loaded_before():
    code = "import re, yaml\nimport taugen.load.patterns\nassert type(yaml.reader.Reader.NON_PRINTABLE) is re.Pattern"
    assert python(code) == (0, "")
