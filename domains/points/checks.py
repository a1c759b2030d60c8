"""Arrays of clouds, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError


def rows(name: str, values: Any, shape: tuple[int | None, ...], low: float = -np.inf, high: float = np.inf) -> Any:
    """``values`` as read-only float32 of this shape (None for any length), within [low, high].

    Raises
    ------
    ArrayError : another shape, no numbers, or a number that is not finite or out of range.
    """
    given = np.asarray(values)
    fits = len(given.shape) == len(shape) and all(b in (None, a) for a, b in zip(given.shape, shape, strict=True))
    if not fits or given.dtype.kind not in "iuf":
        expected = ", ".join("P" if part is None else str(part) for part in shape)
        raise ArrayError(f"{name} must be numbers [{expected}], got {given.dtype} {list(given.shape)}", where=name)
    with np.errstate(over="ignore"):
        array = np.array(given, np.float32)
    usable = (array >= low) & (array <= high) & np.isfinite(array)
    bad = np.flatnonzero(~usable.all(axis=tuple(range(1, usable.ndim))))
    if bad.size:
        what = f"{name}[{bad[0]}] is {given[bad[0]].tolist()}"
        raise ArrayError(what, where=name, fix=f"finite numbers from {low:g} to {high:g}")
    array.flags.writeable = False
    return array
