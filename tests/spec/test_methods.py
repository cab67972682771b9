import sys

import pytest

from tests.processkit import python

LATER = pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 compiles a dataclass's methods at once")


@LATER
def test_the_methods_of_pydantic_wait():
    code = "import taugen.spec, annotated_types\nassert annotated_types.Ge.__eq__.__closure__, 'compiled'"
    assert python(code) == (0, "")


def test_its_classes_behave_as_they_did():
    code = """
import dataclasses, pickle
before = vars(dataclasses).copy()
import taugen.spec
assert vars(dataclasses) == before
import annotated_types, pydantic
from pydantic.fields import AliasChoices
one = annotated_types.Ge(1)
assert (one == annotated_types.Ge(1), one == annotated_types.Ge(2), one == annotated_types.Le(1)) == (True, False, False)
assert hash(one) == hash(annotated_types.Ge(1)) and len({one, annotated_types.Ge(1)}) == 1
assert repr(one) == 'Ge(ge=1)'
assert dataclasses.replace(one, ge=3) == annotated_types.Ge(3)
assert dataclasses.asdict(annotated_types.Interval(gt=1)) == {"gt": 1, "ge": None, "lt": None, "le": None}
assert pickle.loads(pickle.dumps(one)) == one
for change in (lambda: setattr(one, "ge", 2), lambda: delattr(one, "ge")):
    try:
        change()
    except dataclasses.FrozenInstanceError as error:
        assert "'ge'" in str(error)
    else:
        raise SystemExit("it was changed")
try:
    annotated_types.Ge(1, 2)
except TypeError:
    pass
else:
    raise SystemExit("it took two values")
assert AliasChoices("a", "b") == AliasChoices("a", "b") != AliasChoices("a")
"""
    assert python(code) == (0, "")


def test_dataclasses_of_others_are_as_ever():
    code = """
import dataclasses, taugen.spec
@dataclasses.dataclass(frozen=True, order=True)
class Size:
    wide: int
assert Size.__eq__.__closure__ is None and Size.__lt__.__closure__ is None
assert Size(1) == Size(1) and Size(1) < Size(2) and repr(Size(1)) == "Size(wide=1)"
"""
    assert python(code) == (0, "")


def test_nothing_changes_where_pydantic_was_loaded_before():
    before = "import pydantic.main, annotated_types\nbefore = annotated_types.Ge.__eq__\n"
    assert python(before + "import taugen.spec\nassert annotated_types.Ge.__eq__ is before") == (0, "")


def test_a_library_that_fails_to_load_leaves_dataclasses_alone():
    code = """
import dataclasses, sys
before = vars(dataclasses).copy()
sys.modules["annotated_types"] = None
try:
    import taugen.spec
except ImportError:
    assert vars(dataclasses) == before
else:
    raise SystemExit("it was loaded")
"""
    assert python(code) == (0, "")
