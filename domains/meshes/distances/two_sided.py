"""A bound on Hausdorff's distance of two whole surfaces, which is at most a fiftieth above it.

The distance to one triangle is convex: of three corners, the one that is farthest from the triangle nearest to their
middle bounds how far all between them is from the other surface. What the middle itself is away is never more than the
distance that is looked for. So triangles are quartered only where the bound is above the largest of these, which leaves
a few: Guthe, Borodin and Klein, Fast and accurate Hausdorff distance calculation between meshes, 2005.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.distances.ball_tree import ball_tree, nearest_in_tree
from hra.domains.meshes.distances.triangle_distance import square_distance
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

_TOLERANCE = 1.02
# Distances below this part of the extent are as good as none, and what rounding may add to distances.
_NEGLIGIBLE, _ROUNDING = 2.0**-21, 2.0**-40
_DEEPEST = 16
# So many triangles are looked at first, to know early what is far.
_FIRST = 512


def hausdorff_bound(source: TriangleMesh, other: TriangleMesh) -> float:
    """No point of either surface is farther from the other than this, and some point is nearly so far.

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
    trees = [ball_tree(positions, line, origin) for line in lines]
    known = bound = _NEGLIGIBLE * size
    lines = _own(positions, lines)
    for whole in (False, True):
        for line, tree in zip(lines, trees[::-1], strict=True):
            step = 1 if whole else max(line.size // 3 // _FIRST, 1)
            corners = (positions[line.reshape(-1, 3)[::step]].astype(np.float64)) - origin
            known, bound = _farthest(corners, *tree, known, whole)
    return float(bound * (1 + _ROUNDING) + _ROUNDING * size)


def _own(positions: np.ndarray, lines: list[np.ndarray]) -> list[np.ndarray]:
    """The triangles of each of two surfaces that the other has not; those of both are nowhere away from it."""
    whole = [positions[line].reshape(-1, 3, 3) + np.float32(0) for line in lines]
    # Corners in one order, whichever a triangle begins with, and each triangle as one item.
    order = [np.lexsort(part.transpose(2, 0, 1)[::-1], axis=-1) for part in whole]
    keys = [np.take_along_axis(part, at[..., None], 1).reshape(-1, 9) for part, at in zip(whole, order, strict=True)]
    items = [np.ascontiguousarray(key).view("V36")[:, 0] for key in keys]
    number = np.unique(np.concatenate(items), return_inverse=True)[1]
    first, second = np.split(number, [len(items[0])])
    kept = ~np.isin(first, second), ~np.isin(second, first)
    return [line.reshape(-1, 3)[one].reshape(-1) for line, one in zip(lines, kept, strict=True)]


@njit(cache=True, nogil=True)
def _farthest(corners, triangles, balls, ends, known, whole):
    """The largest distance that was seen, ``known`` at least, and a bound on all; ``whole``: quarter until it holds."""
    stack, depth, p = np.empty((4 * _DEEPEST, 3, 3)), np.empty(4 * _DEEPEST, np.int64), np.empty((3, 3))
    waiting = np.empty((8 * ends.size + 8, 2), np.int64)
    bound, near = known * _TOLERANCE, np.int64(0)
    for t in range(len(corners)):
        _copy(corners, t, stack[0])
        depth[0], size = 0, 1
        while size:
            size -= 1
            _copy(stack, size, p)
            level = depth[size]
            x, y, z = (
                (p[0, 0] + p[1, 0] + p[2, 0]) / 3,
                (p[0, 1] + p[1, 1] + p[2, 1]) / 3,
                (p[0, 2] + p[1, 2] + p[2, 2]) / 3,
            )
            near, square = nearest_in_tree(x, y, z, triangles, balls, ends, near, waiting)
            known = max(known, np.sqrt(square))
            if not whole:
                continue
            farthest = 0.0
            for c in range(3):
                farthest = max(farthest, square_distance(p[c, 0], p[c, 1], p[c, 2], triangles, near))
            farthest = np.sqrt(farthest)
            if farthest <= known * _TOLERANCE or level == _DEEPEST - 1:
                bound = max(bound, farthest, known)
                continue
            for c in range(4):
                for k in range(3):
                    for axis in range(3):
                        if c < 3:
                            stack[size, k, axis] = (p[c, axis] + p[k, axis]) / 2
                        else:
                            stack[size, k, axis] = (p[k, axis] + p[(k + 1) % 3, axis]) / 2
                depth[size] = level + 1
                size += 1
    return known, max(bound, known)


@njit_uncounted(cache=True, nogil=True)
def _copy(triangles, at, to):
    for corner in range(3):  # assigning a slice compiles how errors are worded
        for axis in range(3):
            to[corner, axis] = triangles[at, corner, axis]
