"""What several tests of changes share."""

from __future__ import annotations

import numpy as np

from hra.domains import meshes
from hra.domains.meshes.building.geometry import Geometry


def simplified(bumpy: meshes.TriangleMesh, shares: tuple[float, ...]) -> tuple[list[np.ndarray], Geometry]:
    """The mesh at each share, from the last one."""
    geometry, free = Geometry.of(bumpy.positions), np.zeros(len(bumpy.positions), np.uint8)
    found = [np.ascontiguousarray(bumpy.triangles).reshape(-1)]
    for share in shares:
        found.append(geometry.simplify(found[-1], free, 3 * int(found[-1].size / 3 * share))[0])
    return found, geometry
