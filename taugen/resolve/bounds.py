"""Whether a value is what a profile's `override` allows.

In: a value, as text, and `Bounds`. Out: what the bounds say against it, or nothing. A bound that is no quantity decides nothing: a rule of
policy reports it.
"""

from collections.abc import Callable
from typing import NamedTuple

from taugen.policy.model import Bounds
from taugen.words import quantity
from taugen.words.errors import TextError

Compare = Callable[[str, str], int]


class Outside(NamedTuple):
    """`says` goes on after the profile's name, `hint` is what to write."""

    says: str
    hint: str


def outside(value: str, bounds: Bounds, compare: Compare | None = quantity.compare) -> Outside | None:
    """What the bounds say against `value`; without `compare` values are names, and only `oneOf` is looked at."""
    if bounds.oneOf is not None:
        orders = [0 if value == choice else order(value, choice, compare) for choice in bounds.oneOf]
        if 0 not in orders and (compare is None or None not in orders):
            listed = ", ".join(bounds.oneOf)
            return Outside(f"allows only {listed}", f"write one of {listed}")
    if bounds.max is not None and (order(value, bounds.max, compare) or 0) > 0:
        return Outside(f"allows at most {bounds.max}", f"write {bounds.max} or less")
    if bounds.min is not None and (order(value, bounds.min, compare) or 0) < 0:
        return Outside(f"allows no less than {bounds.min}", f"write {bounds.min} or more")
    return None


def crossed(bounds: Bounds) -> bool:
    """Whether nothing lies between the bounds, which a rule of policy reports."""
    return bounds.min is not None and bounds.max is not None and (order(bounds.min, bounds.max) or 0) > 0


def order(value: str, bound: str, compare: Compare | None = quantity.compare) -> int | None:
    """How `value` stands to a bound: below 0, 0, above 0; None for names, and for a bound that can't be compared."""
    try:
        return None if compare is None else compare(value, bound)
    except TextError:
        return None
