"""The bottom-up reductions in Warp: one launch per level, on the CPU (one thread) and on CUDA; no atomics.

One thread per member, node and channel pulls from its children. Products and sums are not fused, so that the CPU, CUDA
and the reference agree to the bit.
"""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.trees.tree import Tree
from hra.kernels.trees.upward import reference as constants
from hra.kernels.warp_arrays import compiled_for, like, new, view, wp  # there Warp is told to be silent

wp.set_module_options({"fuse_fp": False, "enable_backward": False})

STEPS = wp.constant(constants.STEPS)
FIRST_SHARE = wp.constant(wp.float64(constants.FIRST_SHARE))
DECAY = wp.constant(wp.float64(constants.DECAY))
GROWTH = wp.constant(wp.float64(constants.GROWTH))
LEAST = wp.constant(wp.float64(constants.LEAST))
SURE = wp.constant(wp.float64(constants.SURE))


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def _place_leaves(leaf: wp.array(dtype=wp.int32), leaves: wp.array3d(dtype=Any), nodes: wp.array3d(dtype=Any)):
    """Copy the values of the leaves to their nodes."""
    b, i, c = wp.tid()
    nodes[b, leaf[i], c] = leaves[b, i, c]


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def _sum_level(
    begin: int,
    node: wp.array(dtype=wp.int32),
    first_child: wp.array(dtype=wp.int32),
    nodes: wp.array3d(dtype=Any),
):
    """Sums of the children of one level."""
    b, i, c = wp.tid()
    p = begin + i
    # A leaf, whose value has been placed. Inner nodes read the level below, which the launch before has written.
    if first_child[p] == first_child[p + 1]:
        return
    total = wp.float64(0.0)
    for k in range(first_child[p], first_child[p + 1]):
        # In float64, in the order of the children and rounded once, as all backends do.
        total += wp.float64(nodes[b, node[k], c])
    nodes[b, node[p], c] = nodes.dtype(total)


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def _mean_level(
    begin: int,
    node: wp.array(dtype=wp.int32),
    first_child: wp.array(dtype=wp.int32),
    weights: wp.array3d(dtype=wp.float64),
    nodes: wp.array3d(dtype=Any),
):
    """Weighted means of the children of one level; one row of weights may serve all members."""
    b, i, c = wp.tid()
    p = begin + i
    if first_child[p] == first_child[p + 1]:
        return
    member = wp.min(b, weights.shape[0] - 1)
    total = wp.float64(0.0)
    for k in range(first_child[p], first_child[p + 1]):
        total += weights[member, node[k], 0] * wp.float64(nodes[b, node[k], c])
    heavy = weights[member, node[p], 0]
    if heavy > wp.float64(0.0):
        nodes[b, node[p], c] = nodes.dtype(total / heavy)
    else:
        nodes[b, node[p], c] = nodes.dtype(0.0)


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def _extremum_level(
    begin: int,
    node: wp.array(dtype=wp.int32),
    first_child: wp.array(dtype=wp.int32),
    smallest: bool,
    nodes: wp.array3d(dtype=Any),
):
    """Maxima (minima if ``smallest``) of the children of one level; NaN wins."""
    b, i, c = wp.tid()
    p = begin + i
    if first_child[p] == first_child[p + 1]:
        return
    best = nodes[b, node[first_child[p]], c]
    for k in range(first_child[p] + 1, first_child[p + 1]):
        value = nodes[b, node[k], c]
        wins = value > best
        if smallest:
            wins = value < best
        if wins or value != value:
            best = value
    nodes[b, node[p], c] = best


@wp.func
def _ball(centers: wp.array3d(dtype=wp.float32), radii: wp.array3d(dtype=wp.float32), b: int, v: int) -> wp.vec4d:
    x, y, z = wp.float64(centers[b, v, 0]), wp.float64(centers[b, v, 1]), wp.float64(centers[b, v, 2])
    return wp.vec4d(x, y, z, wp.float64(radii[b, v, 0]))


