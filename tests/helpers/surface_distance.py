"""Distances from points to triangle meshes by another way than the library's: planes, segments and a k-d tree."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from hra.domains.meshes import TriangleMesh


def segment_distance(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to segments [n, 3]."""
    side = end - start
    length = (side**2).sum(axis=1)
    share = np.divide(((point - start) * side).sum(axis=1), length, out=np.zeros(len(side)), where=length > 0)
    return np.linalg.norm(point - start - np.clip(share, 0, 1)[:, None] * side, axis=1)


def distances(point: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to triangles [n, 3, 3]: to the plane if its foot is inside, else to a side."""
    a, b, c = corners.transpose(1, 0, 2)
    result = np.min([segment_distance(point, p, q) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    normal = np.cross(b - a, c - a)
    square = (normal**2).sum(axis=1)
    height = ((point - a) * normal).sum(axis=1)
    inside = square > 0
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, point - p) * normal).sum(axis=1) >= 0
    return np.where(inside, np.abs(height) / np.sqrt(np.where(square > 0, square, 1)), result)


def true_distances(points: np.ndarray, mesh: TriangleMesh) -> np.ndarray:
    """Distance from each point [n, 3] to the surface: triangles with near centres, until no other can be nearer."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    center = corners.mean(axis=1)
    reach = np.linalg.norm(corners - center[:, None], axis=2).max(axis=1)
    tree, best = KDTree(center), np.full(len(points), np.inf)
    left, count = np.arange(len(points)), min(8, len(center))
    while len(left):
        gaps, which = (array.reshape(len(left), -1) for array in tree.query(points[left], count))
        for gap, column in zip(gaps.T, which.T, strict=True):
            open_ = gap - reach[column] < best[left]
            rows = left[open_]
            best[rows] = np.minimum(best[rows], distances(points[rows], corners[column[open_]]))
        if count == len(center):
            break
        left, count = left[gaps[:, -1] - reach.max() < best[left]], min(4 * count, len(center))
    return best


def dense_points(mesh: TriangleMesh, steps: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """A lattice of points on every triangle, its corners among them: at most ``most`` [n, 3], drawn at random."""
    shares = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    points = np.einsum("sc,fca->fsa", shares, mesh.positions[mesh.triangles].astype(np.float64)).reshape(-1, 3)
    return points if len(points) <= most else points[rng.choice(len(points), most, replace=False)]
