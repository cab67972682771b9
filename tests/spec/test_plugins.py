import os

from tests import processkit

PLUGIN = """
from importlib import metadata
class Entry:
    value, name, group = "spoil:plugin", "spoil", "pydantic"
    def load(self):
        raise SystemExit("a plugin was loaded")
metadata.entry_points = lambda **kwargs: [Entry()]
"""


def python(code: str) -> tuple[int, str]:
    return processkit.python(code, {name: value for name, value in os.environ.items() if name != "PYDANTIC_DISABLE_PLUGINS"})


MODEL = "import pydantic\nclass A(pydantic.BaseModel):\n    a: int\nA(a=1)\n"


def test_a_plugin_of_pydantic_takes_no_part():
    assert python(PLUGIN + MODEL) == (1, "a plugin was loaded\n")
    assert python(PLUGIN + "import taugen.spec\n" + MODEL) == (0, "")


def test_nor_where_pydantic_was_used_before():
    assert python(MODEL + "import taugen.spec\nfrom taugen.spec.model import RunSpec\nRunSpec(name='a')") == (0, "")


def test_whoever_wants_more_of_the_loader_gets_it():
    code = "import taugen.spec\nfrom pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP as name\nassert name == 'pydantic'"
    assert python(code) == (0, "")
