"""NumPy arrays as Warp arrays over the same memory, and back.

Modules with Warp kernels import this one first: here Warp is loaded, told to be silent, or found missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.arrays import load_warp, on_host

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
    return wp.empty(shape, dtype=dtype, device=device)


def head(array: Any, count: int) -> Any:
    """The first ``count`` entries of a Warp array, which cannot be cut to none itself."""
    return array[:count] if count else new(0, array.dtype, array.device)
