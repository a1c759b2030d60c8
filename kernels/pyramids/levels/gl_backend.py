"""The OpenGL backend: compute shaders on the GPU that draws, or on the CPU through Mesa; only on request.

On the host every call sends the image to the driver and fetches the levels, hence "auto" never takes it. It is for
checking a driver, and what `hra.kernels.raster` computes with where the data is on the GPU already. Each thread gets a
context of its own on its first call. Maxima and minima are exact; means may take numbers below 1e-37 for zero.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable, HraError
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reductions import Reduce
from hra.kernels.pyramids.levels.reference import one_of_two
from hra.kernels.raster.buffers import check_storage_size, upload
from hra.kernels.raster.context import Context
from hra.kernels.raster.levels import rect_extremum, reduce_levels

REDUCTIONS: tuple[Reduce, ...] = ("mean", "block_mean", "max", "min")
_DTYPES = (np.dtype(np.float32), np.dtype(np.uint8))

_local = threading.local()


def build_pyramid(image: Any, layout: Layout, reduce: Reduce, data: Any | None = None) -> np.ndarray:
    """See `reference.build_pyramid`."""
    _check_supported(image.dtype, reduce)
    data = layout.place(image, data)
    with own_context() as context, context.use() as gl:
        check_storage_size(context, data.nbytes, "the pyramid")
        buffer = gl.buffer(reserve=-(-data.nbytes // 4) * 4)
        begin = image.size * data.itemsize
        buffer.write(data[: image.size])
        reduce_levels(context, buffer, layout, data.dtype, reduce)
        if begin < data.nbytes:
            buffer.read_into(data, data.nbytes - begin, begin, write_offset=begin)
        buffer.release()
    return data


def rect_reduce(
    data: Any, layout: Layout, rects: Any, batch_index: Any | None, reduce: Reduce, against: Any | None = None
) -> np.ndarray:
    """See `reference.rect_reduce`."""
    _check_supported(data.dtype, reduce)
    with own_context() as context, context.use() as gl:
        check_storage_size(context, data.nbytes, "the pyramid")
        check_storage_size(context, rects.nbytes, "the list of rectangles")
        buffer = upload(gl, np.pad(data, (0, -data.size % 4)) if data.itemsize == 1 else data)
        result = rect_extremum(context, buffer, layout, data.dtype, rects, batch_index, reduce, against)
        buffer.release()
    return result if against is None else one_of_two(result, rects, layout.sizes[0], against, reduce)


def _check_supported(dtype: np.dtype, reduce: Reduce) -> None:
    if dtype not in _DTYPES or reduce not in REDUCTIONS:
        what = f"the backend 'gl' cannot reduce {dtype} by {reduce!r}"
        fix = "use 'auto', or float32 or uint8 and mean, block_mean, max or min"
        raise BackendUnavailable(what, where="argument backend", fix=fix)


@contextmanager
def own_context() -> Iterator[Context]:
    """This thread's context; after a failure, such as a reset of the driver, the next call makes a new one."""
    kept = getattr(_local, "context", None)
    context = kept if kept is not None and _works(kept) else Context()
    _local.context = None
    yield context
    _local.context = context


def _works(context: Context) -> bool:
    """Whether a context that was kept is still there: others in the process can end the display that it belongs to."""
    try:
        with context.use():
            return True
    except HraError:
        return False
