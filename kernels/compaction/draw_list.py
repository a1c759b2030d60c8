"""What to draw: the cut at an error threshold, node by node, and the list of its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import FLOATS, adopt, check_int32, dtype_of, give_back, implementation, on_host

PACKAGE = "hra.kernels.compaction"
_OFFERED = ("numba", "warp", "reference", "gl")


def threshold_cut(parent: Any, error: Any, tolerance: Any, *, backend: str = "auto") -> Any:
    """Which nodes to draw: those with ``error <= tolerance`` whose parent has a larger error than that.

    No node looks further than at its parent, so all are tested at once. Where errors never fall from child to parent,
    the nodes drawn are the coarsest that are good enough, and none is above another. A leaf that is not good enough
    leaves a hole: give what cannot be refined the error 0.

    Parameters
    ----------
    parent : int32 [N], -1 for a root, which is drawn as though its parent were too coarse; on the device of ``error``.
        Its range is checked on the host only.
    error : [B, N] float32 or float64, >= 0, in the unit of ``tolerance``; NumPy, torch, Warp or any array with DLPack,
        on the host or a CUDA device.
    tolerance : [B], dtype and device of ``error``.
    backend : "auto", "reference", "numba", "warp" or "gl".

    Returns
    -------
    array : bool [B, N], kind and device of ``error``.

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.

    References
    ----------
    Karis et al., Nanite, SIGGRAPH 2021 (Advances in Real-Time Rendering): the test of one cluster without its siblings.
    """
    above, errors, limits = adopt(parent, "parent"), adopt(error, "error"), adopt(tolerance, "tolerance")
    if errors.ndim != 2 or dtype_of(errors) not in FLOATS:
        what = f"{dtype_of(errors)} of shape {tuple(errors.shape)} is not float32 or float64 [B, N]"
        raise ArrayError(what, where="argument error", fix="add an axis with error[None]")
    check_int32(above, "parent", (None,))
    if above.shape[0] != errors.shape[1]:
        raise ArrayError(f"{above.shape[0]} parents for {errors.shape[1]} nodes", where="argument parent")
    if on_host(above) and above.size and not (above.min() >= -1 and above.max() < above.size):
        raise ArrayError(f"a parent is not in -1 .. {above.size - 1}", where="argument parent")
    if tuple(limits.shape) != (errors.shape[0],) or dtype_of(limits) != dtype_of(errors):
        what = f"{dtype_of(limits)} of shape {tuple(limits.shape)} is not {dtype_of(errors)} [{errors.shape[0]}]"
        raise ArrayError(what, where="argument tolerance", fix="pass one value per row of error")
    chosen = implementation(PACKAGE, backend, errors, _OFFERED)
    return give_back(chosen.threshold_cut(above, errors, limits), error)


def compact(flags: Any, *, backend: str = "auto") -> Any:
    """The indices of true flags in rising order (stream compaction).

    Parameters
    ----------
    flags : bool [N], fewer than 2**31; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device, from
        where only the number of true flags is copied to the host.
    backend : "auto", "reference", "numba", "warp" or "gl".

    Returns
    -------
    array : int32 [K], kind and device of ``flags``.

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.

    References
    ----------
    Blelloch, Prefix Sums and Their Applications, CMU 1990: each flag's place is the number of those before it.
    """
    adopted = adopt(flags, "flags")
    if adopted.ndim != 1 or dtype_of(adopted) != np.bool_:
        what = f"{dtype_of(adopted)} of shape {tuple(adopted.shape)} is not bool [N]"
        raise ArrayError(what, where="argument flags", fix="compact one row of a batch at a time")
    return give_back(implementation(PACKAGE, backend, adopted, _OFFERED).compact(adopted), flags)
