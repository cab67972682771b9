"""Loads yaml without compiling the patterns of its parser in Python, which the one in C does not use.

In: nothing. Out: `yaml` is loaded, its patterns are compiled when they are first used: one of them names nearly every character there is.
What must never happen: a pattern of anybody else put off.
"""

import base64  # noqa: F401 - what yaml itself loads is loaded before
import datetime  # noqa: F401
import re
import sys

from taugen.words.regex import regex


def load() -> None:
    """Load `yaml`, unless it is loaded."""
    if "yaml" in sys.modules:
        return
    real = re.compile
    re.compile = regex  # type: ignore[assignment]
    try:
        import yaml  # noqa: F401
    finally:
        re.compile = real


load()
