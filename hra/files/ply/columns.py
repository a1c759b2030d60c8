"""The rows of a PLY element as arrays, and coordinates in doubles as float32 and an origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Coordinates this many times farther from 0 than they are from each other are counted from an origin.
_FAR = 64


@dataclass(frozen=True, eq=False)
class Lists:
    """A list property: ``values`` [n], of which each row [R] begins at ``offsets`` int64 [R + 1].

    Examples
    --------
    >>> import numpy as np
    >>> from hra.files.ply import Lists
    >>> two = Lists(np.array([7, 8, 9]), np.array([0, 1, 3]))
    >>> two.values[two.offsets[1] : two.offsets[2]].tolist()
    [8, 9]
    """

    values: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True, eq=False)
class Columns:
    """The properties of an element by name, of the types that the header states.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.files.ply import Columns
    >>> Columns({"x": np.float32([1.0, 2.5])}).scalars["x"].tolist()
    [1.0, 2.5]
    """

    scalars: Mapping[str, np.ndarray] = field(default_factory=dict)
    lists: Mapping[str, Lists] = field(default_factory=dict)


def joined_runs(values: np.ndarray, begin: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs of ``values`` that begin at ``begin`` [R], one after the other, and their offsets [R + 1]."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    shift = np.repeat(begin - offsets[:-1], lengths)
    return values[np.arange(offsets[-1]) + shift], offsets


def split_origin(positions: Any, deciding: Any = None) -> tuple[Any, tuple[float, float, float]]:
    """Positions [P, 3] relative to an origin, and the origin, where float32 is too coarse for them as they are.

    Doubles far from 0 lose by float32 what they are far: a metre at 5,800,000 m has two values. An origin is taken only
    where at least six bits of every coordinate would go, a multiple of a power of two near the middle, so that
    differences are exact.

    Parameters
    ----------
    deciding : [n, 3], n >= 1, the positions that matter, or corners of their box; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.files.ply import split_origin
    >>> split_origin(np.array([[381797.25, 5820377.5, 30.125], [381798.3, 5820378.5, 31.0]]))[1]
    (381798.0, 5820378.0, 31.0)
    """
    given = np.asarray(positions)
    none = (0.0, 0.0, 0.0)
    if given.ndim != 2 or given.shape[1:] != (3,) or not len(given) or given.dtype.kind not in "iuf":
        return positions, none
    if (given.dtype.itemsize <= 4 and given.dtype.kind == "f") or not np.isfinite(given).all():
        return positions, none
    with np.errstate(over="ignore"):
        kept = np.array_equal(given.astype(np.float32), given)
    those = given if deciding is None else np.asarray(deciding)
    origin = none if kept else origin_between(those.min(axis=0), those.max(axis=0))
    return (given - np.array(origin), origin) if any(origin) else (positions, none)


def origin_between(low: np.ndarray, high: np.ndarray) -> tuple[float, float, float]:
    """The origin for doubles in the box between two corners [3]; zeros where they need none."""
    low, high = low.astype(np.float64), high.astype(np.float64)
    extent = float((high - low).max())
    if np.abs([low, high]).max() < _FAR * extent:
        return (0.0, 0.0, 0.0)
    step = 2.0 ** np.floor(np.log2(extent)) if extent > 0 else 1.0
    x, y, z = (np.rint((low + high) / 2 / step) * step).tolist()
    return x, y, z
