"""Where fetched repositories are kept between commands.

In: the environment. Out: a folder, which may not exist yet.
"""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where fetched repositories are: TAUGEN_CACHE, else the user's cache folder."""
    own = os.environ.get("TAUGEN_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "taugen"
