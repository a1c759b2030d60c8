"""A terrain in tiles, seen by a camera: the whole way from context to cut."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.camera import Camera
from hra.model.hierarchy import Hierarchy
from hra_lab.inputs import pictures, quadtrees

# The map is one unit wide; its heights (grey values) are scaled to relief like that of real ground.
_RELIEF = 0.05
_BOUNDS = ((0.0, 0.0, 0.0), (1.0, 1.0, _RELIEF))
_TILE_TRIANGLES = 128.0


@final
class TerrainAllocator(HierarchicalResourceAllocator):
    """Tiles of a terrain within a triangle budget."""

    def realize(self, allocation: Allocation) -> Any:
        """Numbers of the tiles to draw, int [K]."""
        return allocation.cut


def terrain(size: int) -> Hierarchy:
    """About ``size`` tiles of a height map, four replacing one; with what a screen error reads of them.

    A tile's error is half of its range of heights, so that it never grows from coarse to fine.
    """
    side = quadtrees.side_of(size)
    size = 1 + 4 * ((size - 1) // 4)  # the last split is a whole one
    low, high = (heights[:size] * _RELIEF for heights in pictures.height_ranges(pictures.square(side // 2)))
    width = 0.5 ** quadtrees.levels(size)
    center = np.column_stack([quadtrees.cell_centers(size), (low + high) / 2])
    half = np.column_stack([width / 2, width / 2, (high - low) / 2])
    attributes = {
        "box": np.stack([center - half, center + half], axis=1),
        "center": center,
        "radius": np.hypot(width * np.sqrt(0.5), (high - low) / 2),
        "error": (high - low) / 2,
        "area": np.square(width),
    }
    cost = np.full(size, _TILE_TRIANGLES)
    return Hierarchy.tree(quadtrees.parents(size), cost, attributes=attributes, cost_unit="triangles")


def camera_at(azimuth: float) -> Camera:
    """A camera over the edge of the map at ``azimuth`` degrees that looks at its middle, half a unit away."""
    return Camera.orbit(_BOUNDS, azimuth=azimuth, elevation=20.0, distance=0.5, up=(0, 0, 1))
