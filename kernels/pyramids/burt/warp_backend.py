"""REDUCE and EXPAND of Burt and Adelson by Warp; arrays of a CUDA device stay on it. Levels are [B, H, W, C]."""

from __future__ import annotations

from typing import Any

from hra.kernels.arrays import on_host
from hra.kernels.pyramids.burt import reference, warp_kernels
from hra.kernels.pyramids.levels.layout import Layout
from hra.kernels.pyramids.levels.warp_backend import check_size
from hra.kernels.warp_arrays import new, view, wp  # there Warp is told to be silent


def place(image: Any, layout: Layout) -> Any:
    """A new flat buffer, float32, whose level 0 is the image."""
    check_size(layout)
    if on_host(image):
        return reference.place(image, layout)
    data = new(layout.size, wp.float32, image.device)
    source = image.contiguous().reshape((image.size,))
    wp.launch(warp_kernels.to_float, image.size, [source, data], device=image.device)
    return data


def copy(data: Any) -> Any:
    """A copy of the flat buffer."""
    return data.copy() if on_host(data) else wp.clone(data)


def reduce_level(source: Any, target: Any) -> None:
    """Write every second pixel of the blurred ``source`` to ``target``."""
    pixels, coarser = view(source), view(target)
    wp.launch(warp_kernels.reduce_level, coarser.shape, [pixels, coarser], device=coarser.device)


def add_expanded(coarse: Any, fine: Any, sign: float) -> None:
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    source, target = view(coarse), view(fine)
    wp.launch(warp_kernels.add_expanded, target.shape, [source, target, sign], device=target.device)
