"""Keeps pydantic's plugins out.

In: nothing. Out: pydantic builds models without a search for plugins (`PYDANTIC_DISABLE_PLUGINS` alone saves the search, not what is
loaded for it). What must never happen: another release of pydantic that fails because its loader of plugins has another form.
"""

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_LOADER = "pydantic.plugin._loader"


class _Nobody(ModuleType):
    """Stands in for pydantic's loader; for all but the one question it gives way to it."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        """No plugins."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system looks for
            raise AttributeError(name)
        if sys.modules.get(_LOADER) is self:
            del sys.modules[_LOADER]
        return getattr(import_module(_LOADER), name)


def none() -> None:
    """No plugins from now on; none at all where nothing of pydantic was used before."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.modules.setdefault(_LOADER, _Nobody(_LOADER))
