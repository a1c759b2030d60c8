"""The Numba backend: serial loops over rows, the fastest on a CPU. No threads of its own; it releases the GIL."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hra.kernels import numba_kernels
from hra.kernels.arrays import require_host
from hra.kernels.layout import Layout
from hra.kernels.reductions import Reduce, identity


def build_pyramid(image: Any, layout: Layout, reduce: Reduce) -> np.ndarray:
    """See :class:`hra.kernels.backends.Backend`."""
    data = layout.place(require_host(image, "numba"))
    rows = [
        level.reshape(layout.images, height, width * layout.channels)
        for level, (height, width) in zip(layout.views(data), layout.sizes, strict=True)
    ]
    for source, target in pairwise(rows):
        _reduce_level(source, target, layout.channels, reduce)
    return data


def rect_reduce(data: Any, layout: Layout, rects: Any, batch_index: Any | None, reduce: Reduce) -> np.ndarray:
    """See :class:`hra.kernels.backends.Backend`."""
    data = require_host(data, "numba")
    image = np.zeros(len(rects), np.int32) if batch_index is None else batch_index
    result = np.full(len(rects), identity(reduce, data.dtype), data.dtype)
    offsets, sizes = np.array(layout.offsets[:-1], np.int64), np.array(layout.sizes, np.int64)
    numba_kernels.rect_extremum(data, offsets, sizes, rects, image, reduce == "min", result)
    return result


def _reduce_level(source: np.ndarray, target: np.ndarray, channels: int, reduce: Reduce) -> None:
    if reduce != "mean":
        numba_kernels.extremum_level(source, target, channels, reduce == "min")
    elif source.dtype == np.uint8:
        numba_kernels.mean_level_bytes(source, target, channels)
    else:
        numba_kernels.mean_level(source, target, channels)
