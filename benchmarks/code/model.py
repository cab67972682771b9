"""The model of run @run@."""

import math
from dataclasses import dataclass

import torch


@dataclass
class Shape:
    """Width and depth."""

    width: int = 512
    depth: int = 12
    heads: int = 8
    dropout: float = 0.1

    @property
    def parameters(self) -> int:
        """How many weights such a model has."""
        attention = 4 * self.width * self.width
        feed_forward = 8 * self.width * self.width
        return self.depth * (attention + feed_forward + 4 * self.width)


def warmup(step: int, most: float, steps: int = 4000) -> float:
    """The learning rate: linear up, then the inverse square root down."""
    if step < steps:
        return most * step / steps
    return most * math.sqrt(steps / step)


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Of one head."""
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def activations(shape: Shape, batch: int, length: int) -> int:
    """Bytes of activations in half precision."""
    one = batch * length * shape.width * 2
    scores = batch * shape.heads * length * length * 2
    return shape.depth * (12 * one + scores)
