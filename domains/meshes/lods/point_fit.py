"""Least squares of points on triangles: steps of the triangles' vertices that bring them to the points.

Of points with a normal the distance along it counts in full, and only a share of that across it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit

# What distances of vertices from where they were count beside those of the points around them.
_STAY = 0.02
_STEPS, _SMALL = 24, 1e-8


class OnTriangles(NamedTuple):
    """Points on triangles.

    Attributes
    ----------
    corners : int64 [S, 3], vertices; shares : float64 [S, 3], which mean of them the point is on.
    weight : float64 [S, 2], what squares of distances count in any direction, and along normals as well.
    normals : float64 [S, 3], or [0, 3] for numbers of vertices that have no direction.
    """

    corners: np.ndarray
    shares: np.ndarray
    weight: np.ndarray
    normals: np.ndarray


def fitted_step(points: OnTriangles, targets: np.ndarray, begin: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The step float64 [n, k] from the vertices' numbers ``begin`` that brings points to ``targets`` [S, k].

    Vertices that are not ``free`` bool [n], or that no point is near to, stay (conjugate gradients, preconditioned by
    the diagonal).
    """
    step = np.zeros(begin.shape)
    if len(points.corners) and begin.size:
        plain = OnTriangles(*(np.ascontiguousarray(array) for array in points))
        shares = plain.shares * plain.weight.sum(axis=1, keepdims=True)
        mass = np.bincount(plain.corners.reshape(-1), shares.reshape(-1), len(begin))
        numbers = np.ascontiguousarray(targets, np.float64), np.ascontiguousarray(begin, np.float64)
        _conjugate_gradients(plain, *numbers, _STAY * mass, free & (mass > 0), step)
    return step


@njit(cache=True, nogil=True)
def _conjugate_gradients(points, targets, begin, stay, free, x):
    count, k = begin.shape
    diagonal, right = np.zeros((count, k)), np.zeros((count, k))
    corners, shares, weight, normals = points
    residual, full = np.empty(k), len(normals) > 0
    for i in range(len(corners)):
        for c in range(k):
            residual[c] = targets[i, c]
            for j in range(3):
                residual[c] -= shares[i, j] * begin[corners[i, j], c]
        _add(points, i, residual, full, right)
        for j in range(3):
            for c in range(k):
                along = weight[i, 1] * normals[i, c] ** 2 if full else 0.0
                diagonal[corners[i, j], c] += shares[i, j] ** 2 * (weight[i, 0] + along)
    for v in range(count):
        for c in range(k):
            total = diagonal[v, c] + stay[v]
            diagonal[v, c] = 1 / total if free[v] and total > 0 else 0.0
            right[v, c] *= free[v]
    z = diagonal * right
    way, product = z.copy(), np.empty((count, k))
    now = (right * z).sum()
    enough = _SMALL * now
    for _ in range(_STEPS):
        if not now > enough:
            break
        product[:] = 0
        for i in range(len(corners)):
            for c in range(k):
                residual[c] = 0.0
                for j in range(3):
                    residual[c] += shares[i, j] * way[corners[i, j], c]
            _add(points, i, residual, full, product)
        for v in range(count):
            for c in range(k):
                product[v, c] = product[v, c] + stay[v] * way[v, c] if free[v] else 0.0
        below = (way * product).sum()
        if not below > 0:
            break
        x += now / below * way
        right -= now / below * product
        z = diagonal * right
        before, now = now, (right * z).sum()
        way = z + now / before * way


@njit(inline="always")
def _add(points, i, values, full, total):
    """Add what ``values`` [k] at point ``i`` count to its corners."""
    corners, shares, weight, normals = points
    along = 0.0
    if full:
        for c in range(values.size):
            along += normals[i, c] * values[c]
    for c in range(values.size):
        value = weight[i, 0] * values[c]
        if full:
            value += weight[i, 1] * along * normals[i, c]
        for j in range(3):
            total[corners[i, j], c] += shares[i, j] * value
