"""The bottom-up reductions, and spheres around spheres, as serial loops over nodes, the fastest on a CPU."""

from __future__ import annotations

import math

import numpy as np

from hra.compiling import njit
from hra.kernels.trees.tree import Tree
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


def sum_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    nodes = _place_values(tree, leaves)
    _sum_up(tree.node, tree.first_child, nodes)
    return nodes


def max_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, smallest=False)


def min_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, smallest=True)


def mean_up(tree: Tree, leaves: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``weight`` [B, L, 1], [1, L, 1] or None."""
    weights = sum_up(tree, np.ones((1, leaves.shape[1], 1)) if weight is None else weight)
    nodes = _place_values(tree, leaves)
    _mean_up(tree.node, tree.first_child, weights, nodes)
    return nodes


def spheres_up(tree: Tree, center: np.ndarray, radius: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.spheres_up`; ``center`` [B, L, 3], ``radius`` [B, L, 1] or None."""
    centers = _place_values(tree, center)
    radii = np.zeros((*centers.shape[:2], 1), np.float32) if radius is None else _place_values(tree, radius)
    enclose_nodes(tree.node, tree.first_child, centers, radii)
    return centers, radii


def _place_values(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    nodes = np.empty((len(leaves), len(tree), leaves.shape[2]), leaves.dtype)
    _place(tree.leaf, leaves, nodes)
    return nodes


def _extremum_up(tree: Tree, leaves: np.ndarray, smallest: bool) -> np.ndarray:
    nodes = _place_values(tree, leaves)
    _extremum(tree.node, tree.first_child, nodes, smallest)
    return nodes


@njit(cache=True, nogil=True)
def _place(leaf, leaves, nodes):
    for b in range(len(leaves)):
        for i in range(leaf.size):
            for c in range(leaves.shape[2]):
                nodes[b, leaf[i], c] = leaves[b, i, c]


@njit(cache=True, nogil=True)
def _sum_up(node, first_child, nodes):
    total = np.empty(nodes.shape[2])
    for b in range(len(nodes)):
        # Backwards through level order: children are complete before they are read.
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            total[:] = 0.0
            for k in range(begin, end):
                for c in range(total.size):
                    total[c] += nodes[b, node[k], c]
            for c in range(total.size):
                # Summed in float64 in the order of the children and rounded once: what makes the backends agree to the
                # bit.
                nodes[b, node[p], c] = total[c]


@njit(cache=True, nogil=True)
def _mean_up(node, first_child, weights, nodes):
    total = np.empty(nodes.shape[2])
    for b in range(len(nodes)):
        # One row of weights serves all members, or each has its own.
        weight = weights[min(b, len(weights) - 1), :, 0]
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            total[:] = 0.0
            for k in range(begin, end):
                # A mean of means is the mean of the leaves if each counts with the weight of all that is beneath it.
                share = weight[node[k]]
                for c in range(total.size):
                    total[c] += share * nodes[b, node[k], c]
            heavy = weight[node[p]]
            for c in range(total.size):
                nodes[b, node[p], c] = total[c] / heavy if heavy > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _extremum(node, first_child, nodes, smallest):
    for b in range(len(nodes)):
        for p in range(node.size - 1, -1, -1):
            begin, end = first_child[p], first_child[p + 1]
            if begin == end:
                continue
            for c in range(nodes.shape[2]):
                best = nodes[b, node[begin], c]
                for k in range(begin + 1, end):
                    value = nodes[b, node[k], c]
                    wins = value < best if smallest else value > best
                    best = value if wins or value != value else best  # NaN wins on either side
                nodes[b, node[p], c] = best
