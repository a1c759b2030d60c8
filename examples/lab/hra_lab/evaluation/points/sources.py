"""Clouds that are compared: vertices of real scans, lit so that their shape shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hra.domains import meshes
from hra.domains.points import PointCloud

_LIGHTS = (((0.4, -0.6, 0.7), 0.75), ((-0.8, 0.3, 0.2), 0.25))


def lit(path: str | Path) -> PointCloud:
    """The vertices of a mesh file, each as bright as two lights and its own normal make it."""
    mesh = meshes.load(path)
    normals = vertex_normals(mesh.positions.astype(float), mesh.triangles)
    ways = np.array([np.array(way) / np.linalg.norm(way) for way, _ in _LIGHTS])
    brightness = (normals @ ways.T).clip(0) @ np.array([share for _, share in _LIGHTS])
    colors = (0.1 + 0.9 * brightness[:, None] * [1.0, 0.93, 0.8]).clip(0, 1)
    used = np.unique(mesh.triangles)
    return PointCloud(mesh.positions[used], colors[used])


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Mean of the triangles' normals by area, unit length [N, 3]."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    across, normals = np.cross(b - a, c - a), np.zeros_like(positions)
    for corner in range(3):
        for axis in range(3):
            normals[:, axis] += np.bincount(triangles[:, corner], across[:, axis], len(positions))
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
