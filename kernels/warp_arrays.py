"""NumPy arrays as Warp arrays over the same memory, and back.

Modules with Warp kernels import this one first: here Warp is loaded, told to be silent, or found missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.errors import OutOfMemory
from hra.kernels.backends import load_warp, on_host

wp = load_warp()


def view(array: Any) -> Any:
    """A Warp array over the memory of an adopted one (a copy if it has gaps)."""
    if not on_host(array):
        return array
    return wp.array(np.ascontiguousarray(array), dtype=wp.dtype_from_numpy(array.dtype), device="cpu", copy=False)


def like(array: Any, template: Any) -> Any:
    """A NumPy array over the memory of a Warp array if ``template`` is one, else the array itself."""
    return array.numpy() if on_host(template) else array


def new(shape: Any, dtype: Any, device: Any) -> Any:
    """A Warp array that is not yet written."""
    return _made(wp.empty, shape, dtype, device)


def zeros(shape: Any, dtype: Any, device: Any) -> Any:
    """A Warp array of zeros."""
    return _made(wp.zeros, shape, dtype, device)


def _made(make: Callable[..., Any], shape: Any, dtype: Any, device: Any) -> Any:
    try:
        return make(shape, dtype=dtype, device=device)
    except RuntimeError as error:
        # Warp has no type of its own for it.
        if "allocate" not in str(error):
            raise
        what = f"the device has too little memory for an array of {shape} {getattr(dtype, '__name__', dtype)}"
        fix = "free memory of the device, use a smaller input, or backend='numba', which computes on the host"
        raise OutOfMemory(what, where=str(device), fix=fix) from error


def head(array: Any, count: int) -> Any:
    """The first ``count`` entries of a Warp array, which cannot be cut to none itself."""
    return array[:count] if count else new(0, array.dtype, array.device)
