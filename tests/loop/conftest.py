"""A person's machine: a home without a past, git that knows a name."""

from tests.homekit import ada, home, taugen

__all__ = ["ada", "home", "taugen"]
