"""Where pages lie in the world, and which of them a depth buffer hides."""

from __future__ import annotations

import numpy as np

from hra.camera.occlusion import Occlusion
from hra.domains.textures.views.scene import TexturedPlane


def cell_corners(plane: TexturedPlane) -> np.ndarray:
    """World positions of the corners of every cell (page of the finest level), in turn around it: [GY, GX, 4, 3]."""
    rows, columns = plane.texture.mips[0].shape[:2]
    cell, grid = plane.texture.pages.cell, plane.texture.pages.finest.shape
    y, x = (np.minimum(np.arange(n + 1) * cell / size, 1) for n, size in zip(grid, (rows, columns), strict=True))
    corner = plane.points(x[None, :], y[:, None])
    return np.stack([corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]], axis=2)


def visible_cells(plane: TexturedPlane, occlusion: Occlusion) -> np.ndarray:
    """Which cells of a plane may be in view and not hidden by what was drawn, bool [GY, GX]; conservative."""
    corners = cell_corners(plane)
    boxes = np.stack([corners.min(axis=2), corners.max(axis=2)], axis=2)
    return occlusion.visible_boxes(boxes.reshape(-1, 2, 3)).reshape(corners.shape[:2])
