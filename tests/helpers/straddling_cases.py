"""What several tests of straddling share."""

from __future__ import annotations

import numpy as np

from hra.domains import meshes
from hra.domains.meshes.distances.box_tree import nearest_distances
from hra.domains.meshes.distances.deviation import Surface
from hra.domains.meshes.distances.pieces import fill_patch, patch_memory
from hra.domains.meshes.distances.straddling import bound_by_walls, parts_memory
from hra.domains.meshes.distances.triangle_distance import fill_triangles, surface_memory

SHARES = np.array([(i, j, 24 - i - j) for i in range(25) for j in range(25 - i)]) / 24


def surface_of(points: np.ndarray, faces: np.ndarray) -> Surface:
    """The triangles with walls and what is behind them, relative to the origin of the coordinates."""
    triangles, balls, runs, gaps = surface_memory(len(faces))
    walls, behind, keys, places = patch_memory(len(faces))
    indices = np.ascontiguousarray(faces, np.uint32).reshape(-1)
    fill_triangles(points, indices, 0, indices.size, np.zeros(3), triangles, balls, runs)
    fill_patch(indices, 0, indices.size, triangles, walls, behind, keys, places)
    return Surface(triangles, balls, runs, len(faces), gaps, walls, behind)


def bound(surface: Surface, corners: np.ndarray, start: int, room: float) -> tuple[float, float]:
    """The bound of a triangle, and the room that it takes."""
    return bound_by_walls(corners[None], start, surface, room, *parts_memory())


def farthest(points: np.ndarray, faces: np.ndarray, corners: np.ndarray) -> float:
    return float(nearest_distances(SHARES @ corners, points, faces.astype(np.uint32)).max())


def hills(sheet: meshes.TriangleMesh, rng: np.random.Generator, height: float) -> np.ndarray:
    """The vertices of a sheet in the unit square, lifted at random."""
    points = sheet.positions / np.abs(sheet.positions).max()
    points[:, 2] = height * rng.normal(size=len(points))
    return points.astype(np.float32)
