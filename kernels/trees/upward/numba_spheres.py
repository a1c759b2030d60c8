"""Spheres around spheres as serial loops."""

from __future__ import annotations

import math

import numpy as np

from hra.compiling import njit
from hra.kernels.trees.upward.reference import DECAY, FIRST_SHARE, GROWTH, LEAST, STEPS, SURE


@njit(cache=True)
def _gather(centers, radii, items, begin, end, balls):
    """Copy the spheres of a set to ``balls`` [K, 4]; the steps read them again and again. Returns the largest."""
    largest = 0
    for k in range(end - begin):
        i = items[begin + k]
        balls[k, 0], balls[k, 1], balls[k, 2], balls[k, 3] = centers[i, 0], centers[i, 1], centers[i, 2], radii[i, 0]
        if balls[k, 3] > balls[largest, 3]:
            largest = k
    return largest


@njit(cache=True)
def _farthest(balls, count, center):
    """Largest distance from ``center`` to the far side of a sphere, and the first such sphere."""
    best, which = -1.0, 0
    for k in range(count):
        x, y, z = balls[k, 0] - center[0], balls[k, 1] - center[1], balls[k, 2] - center[2]
        reach = math.sqrt(x * x + y * y + z * z) + balls[k, 3]
        if reach > best:
            best, which = reach, k
    return best, which


@njit(cache=True)
def _middle_of_box(balls, count, trial):
    for axis in range(3):
        least, most = np.inf, -np.inf
        for k in range(count):
            least = min(least, balls[k, axis] - balls[k, 3])
            most = max(most, balls[k, axis] + balls[k, 3])
        trial[axis] = (least + most) / 2


@njit(cache=True)
def _approach(balls, count, trial, best, center):
    """Move ``trial`` to the farthest sphere with falling steps; what beats ``best`` goes into ``center``."""
    share = FIRST_SHARE
    # Any centre would do, since the radius is measured around it afterwards: the steps only decide how small it gets.
    for _ in range(STEPS):
        reach, k = _farthest(balls, count, trial)
        if reach < best:
            best = reach
            for axis in range(3):
                center[axis] = trial[axis]
        distance = reach - balls[k, 3]
        if distance <= 0.0:
            break
        # The far side of the sphere, not its centre, is what has to come closer.
        move = reach / distance * share
        for axis in range(3):
            trial[axis] += (balls[k, axis] - trial[axis]) * move
        share *= DECAY


@njit(cache=True)
def _surely_within(balls, count, largest):
    """Whether the largest sphere holds the others in exact arithmetic, not just by rounded distances."""
    for k in range(count):
        x, y, z = balls[k, 0] - balls[largest, 0], balls[k, 1] - balls[largest, 1], balls[k, 2] - balls[largest, 2]
        distance = math.sqrt(x * x + y * y + z * z)
        # About one centre no distance is rounded, and no radius is larger. Differences of distinct floats are not 0.
        if distance > 0.0 and (distance + balls[k, 3]) * SURE > balls[largest, 3]:
            return False
    return True


@njit(cache=True)
def _enclose(balls, count, largest, trial, center):
    """Write a float32 centre of a small sphere to ``center`` and return its radius, rounded up."""
    for axis in range(3):
        center[axis] = balls[largest, axis]
    best, far = _farthest(balls, count, center)
    # The largest sphere holds all others; where only rounding may say so, it grows by one float32.
    if best <= balls[largest, 3]:
        radius = balls[largest, 3]
        return np.float32(radius if _surely_within(balls, count, largest) else radius * GROWTH + LEAST)
    # The smallest sphere around two touches the far sides of both: its centre is on the line between theirs.
    if count == 2:
        # Not 0: best is beyond the largest radius. The far sides are best + radius apart; half of that less the radius
        # is how far the centre moves.
        distance = best - balls[far, 3]
        share = (best - balls[largest, 3]) / (2.0 * distance)
        for axis in range(3):
            center[axis] += (balls[far, axis] - center[axis]) * share
    else:
        _middle_of_box(balls, count, trial)
        _approach(balls, count, trial, best, center)
    for axis in range(3):
        center[axis] = np.float32(center[axis])
    # Measured from the rounded centre: only the rounding of the distance itself is left to allow for.
    reach, _ = _farthest(balls, count, center)
    return np.float32(reach * GROWTH + LEAST)


@njit(cache=True)
def _most(offsets):
    most = 0
    for g in range(offsets.size - 1):
        most = max(most, offsets[g + 1] - offsets[g])
    return most


@njit(cache=True, nogil=True)
def enclose_nodes(node, first_child, centers, radii):
    """Centres [B, N, 3] and radii [B, N, 1] of all inner nodes of a tree from those of the leaves, in place."""
    trial, center, balls = np.empty(3), np.empty(3), np.empty((_most(first_child), 4))
    for b in range(len(centers)):
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            largest = _gather(centers[b], radii[b], node, begin, end, balls)
            radii[b, node[p], 0] = _enclose(balls, end - begin, largest, trial, center)
            for axis in range(3):
                centers[b, node[p], axis] = center[axis]
