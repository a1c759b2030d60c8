"""A bound on Hausdorff's distance of two whole surfaces, which is at most a fiftieth above it unless work ends early.

The distance to one triangle is convex: the farthest of three corners from the triangle nearest to their middle bounds
how far all between them is from the other surface. The distance of the middle itself is never more than the distance
that is sought. So triangles are divided only where the bound is above the largest of these, which leaves a few: Guthe,
Borodin and Klein, Fast and accurate Hausdorff distance calculation between meshes, 2005.

A triangle that reaches over a side of its nearest one is cut along that side, else quartered. Quarters alone would
follow such a side down to the smallest pieces wherever the same plane is triangulated in two ways. Where sheets cross,
the nearest triangle is of either sheet by chance; those nearest to the corners are tried, too.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.box_tree import box_tree, nearest_in_tree, search_memory
from hra.domains.meshes.distances.triangle_distance import square_distance
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

_TOLERANCE = 1.02
# Distances below this part of the extent are as good as none, and what rounding may add to distances.
_NEGLIGIBLE, _ROUNDING = 2.0**-21, 2.0**-40
# How deep pieces are divided. Quarters count four times: cuts along sides lead on through hundreds of thin triangles.
_DEEPEST, _QUARTERS = 60, 4
# From this depth on, triangles nearest to the corners are tried, too; no piece is cut thinner than this part of what is
# known.
_CORNERS_FROM, _THINNEST = 12, 0.01
# After so much work, in all and for each triangle, what is left keeps the bound that it has. One is a triangle that is
# measured; a piece counts as sixteen. A search mostly measures ten, but thousands where boxes lie in each other.
_WORK, _WORK_EACH, _WORK_OF_A_PIECE = 2**24, 2**10, 16
# So many triangles are looked at first, to know early what is far.
_FIRST = 512


def hausdorff_bound(source: TriangleMesh, other: TriangleMesh) -> float:
    """No point of either surface is farther from the other than this, and some point is nearly so far.

    Where surfaces are so alike, and cross so often, that the work ends early, the bound holds and is less tight.

    Parameters
    ----------
    source, other : with triangles each, around the same origin.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> from hra.domains.meshes.distances.two_sided import hausdorff_bound
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]], np.float32)
    >>> flat, upright = (meshes.TriangleMesh(corners, np.array([t], np.uint32)) for t in ([0, 1, 2], [0, 1, 3]))
    >>> 2 <= hausdorff_bound(flat, upright) < 2.05
    True
    """
    positions = np.concatenate([source.positions, other.positions])
    one, two = source.triangles, other.triangles + np.uint32(len(source.positions))
    origin = positions[one[0, 0]].astype(np.float64)
    lines = [meshopt.spatial_sort(np.ascontiguousarray(t).reshape(-1), positions) for t in (one, two)]
    size = float(np.ptp(positions[np.concatenate(lines)], axis=0).max())
    trees = [box_tree(positions, line, origin) for line in lines]
    known = bound = _NEGLIGIBLE * size
    lines = _own(positions, lines)
    for whole in (False, True):
        for line, tree in zip(lines, trees[::-1], strict=True):
            step = 1 if whole else max(line.size // 3 // _FIRST, 1)
            corners = (positions[line.reshape(-1, 3)[::step]].astype(np.float64)) - origin
            known, bound = _farthest(corners, *tree, known, whole, _WORK + _WORK_EACH * len(corners))
    return float(bound * (1 + _ROUNDING) + _ROUNDING * size)


def _own(positions: np.ndarray, lines: list[np.ndarray]) -> list[np.ndarray]:
    """The triangles of each of two surfaces that the other has not; those of both are nowhere away from it."""
    whole = [positions[line].reshape(-1, 3, 3) + np.float32(0) for line in lines]
    # Corners in one order, whichever a triangle begins with, and each triangle as one row.
    order = [np.lexsort(part.transpose(2, 0, 1)[::-1], axis=-1) for part in whole]
    rows = [np.take_along_axis(part, at[..., None], 1).reshape(-1, 9) for part, at in zip(whole, order, strict=True)]
    number, _ = meshopt.unique_rows(np.concatenate(rows))
    first, second = np.split(number, [len(rows[0])])
    kept = ~np.isin(first, second), ~np.isin(second, first)
    return [line.reshape(-1, 3)[one].reshape(-1) for line, one in zip(lines, kept, strict=True)]


@njit(cache=True, nogil=True)
def _farthest(corners, triangles, boxes, ends, known, whole, work):
    """The largest distance that was seen, ``known`` at least, and a bound on all.

    ``whole``: divide until the bound holds, or ``work`` ends.
    """
    stack, depth, p = np.empty((4 * _DEEPEST, 3, 3)), np.empty(4 * _DEEPEST, np.int64), np.empty((3, 3))
    waiting, heights = search_memory(ends), np.empty(3)
    bound, near = known * _TOLERANCE, np.int64(0)
    for t in range(len(corners)):
        for corner in range(3):  # assigning a slice compiles how errors are worded
            for axis in range(3):
                stack[0, corner, axis] = corners[t, corner, axis]
        depth[0], size = 0, 1
        while size:
            size, work = size - 1, work - _WORK_OF_A_PIECE
            for corner in range(3):
                for axis in range(3):
                    p[corner, axis] = stack[size, corner, axis]
            level = depth[size]
            x, y, z = (
                (p[0, 0] + p[1, 0] + p[2, 0]) / 3,
                (p[0, 1] + p[1, 1] + p[2, 1]) / 3,
                (p[0, 2] + p[1, 2] + p[2, 2]) / 3,
            )
            # Any triangle bounds a piece: mostly the last one is near enough.
            if whole:
                farthest = np.sqrt(_reach(p, triangles, near))
                if farthest <= known * _TOLERANCE:
                    bound = max(bound, farthest)
                    continue
            enough = -1.0 if whole else known * known
            near, square, measured = nearest_in_tree(x, y, z, triangles, boxes, ends, near, waiting, enough)
            work -= measured
            known = max(known, np.sqrt(square))
            if not whole:
                continue
            best, farthest = near, _reach(p, triangles, near)
            if level >= _CORNERS_FROM and farthest > (known * _TOLERANCE) ** 2:
                for c in range(3):
                    x, y, z = p[c, 0], p[c, 1], p[c, 2]
                    which, square, measured = nearest_in_tree(x, y, z, triangles, boxes, ends, near, waiting, -1.0)
                    work -= measured
                    known = max(known, np.sqrt(square))
                    reach = _reach(p, triangles, which)
                    if reach < farthest:
                        best, farthest = which, reach
            farthest = np.sqrt(farthest)
            if farthest <= known * _TOLERANCE or level + _QUARTERS > _DEEPEST or work < 0:
                bound = max(bound, farthest, known)
                continue
            parted = _parted(p, triangles, best, known * _THINNEST, heights)
            count = _divide(p, parted, heights, stack, size)
            for c in range(size, size + count):
                depth[c] = level + (1 if parted else _QUARTERS)
            size += count
    return known, max(bound, known)


@njit_uncounted(cache=True, nogil=True)
def _reach(p, triangles, which):
    """The square of the distance of the farthest of three corners [3, 3] from one triangle."""
    farthest = 0.0
    for c in range(3):
        farthest = max(farthest, square_distance(p[c, 0], p[c, 1], p[c, 2], triangles, which))
    return farthest


@njit_uncounted(cache=True, nogil=True)
def _parted(p, triangles, k, least, heights):
    """Whether a plane, upright on triangle ``k`` along a side of it, parts corners [3, 3] by more than ``least``.

    ``heights`` [3] are then those above the plane that has most on both of its sides.
    """
    ax, ay, az = triangles[k, 0], triangles[k, 1], triangles[k, 2]
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    nx, ny, nz = sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx
    most = least
    for side in range(3):
        if side == 0:
            ox, oy, oz, dx, dy, dz = ax, ay, az, sx, sy, sz
        elif side == 1:
            ox, oy, oz, dx, dy, dz = ax + sx, ay + sy, az + sz, tx - sx, ty - sy, tz - sz
        else:
            ox, oy, oz, dx, dy, dz = ax + tx, ay + ty, az + tz, -tx, -ty, -tz
        wx, wy, wz = dy * nz - dz * ny, dz * nx - dx * nz, dx * ny - dy * nx
        length = np.sqrt(wx * wx + wy * wy + wz * wz)
        if not length > 0:  # a degenerate triangle has no sides
            continue
        one = ((p[0, 0] - ox) * wx + (p[0, 1] - oy) * wy + (p[0, 2] - oz) * wz) / length
        two = ((p[1, 0] - ox) * wx + (p[1, 1] - oy) * wy + (p[1, 2] - oz) * wz) / length
        three = ((p[2, 0] - ox) * wx + (p[2, 1] - oy) * wy + (p[2, 2] - oz) * wz) / length
        both = min(max(one, two, three), -min(one, two, three))
        if both > most:
            most, heights[0], heights[1], heights[2] = both, one, two, three
    return most > least


@njit_uncounted(cache=True, nogil=True)
def _divide(p, parted, heights, stack, at):
    """Write the pieces of a triangle [3, 3] to the stack: three along the plane that parts it, else its quarters."""
    if not parted:
        for c in range(4):
            for k in range(3):
                for axis in range(3):
                    other = p[c, axis] if c < 3 else p[(k + 1) % 3, axis]
                    stack[at + c, k, axis] = (p[k, axis] + other) / 2
        return 4
    above = (heights[0] > 0) + (heights[1] > 0) + (heights[2] > 0)
    alone = 0
    for c in range(3):
        if (heights[c] > 0) == (above == 1):
            alone = c
    one, two = (alone + 1) % 3, (alone + 2) % 3
    to_one = heights[alone] / (heights[alone] - heights[one])
    to_two = heights[alone] / (heights[alone] - heights[two])
    for axis in range(3):
        tip, left, right = p[alone, axis], p[one, axis], p[two, axis]
        start, end = tip + to_one * (left - tip), tip + to_two * (right - tip)
        stack[at, 0, axis], stack[at, 1, axis], stack[at, 2, axis] = tip, start, end
        stack[at + 1, 0, axis], stack[at + 1, 1, axis], stack[at + 1, 2, axis] = start, left, right
        stack[at + 2, 0, axis], stack[at + 2, 1, axis], stack[at + 2, 2, axis] = start, right, end
    return 3
