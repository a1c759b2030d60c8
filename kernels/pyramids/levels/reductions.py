"""The ways to reduce pixels to one coarser pixel, and the sizes that halving gives."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hra.errors import HraError

Reduce = Literal["mean", "max", "min", "srgb_mean"]
REDUCTIONS: tuple[Reduce, ...] = ("mean", "max", "min", "srgb_mean")


def check_reduce(reduce: str) -> Reduce:
    """Return ``reduce`` if it names a reduction, else raise :class:`HraError`."""
    for known in REDUCTIONS:
        if reduce == known:
            return known
    raise HraError(f"unknown reduction {reduce!r}", where="argument reduce", fix=f"one of {', '.join(REDUCTIONS)}")


def identity(reduce: Reduce, dtype: np.dtype) -> float:
    """The maximum (minimum) of no pixel at all: the lowest (highest) value of the dtype, -inf (inf) for floats."""
    if dtype.kind == "f":
        return -np.inf if reduce == "max" else np.inf
    limits = np.iinfo(dtype)
    return limits.min if reduce == "max" else limits.max


def halve(size: int) -> int:
    """Pixels of the next coarser level: half, rounded up."""
    return (size + 1) // 2
