"""Arrays at the border of the library: anything array-like in, validated read-only NumPy inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError

# Integers are exact in float64 up to here; totals above it could silently lose a unit of the budget.
EXACT_LIMIT = float(2**53)


def to_numpy(values: Any) -> np.ndarray:
    """``values`` as a NumPy array: torch tensors (any device, with or without gradient), DLPack arrays, sequences.

    Raises
    ------
    ArrayError : ragged or object data.
    """
    if isinstance(values, np.ndarray):
        return _plain(values)
    if hasattr(values, "detach"):  # a torch tensor; torch itself need not be importable here
        return _from_torch(values.detach().cpu())
    try:
        array = np.from_dlpack(values) if hasattr(values, "__dlpack__") else np.asarray(values)
    except (ValueError, TypeError, BufferError) as error:
        raise ArrayError(f"cannot read {type(values).__name__} as an array: {error}") from error
    return _plain(array)


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype == object:
        raise ArrayError("arrays of Python objects are not accepted", fix="pass numbers of equal length")
    return array


def _from_torch(tensor: Any) -> np.ndarray:
    try:
        return tensor.numpy()
    except TypeError:  # NumPy has no bfloat16; float32 holds all of its values
        return tensor.float().numpy()


def numbers(name: str, values: Any, length: int | None = None) -> np.ndarray:
    """``values`` as a finite float64 vector.

    Raises
    ------
    ArrayError : not one-dimensional, not numeric, of another length, or not finite; names the first bad index.
    """
    array = to_numpy(values)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ArrayError(f"{name} must be a vector of numbers, got shape {array.shape} of {array.dtype}", where=name)
    if length is not None and array.size != length:
        raise ArrayError(f"{name} has {array.size} values, expected {length}", where=name)
    vector = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ArrayError(f"{name} is {vector[bad[0]]}", where=f"{name}[{bad[0]}]", fix="pass finite numbers")
    return vector


def indices(name: str, values: Any, low: int, high: int, length: int | None = None) -> np.ndarray:
    """``values`` as an int32 vector with ``low <= value < high``.

    Raises
    ------
    ArrayError : not a vector of integers, of another length, or out of range; names the first bad index.
    """
    array = to_numpy(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ArrayError(f"{name} must be a vector of integers, got shape {array.shape} of {array.dtype}", where=name)
    if length is not None and array.size != length:
        raise ArrayError(f"{name} has {array.size} values, expected {length}", where=name)
    bad = np.flatnonzero((array < low) | (array >= high))
    if bad.size:
        where = f"{name}[{bad[0]}]"
        raise ArrayError(f"{where} = {array[bad[0]]} is out of range", where=where, fix=f"use {low} .. {high - 1}")
    return array.astype(np.int32)


def frozen(array: np.ndarray) -> np.ndarray:
    """``array``, made read-only in place."""
    array.flags.writeable = False
    return array


def offsets_of(counts: np.ndarray) -> np.ndarray:
    """Offsets [n + 1] of consecutive runs with these ``counts`` [n], int32."""
    offsets = np.zeros(counts.size + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def group(keys: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of each key 0 .. size-1 as offsets [size + 1] and indices, stable; negative keys are left out."""
    order = np.argsort(keys, kind="stable").astype(np.int32)
    order = order[np.count_nonzero(keys < 0) :]
    return offsets_of(np.bincount(keys[order], minlength=size)), order
