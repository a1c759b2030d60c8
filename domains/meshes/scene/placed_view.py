"""Which of many placed copies a camera may see, compiled; and which of their boxes."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.scene.placed_eye import planes_of


@njit(cache=True, error_model="numpy")
def copies_in_view(eye, placements, numbers, spheres, whole, sources, seen):
    """Raise ``seen`` [B] to 1 for copies that may be in view, to 2 for those that wholly are; conservative.

    A copy may be in view if its sphere, its box and one of the boxes of its sources may.

    Parameters
    ----------
    placements : float64 [B, 4, 4], to the world.
    numbers : int [n], the copies to look at.
    spheres : float64 [B, 3] and [B], centers and radii in the world.
    whole : [1, 2, 3], ``sources`` [S, 2, 3], in the coordinates of the copies.
    """
    world, planes = np.empty((6, 4)), np.empty((6, 4))
    planes_of(eye, np.eye(4), world)
    centers, radii = spheres
    for b in numbers:
        if seen[b] == 2:
            continue
        inwards = _least_reach(world, centers[b, 0], centers[b, 1], centers[b, 2])
        slack = 1e-12 * (abs(centers[b, 0]) + abs(centers[b, 1]) + abs(centers[b, 2]) + radii[b])
        if inwards >= radii[b] + slack:
            seen[b] = 2
        elif inwards >= -radii[b] - slack and seen[b] == 0:
            planes_of(eye, placements[b], planes)
            inside = _plane_between(planes, whole[0], 0) < 0
            seen[b] = 1 if inside and _any_in_view(planes, sources) else 0


@njit(cache=True, error_model="numpy")
def _least_reach(planes, x, y, z):
    least = np.inf
    for p in range(6):
        least = min(least, planes[p, 0] * x + planes[p, 1] * y + planes[p, 2] * z + planes[p, 3])
    return least


@njit(cache=True, error_model="numpy")
def _any_in_view(planes, boxes):
    """Whether one of the ``boxes`` may be in view; tests as in `hra.camera.view_bounds`."""
    out = 0
    for s in range(len(boxes)):
        # Boxes side by side are mostly out of view for the same reason.
        out = _plane_between(planes, boxes[s], out)
        if out < 0:
            return True
    return False


@njit(cache=True, error_model="numpy")
def _plane_between(planes, box, first):
    """A plane [6, 4] that the ``box`` [2, 3] is beyond, looked for from the ``first`` on, or -1."""
    x, y, z = 0.5 * (np.float64(box[0, 0]) + box[1, 0]), 0.5 * (np.float64(box[0, 1]) + box[1, 1]), 0.0
    z = 0.5 * (np.float64(box[0, 2]) + box[1, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    size = abs(x) + abs(y) + abs(z) + wide + high + deep
    for k in range(6):
        p = first + k if first + k < 6 else first + k - 6
        a, b, c, d = planes[p, 0], planes[p, 1], planes[p, 2], planes[p, 3]
        inwards = a * x + b * y + c * z + d + abs(a) * wide + abs(b) * high + abs(c) * deep
        if inwards + 1e-14 * (size + abs(d)) < 0.0:
            return p
    return -1


@njit(cache=True, error_model="numpy")
def planes_between(planes, box):
    """Those of ``planes`` [6, 4, L] that ``box`` [2, 3] is not on the inner side of for every copy, [P, 4, L]."""
    result, count = np.empty_like(planes), 0
    for p in range(planes.shape[0]):
        crosses = False
        for i in range(planes.shape[2]):
            least = planes[p, 3, i]
            for j in range(3):
                least += min(planes[p, j, i] * box[0, j], planes[p, j, i] * box[1, j])
            crosses = crosses or not least >= 0.0
        if crosses:
            result[count] = planes[p]
            count += 1
    return result[:count]


@njit(cache=True, error_model="numpy")
def leave_out(planes, box, result):
    """Set ``result`` [L] to 0 where ``box`` [2, 3] is beyond one of some ``planes`` [P, 4, L] of each copy's view."""
    x, y, z = 0.5 * (np.float64(box[0, 0]) + box[1, 0]), 0.5 * (np.float64(box[0, 1]) + box[1, 1]), 0.0
    z = 0.5 * (np.float64(box[0, 2]) + box[1, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    size = abs(x) + abs(y) + abs(z) + wide + high + deep
    for p in range(planes.shape[0]):
        for i in range(result.size):
            a, b, c, d = planes[p, 0, i], planes[p, 1, i], planes[p, 2, i], planes[p, 3, i]
            inwards = a * x + b * y + c * z + d + abs(a) * wide + abs(b) * high + abs(c) * deep
            result[i] = result[i] if inwards + 1e-14 * (size + abs(d)) >= 0.0 else 0.0
