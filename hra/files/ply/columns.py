"""The rows of a PLY element as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


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
