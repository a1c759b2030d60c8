"""Threshold cuts and compaction in Warp, on the CPU (one thread) and on CUDA."""

from __future__ import annotations

from typing import Any

from hra.kernels.warp_arrays import like, new, view, wp  # there Warp is told to be silent

from hra.kernels.compaction import warp_kernels  # isort: skip (launches must find Warp silent)


def threshold_cut(parent: Any, error: Any, tolerance: Any) -> Any:
    """See :func:`hra.kernels.compaction.threshold_cut`."""
    errors = view(error)
    drawn = new(errors.shape, wp.bool, errors.device)
    inputs = [view(parent), errors, view(tolerance), drawn]
    wp.launch(warp_kernels.threshold_cut, errors.shape, inputs, device=errors.device)
    return like(drawn, error)


def compact(flags: Any) -> Any:
    """See :func:`hra.kernels.compaction.compact`."""
    given = view(flags)
    size, device = given.shape[0], given.device
    if not size:
        return like(new(0, wp.int32, device), flags)
    ones, ends = new(size, wp.int32, device), new(size, wp.int32, device)
    wp.launch(warp_kernels.flags_to_ones, size, [given, ones], device=device)
    wp.utils.array_scan(ones, ends)
    indices = new(int(ends[size - 1 : size].numpy()[0]), wp.int32, device)
    wp.launch(warp_kernels.write_indices, size, [given, ends, indices], device=device)
    return like(indices, flags)
