"""The Warp backend: the same kernels on the CPU (one thread) and on CUDA, where nothing leaves the device."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import dtype_of, on_host
from hra.kernels.pyramids.levels import warp_kernels
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reductions import Reduce, colors, identity
from hra.kernels.pyramids.levels.reference import FINER
from hra.kernels.warp_arrays import view, wp  # there Warp is told to be silent

_MAX_ELEMENTS = 2**31 - 1


def devices() -> list[str]:
    """The devices that Warp can use here, "cpu" first."""
    return [str(device) for device in wp.get_devices()]


def build_pyramid(image: Any, layout: Layout, reduce: Reduce, data: Any | None = None) -> Any:
    """See `reference.build_pyramid`."""
    check_size(layout)
    data = layout.place(image, data) if on_host(image) else _place_on_device(image, layout, data)
    levels = [_level(data, layout, level) for level in range(len(layout.sizes))]
    kernel, options = _kernel(reduce, dtype_of(data), layout.channels)
    for source, target in pairwise(levels):
        wp.launch(kernel, target.shape, [source, target, *options], device=target.device)
    return data


def rect_reduce(
    data: Any, layout: Layout, rects: Any, batch_index: Any | None, reduce: Reduce, against: Any | None = None
) -> Any:
    """See `reference.rect_reduce`."""
    check_size(layout)
    count, dtype = rects.shape[0], dtype_of(data)
    device = "cpu" if on_host(data) else data.device
    result = np.empty(count, dtype) if on_host(data) else wp.empty(count, dtype=data.dtype, device=device)
    index = wp.zeros(count, dtype=wp.int32, device=device) if batch_index is None else view(batch_index)
    offsets = wp.array(layout.offsets[:-1], dtype=wp.int32, device=device)
    sizes = wp.array(np.array(layout.sizes, np.int32), dtype=wp.int32, device=device)
    pixels, answer = view(data), view(result)
    compared = wp.empty(0, dtype=answer.dtype, device=device) if against is None else view(against)
    nothing = answer.dtype(identity(reduce, dtype))
    inputs = [pixels, offsets, sizes, view(rects), index, layout.images, compared, FINER, nothing]
    wp.launch(warp_kernels.rect_extremum, count, [*inputs, reduce == "min", answer], device=device)
    return result


def _kernel(reduce: Reduce, dtype: np.dtype, channels: int) -> tuple[Any, list[int | bool]]:
    if reduce in ("max", "min"):
        return warp_kernels.extremum_level, [reduce == "min"]
    if reduce == "srgb_mean":
        is_bytes = dtype == np.uint8
        return warp_kernels.srgb_mean_level_bytes if is_bytes else warp_kernels.srgb_mean_level, [colors(channels)]
    return warp_kernels.mean_level_bytes if dtype == np.uint8 else warp_kernels.mean_level, [reduce == "block_mean"]


def _place_on_device(image: Any, layout: Layout, data: Any | None) -> Any:
    data = wp.empty(layout.size, dtype=image.dtype, device=image.device) if data is None else data
    if not layout.holds(data, image):
        wp.copy(layout.views(data)[0], image)
    return data


def _level(data: Any, layout: Layout, level: int) -> Any:
    begin, end = layout.offsets[level : level + 2]
    return view(data)[begin:end].reshape((layout.images, *layout.sizes[level], layout.channels))


def check_size(layout: Layout) -> None:
    """Raise :class:`ArrayError` if Warp cannot count the elements of all levels."""
    if layout.size > _MAX_ELEMENTS:
        what = f"all levels have {layout.size:,} elements; Warp counts to {_MAX_ELEMENTS:,}"
        raise ArrayError(what, where="argument image", fix="split the batch or the image, or use backend='numba'")
