"""Warp kernels of the cuts: one thread per member and refinement, which pulls from its children or its parent.

The triple of a refinement is value, cost and gain of the best set below and with it. Products and sums are not fused,
so that the CPU, CUDA and the reference agree to the bit.
"""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import warp as wp

wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@wp.kernel
def sweep_level(
    begin: int,
    first_child: wp.array(dtype=wp.int32),
    cost: wp.array(dtype=wp.float64),
    gain: wp.array2d(dtype=Any),
    price: wp.array(dtype=wp.float64),
    is_done: wp.array(dtype=wp.bool),
    best: wp.array2d(dtype=wp.vec3d),
):
    """Triples of one level from those of the next."""
    member, i = wp.tid()
    if is_done[member]:
        return
    r = begin + i
    own = wp.float64(gain[member, r])
    paid = wp.float64(0.0)
    if cost[r] > wp.float64(0.0):  # inf * 0 is not a number
        paid = price[member] * cost[r]
    total = wp.vec3d(own - paid, cost[r], own)
    # From left to right, as the reference adds.
    for child in range(first_child[r], first_child[r + 1]):
        total += best[member, child]
    # Taken with the best of what is beneath, or left with all of it.
    if not total[0] > wp.float64(0.0):
        total = wp.vec3d()
    best[member, r] = total


@wp.kernel
def sum_groups(
    source: wp.array2d(dtype=wp.vec3d),
    count: int,
    group: int,
    is_done: wp.array(dtype=wp.bool),
    target: wp.array2d(dtype=wp.vec3d),
):
    """Sums of each ``group`` of the first ``count`` triples."""
    member, i = wp.tid()
    if is_done[member]:
        return
    total = wp.vec3d()
    for j in range(i * group, wp.min(count, (i + 1) * group)):
        total += source[member, j]
    target[member, i] = total


@wp.kernel
def select_level(
    begin: int,
    parent: wp.array(dtype=wp.int32),
    best: wp.array2d(dtype=wp.vec3d),
    selected: wp.array2d(dtype=wp.bool),
):
    """What is worth it and whose parent was taken."""
    member, i = wp.tid()
    r = begin + i
    taken = best[member, r][0] > wp.float64(0.0)
    if taken and parent[r] >= 0:
        taken = selected[member, parent[r]]
    selected[member, r] = taken


@wp.kernel
def report(
    totals: wp.array2d(dtype=wp.vec3d),
    base_cost: wp.float64,
    cost: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    value: wp.array(dtype=wp.float64),
):
    """The triples of all members as three arrays."""
    member = wp.tid()
    total = totals[member, 0]
    value[member] = total[0]
    cost[member] = base_cost + total[1]
    gain[member] = total[2]


@wp.kernel
def find_invalid(gain: wp.array2d(dtype=Any), found: wp.array(dtype=wp.int32)):
    """Set ``found`` if a gain is negative, infinite or NaN."""
    member, r = wp.tid()
    value = wp.float64(gain[member, r])
    if not (value >= wp.float64(0.0) and value < wp.float64(wp.inf)):
        found[0] = 1
