"""Threshold cuts and compaction in Warp, on the CPU (one thread) and on CUDA.

The kernels take one thread per node or flag.
"""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from typing import Any

from hra.kernels.backends import fetch
from hra.kernels.warp_arrays import compiled_for, like, new, view, wp  # there Warp is told to be silent

wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def draw_coarsest(
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


def threshold_cut(parent: Any, error: Any, tolerance: Any) -> Any:
    """See :func:`hra.kernels.compaction.threshold_cut`."""
    errors = view(error)
    drawn = new(errors.shape, wp.bool, errors.device)
    inputs = [view(parent), errors, view(tolerance), drawn]
    wp.launch(draw_coarsest, errors.shape, inputs, device=errors.device)
    return like(drawn, error)


def compact(flags: Any) -> Any:
    """See :func:`hra.kernels.compaction.compact`."""
    given = view(flags)
    size, device = given.shape[0], given.device
    if not size:
        return like(new(0, wp.int32, device), flags)
    ones, ends = new(size, wp.int32, device), new(size, wp.int32, device)
    wp.launch(flags_to_ones, size, [given, ones], device=device)
    wp.utils.array_scan(ones, ends)
    indices = new(int(fetch(ends[size - 1 : size])[0]), wp.int32, device)
    wp.launch(write_indices, size, [given, ends, indices], device=device)
    return like(indices, flags)
