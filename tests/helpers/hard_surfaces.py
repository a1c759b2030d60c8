"""Surfaces whose simplifications are farther from them than they look: thin, torn, flat, folded, scattered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hra.domains import meshes
from tests.helpers.seamed_meshes import grid


def _grid(cells: int, other: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Points [n, 2] of a lattice in the unit square, and two triangles in each cell."""
    other = other or cells
    x, y = np.meshgrid(np.linspace(0, 1, cells + 1), np.linspace(0, 1, other + 1))
    return np.stack([x.reshape(-1), y.reshape(-1)], 1), grid(cells, other)


def thin_sheet(cells: int = 22, thickness: float = 1e-3) -> meshes.TriangleMesh:
    """A closed slab, waved, whose two sides are much nearer to each other than their vertices."""
    flat, faces = _grid(cells)
    wave = 0.1 * np.sin(5 * flat[:, 0]) * np.cos(4 * flat[:, 1])
    top, bottom = (np.column_stack([flat, wave + side * thickness / 2]) for side in (1, -1))
    rim = np.flatnonzero((np.abs(flat - 0.5) == 0.5).any(axis=1))
    rim = rim[np.argsort(np.arctan2(*(flat[rim] - 0.5).T))]
    after, below = np.roll(rim, -1), len(flat)
    walls = np.concatenate([np.stack([rim, after, rim + below], 1), np.stack([after, after + below, rim + below], 1)])
    return meshes.from_arrays(np.concatenate([top, bottom]), np.concatenate([faces, faces[:, ::-1] + below, walls]))


def soup(count: int = 700, shared: bool = False) -> meshes.TriangleMesh:
    """Triangles anywhere, each with vertices of its own, or between few common ones."""
    rng = np.random.default_rng(4)
    if shared:
        return meshes.from_arrays(rng.normal(size=(count // 3, 3)), rng.integers(0, count // 3, (count, 3)))
    corners = rng.normal(size=(count, 1, 3)) + 0.1 * rng.normal(size=(count, 3, 3))
    return meshes.from_arrays(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def torn(cells: int = 26) -> meshes.TriangleMesh:
    """A waved sheet with ragged borders and holes."""
    flat, faces = _grid(cells)
    points = np.column_stack([flat, 0.15 * np.sin(9 * flat[:, 0]) * np.sin(7 * flat[:, 1])])
    return meshes.from_arrays(points, faces[np.random.default_rng(2).random(len(faces)) > 0.15])


def flat_sheet(cells: int = 28) -> meshes.TriangleMesh:
    """An open plane of uneven triangles."""
    flat, faces = _grid(cells)
    inside = np.all(np.abs(flat - 0.5) < 0.49, axis=1)
    flat = flat + np.where(inside[:, None], np.random.default_rng(3).uniform(-0.3, 0.3, flat.shape) / cells, 0)
    return meshes.from_arrays(np.column_stack([flat, np.zeros(len(flat))]), faces)


def needles(cells: int = 26) -> meshes.TriangleMesh:
    """A plane from which single vertices stick out far."""
    flat, faces = _grid(cells)
    height = np.where(np.random.default_rng(5).random(len(flat)) < 0.03, 0.5, 0.0)
    return meshes.from_arrays(np.column_stack([flat, height]), faces)


def block(cells: int = 12) -> meshes.TriangleMesh:
    """A cube of many coplanar triangles on every face, as tessellators make them: large ones lie over many."""
    flat, faces = _grid(cells)
    points, triangles = [], []
    for axis in range(3):
        for side in (0.0, 1.0):
            points.append(np.insert(flat, axis, side, axis=1))
            triangles.append((faces if (side > 0) == (axis != 1) else faces[:, ::-1]) + len(flat) * (2 * axis + side))
    return meshes.from_arrays(np.concatenate(points), np.concatenate(triangles).astype(np.int64))


def tube(around: int = 64, along: int = 24) -> meshes.TriangleMesh:
    """A long open cylinder of slivers."""
    flat, faces = _grid(around, along)
    angle = 2 * np.pi * flat[:, 0]
    return meshes.from_arrays(np.column_stack([np.cos(angle), np.sin(angle), 30 * flat[:, 1]]), faces)


def folded(cells: int = 24) -> meshes.TriangleMesh:
    """A sheet in sharp narrow folds, whose neighbours touch nearly."""
    flat, faces = _grid(4 * cells, cells // 2)
    zigzag = np.abs((flat[:, 0] * cells) % 2 - 1)
    return meshes.from_arrays(np.column_stack([0.05 * flat[:, 0], flat[:, 1], zigzag]), faces)


def crossing(cells: int = 18) -> meshes.TriangleMesh:
    """Two sheets that share a line of vertices: four faces in every edge of it."""
    flat, faces = _grid(cells)
    upright = np.column_stack([flat[:, 0], np.full(len(flat), 0.5), 2 * flat[:, 1] - 1])
    level = np.column_stack([flat, 0.05 * np.sin(9 * flat[:, 0]) * np.abs(flat[:, 1] - 0.5)])
    return meshes.from_arrays(np.concatenate([level, upright]), np.concatenate([faces, faces + len(flat)]))


HARD_SURFACES: dict[str, Callable[[], meshes.TriangleMesh]] = {
    "thin sheet": thin_sheet,
    "thinner sheet": lambda: thin_sheet(thickness=1e-6),
    "soup": soup,
    "soup of common vertices": lambda: soup(shared=True),
    "torn": torn,
    "flat": flat_sheet,
    "needles": needles,
    "block": block,
    "tube": tube,
    "folded": folded,
    "crossing": crossing,
}
