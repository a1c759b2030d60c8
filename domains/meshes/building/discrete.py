"""The classic chain of separate meshes, each of half as many triangles: what clusters are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.spheres import enclosing_spheres
from hra.domains.meshes.building.weld import weld_wedges, without_degenerate
from hra.domains.meshes.files.read import load
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, referenced_only
from hra.errors import HraError

SHARES = tuple(2.0**-step for step in range(8))


def build_discrete(source: str | Path | TriangleMesh, shares: Sequence[float] = SHARES) -> DiscreteLOD:
    """Simplify a whole mesh to ``shares`` of its triangles, each level from the source, until one does not shrink.

    Parameters
    ----------
    source : mesh, or a mesh file (see `load`).
    shares : falling from 1.

    Raises
    ------
    HraError : other shares; and see `load`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> chain = meshes.build_discrete(hra.samples.path("skull.ply"), shares=[1, 0.5])
    >>> chain.by_budget(30_000)
    1
    """
    if list(shares) != sorted(set(shares), reverse=True) or not shares or shares[0] != 1 or shares[-1] <= 0:
        raise HraError(f"shares must fall from 1 and stay above 0, got {tuple(shares)}", where="shares")
    mesh = source if isinstance(source, TriangleMesh) else load(source)
    positions, triangles, attributes = weld_wedges(mesh.positions, mesh.triangles, mesh.attributes)
    geometry, unlocked = Geometry.of(positions, attributes), np.zeros(len(positions), np.uint8)
    triangles = without_degenerate(triangles, geometry.position_of)
    levels, errors = [referenced_only(positions, triangles, attributes)], [0.0]
    for share in shares[1:]:
        target = 3 * int(len(triangles) * share)
        flat = np.ascontiguousarray(triangles).reshape(-1)
        coarse, error = geometry.simplify(flat, unlocked, target)
        if not 0 < coarse.size < 3 * len(levels[-1].triangles):
            break
        levels.append(referenced_only(positions, coarse.reshape(-1, 3), attributes))
        errors.append(max(error * geometry.scale, errors[-1]))
    everything = np.arange(len(positions))
    ends = np.array([0, len(positions)])
    center, radius = enclosing_spheres(positions, np.zeros(len(positions), np.float32), ends, everything)
    return DiscreteLOD(tuple(levels), np.array(errors), center[0], float(radius[0]))
