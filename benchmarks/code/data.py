"""Batches for run @run@: made up, so that the example needs no data set."""

import random
from collections.abc import Iterator

Row = tuple[list[float], float]


def rows(seed: int, count: int) -> Iterator[Row]:
    """`count` rows of four features and their target."""
    source = random.Random(seed)
    for _ in range(count):
        features = [source.uniform(-1, 1) for _ in range(4)]
        yield features, sum(features) * 2 + source.gauss(0, 0.01)


def batches(seed: int, size: int) -> list[Row]:
    """One batch."""
    return list(rows(seed, size))