@wp.func
def _reach(ball: wp.vec4d, center: wp.vec3d) -> wp.float64:
    x, y, z = ball[0] - center[0], ball[1] - center[1], ball[2] - center[2]
    return wp.sqrt(x * x + y * y + z * z) + ball[3]


@wp.func
def _farthest(
    centers: wp.array3d(dtype=wp.float32),
    radii: wp.array3d(dtype=wp.float32),
    node: wp.array(dtype=wp.int32),
    b: int,
    begin: int,
    end: int,
    center: wp.vec3d,
) -> wp.vec4d:
    """The first sphere whose far side is the farthest from ``center``."""
    far = _ball(centers, radii, b, node[begin])
    best = _reach(far, center)
    for k in range(begin + 1, end):
        ball = _ball(centers, radii, b, node[k])
        reach = _reach(ball, center)
        # Strictly, so that of equals the first one wins, as on the host.
        if reach > best:
            best = reach
            far = ball
    return far


@wp.func
def _xyz(ball: wp.vec4d) -> wp.vec3d:
    return wp.vec3d(ball[0], ball[1], ball[2])


@wp.func
def _surely_within(
    centers: wp.array3d(dtype=wp.float32),
    radii: wp.array3d(dtype=wp.float32),
    node: wp.array(dtype=wp.int32),
    b: int,
    begin: int,
    end: int,
    largest: wp.vec4d,
) -> bool:
    """Whether the largest sphere holds the others in exact arithmetic, not just by rounded distances."""
    center = _xyz(largest)
    for k in range(begin, end):
        ball = _ball(centers, radii, b, node[k])
        x, y, z = ball[0] - center[0], ball[1] - center[1], ball[2] - center[2]
        distance = wp.sqrt(x * x + y * y + z * z)
        if distance > wp.float64(0.0) and (distance + ball[3]) * SURE > largest[3]:
            return False
    return True


@wp.func
def _middle_of_box(
    centers: wp.array3d(dtype=wp.float32),
    radii: wp.array3d(dtype=wp.float32),
    node: wp.array(dtype=wp.int32),
    b: int,
    begin: int,
    end: int,
) -> wp.vec3d:
    first = _ball(centers, radii, b, node[begin])
    low = wp.vec3d(first[0] - first[3], first[1] - first[3], first[2] - first[3])
    high = wp.vec3d(first[0] + first[3], first[1] + first[3], first[2] + first[3])
    for k in range(begin + 1, end):
        ball = _ball(centers, radii, b, node[k])
        low = wp.min(low, wp.vec3d(ball[0] - ball[3], ball[1] - ball[3], ball[2] - ball[3]))
        high = wp.max(high, wp.vec3d(ball[0] + ball[3], ball[1] + ball[3], ball[2] + ball[3]))
    return (low + high) / wp.float64(2.0)


@wp.func
def _approach(
    centers: wp.array3d(dtype=wp.float32),
    radii: wp.array3d(dtype=wp.float32),
    node: wp.array(dtype=wp.int32),
    b: int,
    begin: int,
    end: int,
    start: wp.vec3d,
    start_reach: wp.float64,
) -> wp.vec3d:
    """The centre of the smallest sphere met on steps from the middle of the box, or ``start``."""
    center = start
    best = wp.float64(start_reach)
    trial = _middle_of_box(centers, radii, node, b, begin, end)
    share = wp.float64(FIRST_SHARE)
    for _ in range(STEPS):
        far = _farthest(centers, radii, node, b, begin, end, trial)
        reach = _reach(far, trial)
        if reach < best:
            best = reach
            center = trial
        distance = reach - far[3]
        if distance <= wp.float64(0.0):
            break
        trial = trial + (_xyz(far) - trial) * (reach / distance * share)
        share = share * DECAY
    return center


