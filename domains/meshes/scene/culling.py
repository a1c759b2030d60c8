"""Which placed meshes a view may see at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.camera.view import View
from hra.domains.meshes.scene.placed_eye import Eye
from hra.domains.meshes.scene.placed_view import copies_in_view
from hra.domains.meshes.scene.placements import Placements


def instances_seen(placed: Placements, views: Sequence[View]) -> np.ndarray:
    """What of each copy the ``views`` of the world may see, int8 [B]: 0 nothing, 1 something, 2 all of it.

    Conservative. By the sphere around the copy, then by the boxes around its source clusters.
    """
    seen = np.zeros(len(placed.matrices), np.int8)
    for kind, extent in enumerate(placed.extents):
        numbers = np.flatnonzero(placed.mesh_of == kind)
        for view in views:
            spheres = (placed.centers, placed.radii)
            copies_in_view(Eye.of(view.camera), placed.matrices, numbers, spheres, extent.whole, extent.sources, seen)
    return seen
