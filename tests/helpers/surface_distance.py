"""Distances from points to triangle meshes by another way than the library's: planes, segments and a k-d tree."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from hra.domains.meshes import TriangleMesh


def segment_distance(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to segments [n, 3]."""
    side, off = end - start, point - start
    length = _dot(side, side)
    share = np.divide(_dot(off, side), length, out=np.zeros(len(side)), where=length > 0)
    away = off - np.clip(share, 0, 1)[:, None] * side
    return np.sqrt(_dot(away, away))


def distances(point: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to triangles [n, 3, 3]: to the plane if its foot is inside, else to a side."""
    a, b, c = corners.transpose(1, 0, 2)
    normal = _cross(b - a, c - a)
    square = _dot(normal, normal)
    inside, nearest = square > 0, np.full(len(square), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        nearest = np.minimum(nearest, segment_distance(point, p, q))
        inside &= _dot(_cross(q - p, point - p), normal) >= 0
    height = np.abs(_dot(point - a, normal)) / np.sqrt(np.where(square > 0, square, 1))
    return np.where(inside, height, nearest)


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("ni,ni->n", one, other)


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What `numpy.cross` gives for vectors [n, 3], at a third of its time."""
    (x, y, z), (u, v, w) = one.T, other.T
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=1)


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
