"""Losses of run @run@."""

import math


def cross_entropy(scores: list[float], wanted: int) -> float:
    """Of one row, from raw scores."""
    top = max(scores)
    total = sum(math.exp(score - top) for score in scores)
    return math.log(total) - (scores[wanted] - top)


def huber(guess: float, target: float, delta: float = 1.0) -> float:
    """Squared near zero, linear far away."""
    error = abs(guess - target)
    return 0.5 * error * error if error <= delta else delta * (error - 0.5 * delta)
