"""Code in a Python process of its own: what a library is like once it was loaded shows nowhere else."""

import subprocess
import sys
from collections.abc import Mapping


def python(code: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """How it ended, and what it wrote to stderr."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stderr
