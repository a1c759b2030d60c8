"""A bound for a triangle that lies anyhow to the coarse ones: it is cut in two until each piece is near to one.

This takes long. It is for what the walls of coarse triangles do not cut well: over folds and pits, and beyond borders.
A patch knows how its triangles lie beside each other.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.triangle_distance import OFF, nearest_triangle, square_distance

# A bound may be this much looser than what the corners of pieces show, before pieces are split further.
TOLERANCE = 1.01
# Pieces of one fine triangle at most; the last ones count with the bound that they have. Long thin triangles, as flat
# faces of constructed parts consist of, cross hundreds of others.
MAX_PIECES = 3072
_BISECTIONS = 20


def pieces_memory() -> tuple[np.ndarray, np.ndarray]:
    """Memory for the corners of pieces and for their labels: coarse triangles near to each corner, and one more."""
    return np.empty((MAX_PIECES + 2, 3, 3)), np.empty((MAX_PIECES + 2, 4), np.int64)


@njit_uncounted(cache=True, nogil=True)
def bound_by_pieces(corners, labels, surface, gaps, room):
    """A bound for the triangle ``corners[0]``; pieces within ``room`` are not split further."""
    # However the triangle is cut, the largest of the pieces' bounds is one for all of it.
    bound, stacked, used = 0.0, 1, 1
    # Ends: a turn either takes a piece off the stack or makes one more of at most `MAX_PIECES`.
    while stacked:
        stacked -= 1
        reach, best, far = best_label(corners, labels, stacked, surface[0], room)
        if reach <= room or used == MAX_PIECES:
            bound = max(bound, reach)
            room = max(room, bound)
            continue
        # No bound is much less than what the cut, a point of the piece, is off, and ``room`` need not be.
        used += 1
        stacked += 2
        least = split(corners, labels, stacked - 2, best, far, surface, gaps, room)
        room = max(room, TOLERANCE * least)
    return bound


@njit_uncounted(cache=True, nogil=True)
def _off(x, y, z, triangles, k):
    """How far a point is from triangle ``k``, and how far that is off."""
    return np.sqrt(square_distance(x, y, z, triangles, k)) + triangles[k, OFF]


@njit_uncounted(cache=True, nogil=True)
def _reach(corners, at, triangles, k, limit):
    """How far the farthest corner of the piece ``at`` is from triangle ``k``, and which corner that is.

    It stops at the first corner that is not nearer than ``limit``.
    """
    most, which = -1.0, 0
    for corner in range(3):
        reach = _off(corners[at, corner, 0], corners[at, corner, 1], corners[at, corner, 2], triangles, k)
        if reach > most:
            most, which = reach, corner
            if most >= limit:
                break
    return most, which


@njit_uncounted(cache=True, nogil=True)
def best_label(corners, labels, at, triangles, enough):
    """The first of ``labels[at]`` within ``enough`` of the piece, else the best: reach, label, farthest corner."""
    best, which, far = np.inf, labels[at, 0], 0
    for i in range(4):
        k = labels[at, i]
        if i and (k == which or k == labels[at, i - 1]):
            continue
        reach, corner = _reach(corners, at, triangles, k, best)
        if reach < best:
            best, which, far = reach, k, corner
            if best <= enough:
                break
    return best, which, far


@njit_uncounted(cache=True, nogil=True)
def split(corners, labels, at, best, far, surface, gaps, room):
    """Replace the piece ``at`` by two, cut where its farthest corner becomes nearer to another triangle.

    Returns about the least that a bound can be.
    """
    triangles, balls, runs, count = surface
    other = labels[at, far]
    if other == best:
        other = labels[at, 3]
    _, near = _reach(corners, at, triangles, other, np.inf)
    if near == far:
        near = (far + 1) % 3
    x, y, z = _crossing(corners, at, near, far, triangles, best, other, room)
    label, least = best, 0.0
    if _off(x, y, z, triangles, best) > room:
        label, square = nearest_triangle(x, y, z, triangles, balls, runs, count, best, gaps)
        least = np.sqrt(square) + triangles[label, OFF]
    # The side from ``near`` to ``far`` is cut in two; either half keeps one of these corners and the third one.
    for corner in range(3):
        labels[at + 1, corner] = labels[at, corner]
        for axis in range(3):
            corners[at + 1, corner, axis] = corners[at, corner, axis]
    corners[at, far, 0], corners[at, far, 1], corners[at, far, 2] = x, y, z
    corners[at + 1, near, 0], corners[at + 1, near, 1], corners[at + 1, near, 2] = x, y, z
    # The label of the cut is the triangle nearest to it, by which the halves are tried next.
    labels[at, far] = labels[at + 1, near] = label
    labels[at, 3], labels[at + 1, 3] = best, other
    return least


@njit_uncounted(cache=True, nogil=True)
def _crossing(corners, at, near, far, triangles, here, there, enough):
    """Where from corner ``near`` to ``far`` triangle ``there`` becomes the nearer one, or both are near enough."""
    ax, ay, az = corners[at, near, 0], corners[at, near, 1], corners[at, near, 2]
    dx, dy, dz = corners[at, far, 0] - ax, corners[at, far, 1] - ay, corners[at, far, 2] - az
    low, step = 0.0, 0.5
    for _ in range(_BISECTIONS):
        x, y, z = ax + (low + step) * dx, ay + (low + step) * dy, az + (low + step) * dz
        mine, other = _off(x, y, z, triangles, here), _off(x, y, z, triangles, there)
        if max(mine, other) <= enough:
            break
        if mine <= other:
            low += step
        step /= 2
    # Away from both corners, so that each piece is smaller than the whole.
    share = min(max(low + step, 0.02), 0.98)
    return ax + share * dx, ay + share * dy, az + share * dz


def patch_memory(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Memory for ``count`` triangles: walls, what is behind them, and a hash table of their sides."""
    # At least twice as many slots as there are sides, so that a search for a free one is short, and ends.
    slots = 16
    while slots < 6 * count:
        slots *= 2
    return np.empty((count, 3, 4)), np.empty((count, 3), np.int64), np.empty(slots, np.int64), np.empty(slots, np.int64)


