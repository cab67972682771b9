"""How many trials a Ray Tune search has, and how many of them run at once.

In: a resolved program. Out: counts. A search of 4 trials never runs 99 at once, whatever `max_concurrent_trials` allows.
"""

from taugen.resolve.run import Program
from taugen.words import Json


def total(program: Program) -> int:
    """`num_samples`, times every combination of the lists under `grid_search` (Ray Tune, BasicVariantGenerator)."""
    return _count(program, "num_samples") * _grid(dict(program.configs))


def at_once(program: Program) -> int:
    """`max_concurrent_trials`, as far as there are as many."""
    return min(_count(program, "max_concurrent_trials"), total(program))


def _count(program: Program, name: str) -> int:
    value = program.tune.get(name)
    return value if isinstance(value, int) and value > 0 else 1


def _grid(space: Json) -> int:
    """The combinations of a search space."""
    if not isinstance(space, dict):
        return 1
    found = 1
    for name, value in space.items():
        found *= max(1, len(value)) if name == "grid_search" and isinstance(value, list) else _grid(value)
    return found
