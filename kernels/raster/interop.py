"""Buffers of OpenGL as Warp arrays, and from there as torch tensors: without a copy on CUDA; see docs/interop.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import load_warp
from hra.kernels.raster.buffers import download
from hra.kernels.raster.context import Context


@contextmanager
def warp_array(context: Context, buffer: Any, dtype: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    """A Warp array with what an OpenGL buffer holds, for the length of a ``with`` statement.

    Where OpenGL and CUDA run on the same GPU it *is* the buffer: nothing is copied, what kernels write stays in it, and
    OpenGL must not touch it until the statement ends; ``wp.to_torch(array)`` shares it further. Everywhere else it is a
    copy on the host, and what is written to it is lost.

    Parameters
    ----------
    context : that of the buffer.
    buffer : a ``moderngl.Buffer``, such as `HiZ.buffer`.
    dtype : NumPy dtype of its elements.
    shape : as many elements as are wanted from its beginning.

    Raises
    ------
    ArrayError : the buffer is smaller than that.
    BackendUnavailable : Warp is missing, or the context fails.
    """
    wp = load_warp()
    element = np.dtype(dtype)
    if element.itemsize * math.prod(shape) > buffer.size:
        what = f"a buffer of {buffer.size} bytes is too small for {list(shape)} of {element}"
        raise ArrayError(what, where="argument shape")
    with context.use():
        registered = _register(wp, buffer) if wp.is_cuda_available() else None
        if registered is None:
            copy = download(buffer, element, math.prod(shape)).reshape(shape)
            yield wp.array(copy, dtype=wp.dtype_from_numpy(element), device="cpu", copy=False)
            return
        try:
            yield registered.map(dtype=wp.dtype_from_numpy(element), shape=shape)
        finally:
            registered.unmap()


# What CUDA knows of a buffer, as long as the buffer lives: to register it takes longer than to map it.
_registered: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def _register(wp: Any, buffer: Any) -> Any | None:
    """The buffer as CUDA sees it; None where OpenGL draws on another device, such as Mesa's software renderer."""
    if buffer not in _registered:
        try:
            _registered[buffer] = wp.RegisteredGLBuffer(buffer.glo, wp.get_cuda_device(), fallback_to_copy=False)
        except RuntimeError:
            _registered[buffer] = None
    return _registered[buffer]
