"""Loads jsonschema-rs, and nothing that nobody uses.

In: nothing. Out: the module. While it is loaded it reads the date on which it was built, with `email.utils`, which loads sockets and most
of the mail package. What must never happen: an `email.utils` of anybody else that is not the real one; another release that fails because
it wants more of it.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_MODULE = "jsonschema_rs"
_MAIL = "email.utils"


class _NoMail(ModuleType):
    """Stands in for `email.utils` while the module is loaded; for all but the one question it gives way to it."""

    @staticmethod
    def parsedate_to_datetime(text: str) -> str:
        """The date as it was written."""
        return text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system looks for
            raise AttributeError(name)
        self.leave()
        return getattr(import_module(_MAIL), name)

    def leave(self) -> None:
        """Be no longer in the place of the real one."""
        if sys.modules.get(_MAIL) is self:
            del sys.modules[_MAIL]


def load() -> Any:
    """`jsonschema_rs`. Raises ImportError where it isn't installed."""
    if _MODULE in sys.modules or _MAIL in sys.modules:
        return import_module(_MODULE)
    mail = sys.modules[_MAIL] = _NoMail(_MAIL)
    try:
        return import_module(_MODULE)
    finally:
        mail.leave()
