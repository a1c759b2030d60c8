"""NumPy arrays as Warp arrays over the same memory, and back.

Modules with Warp kernels import this one first: here Warp is loaded, told to be silent, or found missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hra.errors import OutOfMemory
from hra.kernels.backends import load_warp, on_host

wp = load_warp()


def compiled_for(*types: Any) -> Callable[[Any], Any]:
    """Compile a kernel that takes any type for these ones, together with its module.

    For a type that it meets later Warp compiles the whole module again, and finds it on disk only where another
    process has met the same types: seconds each time, on CUDA more.

    Parameters
    ----------
    types : Warp's scalars, each for all arguments of any type, or mappings from the names of arguments to scalars.
    """

    def declare(kernel: Any) -> Any:
        for type_ in types:
            wp.overload(kernel, {name: _concrete(each, type_, name) for name, each in kernel.adj.arg_types.items()})
        return kernel

    return declare


def _concrete(declared: Any, type_: Any, name: str) -> Any:
    scalar = type_[name] if isinstance(type_, Mapping) and name in type_ else type_
    if isinstance(declared, wp.array):
        return wp.array(dtype=scalar, ndim=declared.ndim) if declared.dtype is Any else declared
    return scalar if declared is Any else declared


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
