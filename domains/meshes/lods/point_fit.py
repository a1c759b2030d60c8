"""Least squares of points on triangles: steps of the triangles' vertices that bring them to the points.

Of points with a normal the distance along it counts in full, and only a share of that across it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit, njit_uncounted

# What distances of vertices from where they were count beside those of the points around them.
_STAY = 0.02
_STEPS, _SMALL = 24, 1e-8
# Where a corner with itself stands among pairs, and an axis with itself in a symmetric matrix.
_OWN = (0, 3, 5)


class OnTriangles(NamedTuple):
    """Points on triangles.

    Attributes
    ----------
    corners : int64 [F, 3], the vertices of triangles; face : int64 [S], which of them each point is on.
    shares : float64 [S, 3], which mean of its corners the point is.
    weight : float64 [S, 2], what squares of distances count in any direction, and along normals as well.
    normals : float64 [S, 3], or [0, 3] for numbers of vertices that have no direction.
    """

    corners: np.ndarray
    face: np.ndarray
    shares: np.ndarray
    weight: np.ndarray
    normals: np.ndarray


def fitted_step(points: OnTriangles, targets: np.ndarray, begin: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The step float64 [n, k] from the vertices' numbers ``begin`` that brings points to ``targets`` [S, k].

    Vertices that are not ``free`` bool [n], or that no point is near to, stay (conjugate gradients, preconditioned by
    the diagonal). Without normals each column is solved as if it were alone.
    """
    step = np.zeros(begin.shape)
    if len(points.face) and begin.size:
        plain = OnTriangles(*(np.ascontiguousarray(array) for array in points))
        right, mass = np.zeros(begin.shape), np.zeros(len(begin))
        numbers = np.ascontiguousarray(targets, np.float64), np.ascontiguousarray(begin, np.float64)
        blocks = _equations(plain, *numbers, right, mass)
        _conjugate_gradients(plain.corners, blocks, right, _STAY * mass, free & (mass > 0), step)
    return step


@njit(cache=True, nogil=True)
def _equations(points, targets, begin, right, mass):
    """What all points of a triangle ask of each pair of its corners: [F, 6, 1], or [F, 6, 6] with normals.

    Pairs are those of corners 0 and 0, 0 and 1, 0 and 2, 1 and 1, 1 and 2, 2 and 2. With normals each is a symmetric
    matrix, as xx, xy, xz, yy, yz, zz.

    Adds to the right side, and what each vertex has of the points' weights to ``mass``.

    There are several points on each triangle: so the sums are formed once, and each step reads them.
    """
    corners, face, shares, weight, normals = points
    k, full = begin.shape[1], len(normals) > 0
    blocks, residual, asked = np.zeros((len(corners), 6, 6 if full else 1)), np.empty(k), np.zeros(6)
    for i in range(len(face)):
        f, along = face[i], 0.0
        for j in range(3):
            mass[corners[f, j]] += shares[i, j] * (weight[i, 0] + weight[i, 1])
        for c in range(k):
            residual[c] = targets[i, c]
            for j in range(3):
                residual[c] -= shares[i, j] * begin[corners[f, j], c]
            if full:
                along += normals[i, c] * residual[c]
        for c in range(k):
            value = weight[i, 0] * residual[c]
            if full:
                value += weight[i, 1] * along * normals[i, c]
            for j in range(3):
                right[corners[f, j], c] += shares[i, j] * value
        asked[0] = weight[i, 0]
        if full:
            e = 0
            for c in range(3):
                for d in range(c, 3):
                    asked[e] = weight[i, 1] * normals[i, c] * normals[i, d] + (weight[i, 0] if c == d else 0.0)
                    e += 1
        pair = 0
        for a in range(3):
            for b in range(a, 3):
                for e in range(blocks.shape[2]):
                    blocks[f, pair, e] += shares[i, a] * shares[i, b] * asked[e]
                pair += 1
    return blocks


@njit(cache=True, nogil=True)
def _conjugate_gradients(corners, blocks, right, stay, free, x):
    count, k = right.shape
    diagonal, full = np.zeros((count, k)), blocks.shape[2] > 1
    for f in range(len(corners)):
        for a in range(3):
            for c in range(k):
                diagonal[corners[f, a], c] += blocks[f, _OWN[a], _OWN[c] if full else 0]
    for v in range(count):
        for c in range(k):
            total = diagonal[v, c] + stay[v]
            diagonal[v, c] = 1 / total if free[v] and total > 0 else 0.0
            right[v, c] *= free[v]
    way, product = np.empty((count, k)), np.empty((count, k))
    now, before, below, enough = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for v in range(count):
        for c in range(k):
            way[v, c] = diagonal[v, c] * right[v, c]
    _products(right, way, full, now)
    for c in range(k):
        enough[c] = _SMALL * now[c]
    for _ in range(_STEPS):
        product[:] = 0
        for f in range(len(corners)):
            if full:
                _multiply(corners, blocks, f, way, product)
                continue
            pair = 0
            for a in range(3):
                for b in range(a, 3):
                    at, other, one = corners[f, a], corners[f, b], blocks[f, pair, 0]
                    pair += 1
                    for c in range(k):
                        product[at, c] += one * way[other, c]
                        if a != b:
                            product[other, c] += one * way[at, c]
        for v in range(count):
            for c in range(k):
                product[v, c] = product[v, c] + stay[v] * way[v, c] if free[v] else 0.0
        _products(way, product, full, below)
        left = False
        for c in range(k):
            left = left or (now[c] > enough[c] and below[c] > 0)
            # What is solved stays as it is.
            below[c] = now[c] / below[c] if now[c] > enough[c] and below[c] > 0 else 0.0
        if not left:
            break
        for v in range(count):
            for c in range(k):
                x[v, c] += below[c] * way[v, c]
                right[v, c] -= below[c] * product[v, c]
                product[v, c] = diagonal[v, c] * right[v, c]
        for c in range(k):
            before[c] = now[c]
        _products(right, product, full, now)
        for v in range(count):
            for c in range(k):
                way[v, c] = product[v, c] + (now[c] / before[c] if before[c] > 0 else 0.0) * way[v, c]


@njit_uncounted(cache=True, nogil=True)
def _multiply(corners, blocks, f, way, product):
    """Add the blocks of triangle ``f`` times ``way`` [n, 3]."""
    pair = 0
    for a in range(3):
        at = corners[f, a]
        x, y, z = way[at, 0], way[at, 1], way[at, 2]
        for b in range(a, 3):
            other = corners[f, b]
            xx, xy, xz = blocks[f, pair, 0], blocks[f, pair, 1], blocks[f, pair, 2]
            yy, yz, zz = blocks[f, pair, 3], blocks[f, pair, 4], blocks[f, pair, 5]
            pair += 1
            product[other, 0] += xx * x + xy * y + xz * z
            product[other, 1] += xy * x + yy * y + yz * z
            product[other, 2] += xz * x + yz * y + zz * z
            if a != b:
                u, v, w = way[other, 0], way[other, 1], way[other, 2]
                product[at, 0] += xx * u + xy * v + xz * w
                product[at, 1] += xy * u + yy * v + yz * w
                product[at, 2] += xz * u + yz * v + zz * w


@njit_uncounted(cache=True, nogil=True)
def _products(one, other, full, found):
    """The products of columns; with ``full`` their sum for each of them."""
    found[:] = 0
    for v in range(len(one)):
        for c in range(one.shape[1]):
            found[c] += one[v, c] * other[v, c]
    if full:
        total = 0.0
        for c in range(found.size):
            total += found[c]
        for c in range(found.size):
            found[c] = total
