"""REDUCE and EXPAND of Burt and Adelson by Warp; arrays of a CUDA device stay on it. Levels are [B, H, W, C].

The kernels take one thread per output value.
"""

# Warp compiles this file itself: see `levels.warp_kernels`.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false

from __future__ import annotations

from typing import Any

from hra.kernels.backends import on_host
from hra.kernels.pyramids.burt import reference
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.warp_backend import check_size
from hra.kernels.warp_arrays import compiled_for, new, view, wp  # there Warp is told to be silent

# ruff: noqa: UP018


@compiled_for(wp.uint8, wp.float16, wp.float32)
@wp.kernel(enable_backward=False)
def to_float(source: wp.array(dtype=Any), target: wp.array(dtype=wp.float32)):
    """Copy as float32."""
    i = wp.tid()
    target[i] = float(source[i])


@wp.func
def _mirror(i: int, count: int) -> int:
    """Index in [0, count) of pixel ``i`` of the image mirrored about its outermost pixels."""
    period = wp.max(2 * (count - 1), 1)
    inside = wp.abs(i) % period
    return wp.where(count > 1, wp.min(inside, period - inside), 0)


@wp.func
def _weight(tap: int) -> float:
    distance = wp.abs(tap)
    return wp.where(distance == 0, 0.375, wp.where(distance == 1, 0.25, 0.0625))


@wp.kernel(enable_backward=False)
def reduce_pixels(source: wp.array4d(dtype=wp.float32), target: wp.array4d(dtype=wp.float32)):
    """Every second pixel of the blurred ``source``."""
    image, y, x, c = wp.tid()
    total = float(0.0)
    for dy in range(-2, 3):
        row = _mirror(2 * y + dy, source.shape[1])
        for dx in range(-2, 3):
            column = _mirror(2 * x + dx, source.shape[2])
            total += source[image, row, column, c] * _weight(dy) * _weight(dx)
    target[image, y, x, c] = total


@wp.func
def _share(i: int, tap: int) -> float:
    """Weight of the coarse pixel ``i / 2 + tap`` in the fine pixel ``i``."""
    if i % 2 == 1:
        return wp.where(tap < 0, 0.0, 0.5)
    return wp.where(tap == 0, 0.75, 0.125)


@wp.kernel(enable_backward=False)
def expand_pixels(coarse: wp.array4d(dtype=wp.float32), fine: wp.array4d(dtype=wp.float32), sign: float):
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    image, y, x, c = wp.tid()
    total = float(0.0)
    for dy in range(-1, 2):
        row = _mirror(2 * (y / 2 + dy), fine.shape[1]) / 2
        for dx in range(-1, 2):
            column = _mirror(2 * (x / 2 + dx), fine.shape[2]) / 2
            weight = _share(y, dy) * _share(x, dx)
            if weight > 0.0:  # 0 * inf would be NaN
                total += coarse[image, row, column, c] * weight
    fine[image, y, x, c] = fine[image, y, x, c] + sign * total


def place(image: Any, layout: Layout) -> Any:
    """A new flat buffer, float32, whose level 0 is the image."""
    check_size(layout)
    if on_host(image):
        return reference.place(image, layout)
    data = new(layout.size, wp.float32, image.device)
    source = image.contiguous().reshape((image.size,))
    wp.launch(to_float, image.size, [source, data], device=image.device)
    return data


def copy(data: Any) -> Any:
    """A copy of the flat buffer."""
    return data.copy() if on_host(data) else wp.clone(data)


def reduce_level(source: Any, target: Any) -> None:
    """Write every second pixel of the blurred ``source`` to ``target``."""
    pixels, coarser = view(source), view(target)
    wp.launch(reduce_pixels, coarser.shape, [pixels, coarser], device=coarser.device)


def add_expanded(coarse: Any, fine: Any, sign: float) -> None:
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    source, target = view(coarse), view(fine)
    wp.launch(expand_pixels, target.shape, [source, target, sign], device=target.device)
