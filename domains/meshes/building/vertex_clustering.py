"""Vertex clustering: a coarser simplification for surfaces whose topology lets no edge collapse."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.measures.edges import boundary_chain

_FINEST = 2**12
# What a displacement counts: shapes suffer more than by collapsed edges (meshoptimizer's clusterlod.h takes 2 as well).
_ERROR_FACTOR = 2.0


def cluster_vertices(
    triangles: np.ndarray,
    positions: np.ndarray,
    target: int,
    materials: np.ndarray | None = None,
    pinned: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Merge the vertices in each cell of the finest grid that leaves at most ``target`` triangles.

    Every vertex moves to one of the vertices of its cell, and triangles that lose a corner are dropped. Such a map
    keeps boundary chains: what was closed stays closed, also where many faces meet in an edge. Borders move to border
    vertices, and vertices where materials meet to others where the same ones meet, so that every triangle finds its
    material at its new corners. Nothing else is kept, so the error is twice the largest displacement.

    Parameters
    ----------
    triangles : uint32 [F, 3], by position: vertices at the same position have the same number.
    positions : float32 [V, 3]; target : triangles.
    materials : integers [F, 3], the same at all corners of a triangle; None if there is only one.
    pinned : bool [V], vertices that stay, and that no other vertex moves to; None for none.

    Returns
    -------
    int64 [F, 3], where the corners of each triangle move to; the error in the unit of ``positions``.

    References
    ----------
    Rossignac and Borrel, Multi-resolution 3D approximations for rendering complex scenes, 1993.
    """
    vertices, corners = np.unique(triangles, return_inverse=True)
    corners = corners.reshape(triangles.shape)
    points = positions[vertices].astype(np.float64)
    points -= points.min(axis=0)
    unit = points / (points.max() or 1.0)
    kind = np.zeros(len(vertices), np.int64) if materials is None else _material_sets(corners, materials)
    if pinned is not None:
        # A kind of its own shares its cell with nobody.
        alone = pinned[vertices]
        kind[alone] = kind.max(initial=0) + 1 + np.arange(alone.sum())
    # What the last grid leaves was counted; that no finer one fits holds only as far as counts grow with the grid.
    fits, fails = 1, _FINEST
    while fails - fits > 1:
        middle = (fits + fails) // 2
        few = _count(_cells(unit, middle, kind)[corners]) <= target
        fits, fails = (middle, fails) if few else (fits, middle)
    cells = _cells(unit, fits, kind)
    border = np.zeros(len(vertices), bool)
    border[boundary_chain(corners)[0]] = True
    kept = _representatives(cells, points, border)[cells]
    moved = np.linalg.norm(points - points[kept], axis=1).max()
    return vertices[kept][corners], _ERROR_FACTOR * float(moved)


def _material_sets(corners: np.ndarray, materials: np.ndarray) -> np.ndarray:
    """For each vertex 0 .. n - 1 of ``corners`` [F, 3] a number for the set of materials that meet there, int64 [n]."""
    _, material = np.unique(materials, return_inverse=True)
    material = material.reshape(-1)
    sets = np.zeros((int(corners.max()) + 1, int(material.max()) // 8 + 1), np.uint8)  # a bit for each material
    np.bitwise_or.at(sets, (corners.reshape(-1), material // 8), (1 << material % 8).astype(np.uint8))
    return np.unique(sets, axis=0, return_inverse=True)[1].reshape(-1)


def _cells(unit: np.ndarray, side: int, kind: np.ndarray) -> np.ndarray:
    """The cell of each point [n, 3] of the unit cube in a grid of ``side`` cells for each kind, without gaps."""
    # Twelve bits for each axis leave 27 for the kinds, one a vertex at most: int64 holds meshes of 1.3e8 vertices in a
    # group.
    x, y, z = np.minimum((unit * side).astype(np.int64), side - 1).T
    return np.unique(((kind * side + x) * side + y) * side + z, return_inverse=True)[1].reshape(-1)


def _count(corners: np.ndarray) -> int:
    a, b, c = corners.T
    return int(((a != b) & (b != c) & (c != a)).sum())


def _representatives(cells: np.ndarray, points: np.ndarray, border: np.ndarray) -> np.ndarray:
    """The vertex of each cell that is nearest to the mean of its vertices, of its border vertices if it has any."""
    count = np.bincount(cells)
    mean = np.stack([np.bincount(cells, points[:, axis]) / count for axis in range(3)], axis=1)
    distance = np.linalg.norm(points - mean[cells], axis=1)
    # The last key counts first: by cell, border vertices before others, near ones before far ones.
    order = np.lexsort((distance, ~border, cells))
    return order[np.searchsorted(cells[order], np.arange(len(count)))]
