"""Programs that are not Python packages of this project, for tests that try them for real: `tools/outside.sh` installs them all.

They stand in a folder outside of the repository: TAUGEN_TOOLS, else ~/.cache/taugen-tools. A test that lacks one skips and says so.
"""

import os
import shutil
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("TAUGEN_TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "taugen-tools")
HOW = "tools/outside.sh installs it"


def program(name: str) -> str:
    """The path of a program, in the folder or on the path; skips where there is none."""
    for place in (FOLDER / "bin" / name, FOLDER / "python" / "bin" / name):
        if place.is_file():
            return str(place)
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: {HOW}")
    return found


def node_file(path: str) -> Path:
    """A file of an npm package; skips where the package is missing."""
    found = FOLDER / "npm" / "node_modules" / path
    if not found.exists():
        pytest.skip(f"the npm package {'/'.join(path.split('/')[: 2 if path.startswith('@') else 1])} is not installed: {HOW}")
    return found
