"""Surface area of clusters, and points spread over a surface."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh


def surface_area(positions: np.ndarray, indices: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Area of each cluster's triangles.

    Parameters
    ----------
    positions : float32 [V, 3]; indices : uint32 [3 T]; offsets : int64 [N + 1], where each cluster's indices begin.

    Returns
    -------
    float64 [N], in the square of the unit of ``positions``.
    """
    total = np.zeros(len(offsets) - 1)
    _sum_areas(positions.astype(np.float64), indices, offsets, total)
    return total


@njit(cache=True)
def _sum_areas(positions, indices, offsets, total):
    for c in range(total.size):
        for t in range(offsets[c], offsets[c + 1], 3):
            p, q, r = positions[indices[t]], positions[indices[t + 1]], positions[indices[t + 2]]
            ax, ay, az = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            bx, by, bz = r[0] - p[0], r[1] - p[1], r[2] - p[2]
            x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            total[c] += 0.5 * np.sqrt(x * x + y * y + z * z)


def surface_points(mesh: TriangleMesh, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random points, uniform over the surface: float64 [count, 3]; of corners where no triangle has an area.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> triangle = meshes.from_arrays(np.eye(3), [[0, 1, 2]])
    >>> points = meshes.surface_points(triangle, 4, np.random.default_rng(0))
    >>> np.allclose(points.sum(axis=1), 1)
    True
    """
    offsets = np.arange(len(mesh.triangles) + 1, dtype=np.int64) * 3
    area = surface_area(mesh.positions, mesh.triangles.reshape(-1), offsets)
    weight = area / area.sum() if area.sum() > 0 else None
    chosen = mesh.triangles[rng.choice(len(mesh.triangles), count, p=weight)]
    # Uniform over barycentric coordinates, and so over a triangle.
    shares = rng.dirichlet([1, 1, 1], count)
    return np.einsum("sc,sca->sa", shares, mesh.positions[chosen].astype(np.float64))
