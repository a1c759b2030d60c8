"""Distances from points to triangle meshes by another way than the library's: planes, segments and a k-d tree."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from hra.domains.meshes import TriangleMesh


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Products [n] of vectors [3, n]: a row for each coordinate, which takes a fraction of the time of [n, 3]."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    (x, y, z), (u, v, w) = one, other
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u])


def _segment_distance(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distances [n] from points [3, n] to segments [3, n]."""
    side, way = end - start, point - start
    length = _dot(side, side)
    share = np.divide(_dot(way, side), length, out=np.zeros(len(length)), where=length > 0)
    way -= np.clip(share, 0, 1) * side
    return np.sqrt(_dot(way, way))


def distances(point: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances [n] from points [n, 3] to triangles [n, 3, 3]: to the plane if its foot is inside, else to a side."""
    point = np.ascontiguousarray(point.T)
    a, b, c = np.ascontiguousarray(corners.transpose(1, 2, 0))
    sides = ((a, b), (b, c), (c, a))
    result = np.min([_segment_distance(point, p, q) for p, q in sides], axis=0)
    normal = _cross(b - a, c - a)
    square = _dot(normal, normal)
    height = _dot(point - a, normal)
    inside = square > 0
    for p, q in sides:
        inside &= _dot(_cross(q - p, point - p), normal) >= 0
    return np.where(inside, np.abs(height) / np.sqrt(np.where(square > 0, square, 1)), result)


def true_distances(points: np.ndarray, mesh: TriangleMesh) -> np.ndarray:
    """Distance from each point [n, 3] to the surface: triangles with near centres, until no other can be nearer."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    center = corners.mean(axis=1)
    reach = np.linalg.norm(corners - center[:, None], axis=2).max(axis=1)
    tree, best = KDTree(center), np.full(len(points), np.inf)
    left, done, count = np.arange(len(points)), 0, min(8, len(center))
    while len(left):
        gaps, which = (array.reshape(len(left), -1) for array in tree.query(points[left], count))
        for columns in (slice(done, done + 1), slice(done + 1, count)):  # what the first finds rules out many others
            open_ = gaps[:, columns] - reach[which[:, columns]] < best[left, None]
            found = np.full(open_.shape, np.inf)
            rows = left[np.nonzero(open_)[0]]
            found[open_] = distances(points[rows], corners[which[:, columns][open_]])
            best[left] = np.minimum(best[left], found.min(axis=1, initial=np.inf))
        if count == len(center):
            break
        done, left = count, left[gaps[:, -1] - reach.max() < best[left]]
        count = min(4 * count, len(center))
    return best


def dense_points(mesh: TriangleMesh, steps: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """A lattice of points on every triangle, its corners among them: at most ``most`` [n, 3], drawn at random."""
    shares = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    points = np.einsum("sc,fca->fsa", shares, mesh.positions[mesh.triangles].astype(np.float64)).reshape(-1, 3)
    return points if len(points) <= most else points[rng.choice(len(points), most, replace=False)]


def samples_of(points: np.ndarray, triangles: np.ndarray, steps: int = 12) -> np.ndarray:
    """Points [F * S, 3] of a lattice on each triangle, whose sides it divides into so many steps."""
    shares = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    return np.einsum("sc,fca->fsa", shares, points[triangles].astype(np.float64)).reshape(-1, 3)