@wp.kernel
def _enclose_level(
    begin: int,
    node: wp.array(dtype=wp.int32),
    first_child: wp.array(dtype=wp.int32),
    centers: wp.array3d(dtype=wp.float32),
    radii: wp.array3d(dtype=wp.float32),
):
    """Spheres around the children's spheres of one level."""
    b, i = wp.tid()
    p = begin + i
    first, last = first_child[p], first_child[p + 1]
    if first == last:
        return
    largest = _ball(centers, radii, b, node[first])
    for k in range(first + 1, last):
        ball = _ball(centers, radii, b, node[k])
        if ball[3] > largest[3]:
            largest = ball
    center = _xyz(largest)
    far = _farthest(centers, radii, node, b, first, last, center)
    best = _reach(far, center)
    radius = wp.float32(largest[3])
    if best > largest[3]:
        if last - first == 2:
            # As in `numba_spheres._enclose`; best > largest[3] >= far[3], so that the quotient exists.
            share = (best - largest[3]) / (wp.float64(2.0) * (best - far[3]))
            center = center + (_xyz(far) - center) * share
        else:
            center = _approach(centers, radii, node, b, first, last, center, best)
        for axis in range(3):
            # The radius is measured from the centre as it is stored.
            center[axis] = wp.float64(wp.float32(center[axis]))
        far = _farthest(centers, radii, node, b, first, last, center)
        radius = wp.float32(_reach(far, center) * GROWTH + LEAST)
    elif not _surely_within(centers, radii, node, b, first, last, largest):
        radius = wp.float32(largest[3] * GROWTH + LEAST)
    for axis in range(3):
        centers[b, node[p], axis] = wp.float32(center[axis])
    radii[b, node[p], 0] = radius


def sum_up(tree: Tree, leaves: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    nodes = _place(tree, view(leaves))
    _sweep(_sum_level, tree, nodes.shape, [nodes])
    return like(nodes, leaves)


def max_up(tree: Tree, leaves: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, False)


def min_up(tree: Tree, leaves: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, True)


def mean_up(tree: Tree, leaves: Any, weight: Any) -> Any:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``weight`` [B, L, 1], [1, L, 1] or None."""
    nodes = _place(tree, view(leaves))
    weights = _place(tree, _weights(weight, nodes, leaves.shape[1]))
    _sweep(_sum_level, tree, weights.shape, [weights])
    _sweep(_mean_level, tree, nodes.shape, [weights, nodes])
    return like(nodes, leaves)


def spheres_up(tree: Tree, center: Any, radius: Any) -> tuple[Any, Any]:
    """See :func:`hra.kernels.trees.spheres_up`; ``center`` [B, L, 3], ``radius`` [B, L, 1] or None."""
    centers = _place(tree, view(center))
    shape = (*centers.shape[:2], 1)
    points = wp.zeros(shape, dtype=wp.float32, device=centers.device)
    radii = points if radius is None else _place(tree, view(radius))
    _sweep(_enclose_level, tree, shape[:2], [centers, radii])
    return like(centers, center), like(radii, center)


def _place(tree: Tree, leaves: Any) -> Any:
    nodes = new((leaves.shape[0], len(tree), leaves.shape[2]), leaves.dtype, leaves.device)
    wp.launch(_place_leaves, leaves.shape, [view(tree.leaf), leaves, nodes], device=leaves.device)
    return nodes


def _weights(weight: Any, nodes: Any, count: int) -> Any:
    """Weights [B, L, 1] or [1, L, 1] on the device of ``nodes``."""
    if weight is None:
        return wp.full((1, count, 1), 1.0, dtype=wp.float64, device=nodes.device)
    return wp.array(weight, dtype=wp.float64, device=nodes.device) if isinstance(weight, np.ndarray) else weight


def _extremum_up(tree: Tree, leaves: Any, smallest: bool) -> Any:
    nodes = _place(tree, view(leaves))
    _sweep(_extremum_level, tree, nodes.shape, [smallest, nodes])
    return like(nodes, leaves)


def _sweep(kernel: Any, tree: Tree, shape: tuple[int, ...], inputs: list[Any]) -> None:
    """Launch a kernel over every level but the finest, from fine to coarse; ``shape`` is [B, N, ...]."""
    node, first_child = view(tree.node), view(tree.first_child)
    for begin, end in reversed(tree.levels[:-1]):
        size = (shape[0], end - begin, *shape[2:])
        wp.launch(kernel, size, [begin, node, first_child, *inputs], device=inputs[-1].device)
