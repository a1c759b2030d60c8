"""Warp kernels of threshold cuts and compaction: one thread per node or flag."""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

import warp as wp

wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@wp.kernel
def threshold_cut(
    parent: wp.array(dtype=wp.int32),
    error: wp.array2d(dtype=Any),
    tolerance: wp.array(dtype=Any),
    drawn: wp.array2d(dtype=wp.bool),
):
    """Whether each node is good enough and its parent is not."""
    b, v = wp.tid()
    limit = tolerance[b]
    good = error[b, v] <= limit
    if good and parent[v] >= 0:
        good = error[b, parent[v]] > limit
    drawn[b, v] = good


@wp.kernel
def flags_to_ones(flags: wp.array(dtype=wp.bool), ones: wp.array(dtype=wp.int32)):
    """1 for every true flag, 0 for the others."""
    i = wp.tid()
    ones[i] = wp.where(flags[i], 1, 0)


@wp.kernel
def write_indices(flags: wp.array(dtype=wp.bool), ends: wp.array(dtype=wp.int32), indices: wp.array(dtype=wp.int32)):
    """Put each true flag's index behind those of the flags before it."""
    i = wp.tid()
    if flags[i]:
        indices[ends[i] - 1] = i
