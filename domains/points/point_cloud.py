"""Points with colours: discs that face the viewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hra.domains.points.checks import rows
from hra.errors import ArrayError


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points as discs that face the viewer.

    Parameters
    ----------
    positions : float32 [P, 3], P >= 1. colors : float32 [P, 3] in 0 .. 1 as they are shown (sRGB), grey by default.
    radii : float32 [P] >= 0, world units; by default the side of the square that a point has to itself on a surface,
        estimated from its neighbours when a tree is built.

    Raises
    ------
    ArrayError : another shape, no points, or numbers out of range.

    Examples
    --------
    >>> from hra.domains import points
    >>> cloud = points.PointCloud([[0, 0, 0], [1, 0, 0]])
    >>> len(cloud), cloud.colors[0].tolist()
    (2, [0.5, 0.5, 0.5])
    """

    positions: Any
    colors: Any = None
    radii: Any = None

    unit: ClassVar[str] = "points"
    row_bytes: ClassVar[int] = 19  # in PLY: position and radius as float32, three bytes of colour

    def __post_init__(self) -> None:
        positions = rows("positions", self.positions, (None, 3))
        if not len(positions):
            raise ArrayError("there are no points", where="positions")
        colors = np.full(positions.shape, 0.5) if self.colors is None else self.colors
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "colors", rows("colors", colors, positions.shape, 0, 1))
        if self.radii is not None:
            object.__setattr__(self, "radii", rows("radii", self.radii, (len(positions),), 0))

    def __len__(self) -> int:
        """Number of points P."""
        return len(self.positions)
