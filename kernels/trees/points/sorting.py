"""Sorting keys together with where they came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.arrays import adopt, dtype_of, give_back
from hra.kernels.backends import implementation
from hra.kernels.trees.points.morton import PACKAGE

_KEYS = (np.dtype(np.uint32), np.dtype(np.uint64))


def sort_keys(keys: Any, *, backend: str = "auto") -> tuple[Any, Any]:
    """Sort unsigned integers, stably: equal keys keep the order in which they came.

    Parameters
    ----------
    keys : [N] uint32 or uint64; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device.
    backend : "reference" is `numpy.argsort`, "numba" a radix sort by bytes, "warp" that of `warp.utils`.

    Returns
    -------
    sorted : [N], dtype, kind and device of ``keys``.
    order : int32 [N], ``sorted == keys[order]``.

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.

    Notes
    -----
    A million 63-bit Morton codes of random points on one CPU core: numba 31 ms, warp 65, reference 97.
    """
    adopted = adopt(keys, "keys")
    if adopted.ndim != 1 or dtype_of(adopted) not in _KEYS:
        what = f"{dtype_of(adopted)} of shape {tuple(adopted.shape)} is not uint32 or uint64 [N]"
        raise ArrayError(what, where="argument keys")
    ordered, order = implementation(PACKAGE, backend, adopted).sort_keys(adopted)
    return give_back(ordered, keys), give_back(order, keys)
