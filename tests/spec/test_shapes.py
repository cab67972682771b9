from tests.processkit import python

CORE = "import typing_extensions\nfrom pydantic_core import core_schema\n"


def test_the_types_of_schemas_are_no_typed_dictionaries():
    plain = "assert not typing_extensions.is_typeddict(core_schema.ModelSchema)\nassert core_schema.ModelSchema(a=1) == {'a': 1}"
    assert python("import taugen.spec\n" + CORE + plain) == (0, "")
    assert python("import taugen.policy.model\n" + CORE + plain) == (0, "")


def test_those_of_others_are():
    code = """
import typing, typing_extensions
before = (typing.TypedDict, typing_extensions.TypedDict)
import taugen.spec
assert before == (typing.TypedDict, typing_extensions.TypedDict)
import pydantic
class Size(typing_extensions.TypedDict):
    wide: int
assert typing_extensions.is_typeddict(Size)
assert pydantic.TypeAdapter(Size).validate_python({"wide": "3"}) == {"wide": 3}
"""
    assert python(code) == (0, "")


def test_nothing_changes_where_the_core_was_loaded_before():
    assert python(CORE + "import taugen.spec\nassert typing_extensions.is_typeddict(core_schema.ModelSchema)") == (0, "")


def test_a_core_that_fails_to_load_leaves_the_types_alone():
    code = """
import sys, typing
before = typing.TypedDict
sys.modules["pydantic_core._pydantic_core"] = None
try:
    import taugen.spec
except ImportError:
    assert typing.TypedDict is before
else:
    raise SystemExit("it was loaded")
"""
    assert python(code) == (0, "")
