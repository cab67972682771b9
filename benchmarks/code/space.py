"""The search space of @run@."""

LOWEST, HIGHEST = 1e-4, 1e-2


def clipped(rate: float) -> float:
    """A learning rate within the space."""
    return min(max(rate, LOWEST), HIGHEST)
