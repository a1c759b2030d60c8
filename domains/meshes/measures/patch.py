"""How the triangles of a patch lie beside each other."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


def patch_memory(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Memory for ``count`` triangles: walls, what is behind them, and a hash table of their sides."""
    # At least twice as many slots as there are sides, so that a search for a free one is short, and ends.
    slots = 16
    while slots < 6 * count:
        slots *= 2
    return np.empty((count, 3, 4)), np.empty((count, 3), np.int64), np.empty(slots, np.int64), np.empty(slots, np.int64)


@njit(cache=True, nogil=True)
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
    keys[:] = -1
    for k in range((end - begin) // 3):
        _fill_walls(triangles, k, walls)
        for side in range(3):
            behind[k, side] = -1
            key = key_of(indices[begin + 3 * k + side], indices[begin + 3 * k + (side + 1) % 3])
            slot = slot_of(key, keys)
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


@njit(cache=True, nogil=True)
def slot_of(key, keys):
    """Where ``key`` is in the table, or has room."""
    # The high bits of a product with the golden ratio (Fibonacci hashing).
    slot = ((key * -7046029254386353131) >> 20) & (keys.size - 1)
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@njit(cache=True, nogil=True)
def _fill_walls(triangles, k, walls):
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    normal = (sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx)
    _fill_wall(triangles, k, (0.0, 0.0, 0.0), (sx, sy, sz), normal, walls[k, 0])
    _fill_wall(triangles, k, (sx, sy, sz), (tx - sx, ty - sy, tz - sz), normal, walls[k, 1])
    _fill_wall(triangles, k, (tx, ty, tz), (-tx, -ty, -tz), normal, walls[k, 2])


@njit(cache=True, nogil=True)
def _fill_wall(triangles, k, corner, side, normal, wall):
    """The wall on the side that begins at a ``corner``, relative to the first, along ``side``."""
    (px, py, pz), (dx, dy, dz), (nx, ny, nz) = corner, side, normal
    x, y, z = dy * nz - dz * ny, dz * nx - dx * nz, dx * ny - dy * nx
    length = np.sqrt(x * x + y * y + z * z)
    # The cross product of side and normal: in the plane, upright on the side, and away from the triangle.
    if length > 0:
        x, y, z = x / length, y / length, z / length
    wall[0], wall[1], wall[2] = x, y, z
    wall[3] = x * (triangles[k, 0] + px) + y * (triangles[k, 1] + py) + z * (triangles[k, 2] + pz)