@njit_uncounted(cache=True, nogil=True)
def fill_patch(indices, begin, end, triangles, walls, behind, keys, places):
    """Write the walls of each triangle and what is behind them.

    Parameters
    ----------
    indices [begin:end] : vertices of the triangles [n, 9], see `fill_triangles`.
    walls : [n, 3, 4], for each side the unit vector that leaves the triangle in its plane, and its product with a point
        of the side; 0 where a triangle has no area.
    behind : [n, 3], three times the triangle that shares the side, plus which of its sides that is; -1 at a border.
    keys, places : a hash table of the sides.
    """
    count, slots = (end - begin) // 3, 16
    while slots < 6 * count:
        slots *= 2
    for slot in range(slots):  # assigning a slice compiles how errors are worded
        keys[slot] = -1
    for k in range(count):
        _fill_walls(triangles, k, walls)
        for side in range(3):
            behind[k, side] = -1
            key = key_of(indices[begin + 3 * k + side], indices[begin + 3 * k + (side + 1) % 3])
            slot = slot_of(key, keys, slots)
            # Two triangles at a side are behind each other; a third one waits for a fourth.
            if keys[slot] == key and places[slot] >= 0:
                other = places[slot]
                behind[k, side], behind[other // 3, other % 3] = other, 3 * k + side
                places[slot] = -1
            else:
                keys[slot], places[slot] = key, 3 * k + side


@njit(inline="always")
def key_of(a, b):
    """One number for a side between two vertices, in either direction."""
    return (np.int64(min(a, b)) << 32) | np.int64(max(a, b))


@njit_uncounted(cache=True, nogil=True)
def slot_of(key, keys, slots):
    """Where ``key`` is in a table of this many ``slots``, a power of two, or has room."""
    # The high bits of a product with the golden ratio (Fibonacci hashing).
    slot = ((key * -7046029254386353131) >> 20) & (slots - 1)
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & (slots - 1)
    return slot


@njit_uncounted(cache=True, nogil=True)
def _fill_walls(triangles, k, walls):
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    normal = (sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx)
    _fill_wall(triangles, k, (0.0, 0.0, 0.0), (sx, sy, sz), normal, walls, 0)
    _fill_wall(triangles, k, (sx, sy, sz), (tx - sx, ty - sy, tz - sz), normal, walls, 1)
    _fill_wall(triangles, k, (tx, ty, tz), (-tx, -ty, -tz), normal, walls, 2)


@njit_uncounted(cache=True, nogil=True)
def _fill_wall(triangles, k, corner, side, normal, walls, which):
    """The wall on the side that begins at a ``corner``, relative to the first, along ``side``."""
    (px, py, pz), (dx, dy, dz), (nx, ny, nz) = corner, side, normal
    x, y, z = dy * nz - dz * ny, dz * nx - dx * nz, dx * ny - dy * nx
    length = np.sqrt(x * x + y * y + z * z)
    # The cross product of side and normal: in the plane, upright on the side, and away from the triangle.
    if length > 0:
        x, y, z = x / length, y / length, z / length
    walls[k, which, 0], walls[k, which, 1], walls[k, which, 2] = x, y, z
    walls[k, which, 3] = x * (triangles[k, 0] + px) + y * (triangles[k, 1] + py) + z * (triangles[k, 2] + pz)
