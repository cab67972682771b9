from tests.processkit import python

LOADED = """
import sys
from taugen.validate import loading
rs = loading.load()
assert rs.Draft202012Validator({"type": "integer"}).is_valid(1)
"""


def test_no_mail_is_loaded():
    assert python(LOADED + "assert not {'email.utils', 'socket', 'email.charset'} & set(sys.modules)") == (0, "")


def test_mail_is_itself_afterwards():
    dates = "import email.utils\nassert email.utils.parsedate_to_datetime('Thu, 12 Nov 2026 07:50:16 +0000').year == 2026"
    assert python(LOADED + dates) == (0, "")
    assert python("import email.utils\n" + LOADED + dates) == (0, "")


def test_what_wants_more_of_it_gets_the_real_one():
    code = """
import sys
from taugen.validate import loading
class Other:
    def find_spec(self, name, path=None, target=None):
        if name == "jsonschema_rs":
            import email.utils
            from email.utils import formatdate
            assert formatdate(0).startswith("Thu, 01 Jan 1970")
            assert type(sys.modules["email.utils"]) is type(sys)
            raise ImportError("as if it were not installed")
sys.meta_path.insert(0, Other())
try:
    loading.load()
except ImportError as error:
    assert str(error) == "as if it were not installed"
else:
    raise SystemExit("it was loaded")
import email.utils
assert email.utils.formataddr
"""
    assert python(code) == (0, "")
