"""Surfaces in numbers: area of clusters, points spread over them, and directed edges.

Directed edges tell winding, borders and the signed boundary chain.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import ArrayError, check_kind
from hra.model.arrays import indices as whole_numbers
from hra.model.arrays import to_numpy, whole_in


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


def triangle_normals(corners: np.ndarray) -> np.ndarray:
    """The unit normals of triangles with these ``corners`` [n, 3, 3], float64 [n, 3]; 0 where they have no area."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)


def surface_points(mesh: TriangleMesh, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random points, uniform over the surface: float64 [count, 3]; of corners where no triangle has an area.

    Raises
    ------
    HraError : no mesh, a count that is not a whole number >= 0, or no generator of random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> triangle = meshes.from_arrays(np.eye(3), [[0, 1, 2]])
    >>> points = meshes.surface_points(triangle, 4, np.random.default_rng(0))
    >>> np.allclose(points.sum(axis=1), 1)
    True
    """
    check_kind("mesh", mesh, TriangleMesh, "pass one such as meshes.load(path)")
    check_kind("rng", rng, np.random.Generator, "pass np.random.default_rng(seed)")
    count = whole_in("count", count)
    offsets = np.arange(len(mesh.triangles) + 1, dtype=np.int64) * 3
    area = surface_area(mesh.positions, mesh.triangles.reshape(-1), offsets)
    weight = area / area.sum() if area.sum() > 0 else None
    chosen = mesh.triangles[rng.choice(len(mesh.triangles), count, p=weight)]
    # Uniform over barycentric coordinates, and so over a triangle.
    shares = rng.dirichlet([1, 1, 1], count)
    return np.einsum("sc,sca->sa", shares, mesh.positions[chosen].astype(np.float64))


def directed_edges(triangles: np.ndarray) -> np.ndarray:
    """The edges (a, b), (b, c), (c, a) of ``triangles`` [F, 3], int64 [3 F, 2]."""
    corners = triangles.astype(np.int64)
    return np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])


def _sorted_keys(triangles: np.ndarray) -> np.ndarray:
    """One sorted number per directed edge: the undirected edge in the high bits, the direction in the lowest."""
    edges = directed_edges(triangles)
    low, high = edges.min(axis=1), edges.max(axis=1)
    # Vertex numbers are below 2**31, so that two of them and the direction fit into 63 bits.
    keys = (low << 32) | (high << 1) | (edges[:, 0] > edges[:, 1])
    keys.sort()
    return keys


def boundary_chain(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The signed boundary of ``triangles`` [F, 3]: every directed edge (a, b) counts +1, its reverse -1.

    It is empty for a closed surface, also where more than two faces meet in an edge, and two sets of triangles join
    without a crack exactly if their chains cancel. Comparing sets of border edges would miss repeated ones.

    Returns
    -------
    int64 [E, 2], edges (a, b) with a < b whose count is not zero, sorted; int64 [E], their counts.

    Raises
    ------
    ArrayError : not whole numbers [F, 3] from 0 on.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> meshes.boundary_chain(np.array([[0, 1, 2], [0, 2, 3]]))
    (array([[0, 1],
           [0, 3],
           [1, 2],
           [2, 3]]), array([ 1, -1,  1,  1]))
    """
    faces = to_numpy(triangles)
    if faces.ndim != 2 or faces.shape[1] != 3:
        what = f"triangles must be [F, 3], got shape {faces.shape}"
        raise ArrayError(what, where="triangles", fix="pass three vertex numbers for each")
    keys = _sorted_keys(whole_numbers("triangles", faces.ravel(), 0, 2**31).reshape(-1, 3))
    undirected, first = np.unique(keys >> 1, return_index=True)
    # Equal keys except for the direction stand side by side: 1 for each of one direction, -1 for each of the other.
    count = np.add.reduceat(1 - 2 * (keys & 1), first) if keys.size else np.empty(0, np.int64)
    undirected, count = undirected[count != 0], count[count != 0]
    return np.stack([undirected >> 31, undirected & (2**31 - 1)], axis=1), count


def inconsistent_edges(triangles: np.ndarray) -> int:
    """Number of edges that exactly two faces share and both traverse in the same direction (a flipped face)."""
    keys = _sorted_keys(triangles)
    undirected = keys >> 1
    start = np.flatnonzero(np.r_[True, undirected[1:] != undirected[:-1]])
    pair = start[np.diff(np.r_[start, keys.size]) == 2]
    return int((keys[pair] == keys[pair + 1]).sum())
