"""A published fleet to start from; a home without a past."""

from tests.homekit import fleet, home, new, published_once, taugen

__all__ = ["fleet", "home", "new", "published_once", "taugen"]
