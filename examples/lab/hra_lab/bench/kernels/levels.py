"""What all hand-written pyramids share: the same step again and again, and differences between neighbours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any


def coarser_levels(level: Any, step: Callable[[Any], Any], count: int) -> list[Any]:
    """The ``count`` levels that ``step`` makes one after the other of an image, which is not among them."""
    levels = []
    for _ in range(count):
        level = step(level)
        levels.append(level)
    return levels


def band_levels(image: Any, step: Callable[[Any], Any], expand: Callable[[Any], Any], count: int) -> list[Any]:
    """``count`` Laplacian levels: each Gaussian level less the next one expanded; the last is Gaussian."""
    gaussians = [image, *coarser_levels(image, step, count - 1)]
    return [fine - expand(coarse) for fine, coarse in pairwise(gaussians)] + gaussians[-1:]


def halvings(*sides: int) -> int:
    """How often an image can be halved until a pixel is left, sizes being rounded up."""
    return (max(sides) - 1).bit_length()
