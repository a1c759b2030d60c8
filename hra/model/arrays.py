"""Arrays at the border of the library: anything array-like in, validated read-only NumPy inside."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np

from hra.errors import ArrayError, HraError

# Integers are exact in float64 up to here; totals above it could silently lose a unit of the budget.
EXACT_LIMIT = float(2**53)
# Whole numbers from 0 and from 1 on: as many as an array may have elements.
COUNTS, POSITIVE = range(sys.maxsize), range(1, sys.maxsize)


def to_numpy(values: Any) -> np.ndarray:
    """``values`` as a NumPy array: torch tensors (any device, with or without gradient), DLPack arrays, sequences.

    Conjugate and negated views of torch are carried out, quantized tensors become the numbers that they stand for.
    Bytes are in this machine's order, which compiled loops ask for.

    Raises
    ------
    ArrayError : ragged, object or sparse data, masked elements, a tensor without values.
    """
    if isinstance(values, np.ndarray):
        return _plain(_unmask(values))
    if hasattr(values, "detach") and hasattr(values, "cpu"):  # a torch tensor; torch need not be importable here
        return _from_torch(values)
    if hasattr(values, "tocoo"):  # SciPy's sparse arrays, which NumPy takes for single objects
        raise ArrayError("sparse arrays are not accepted", where=type(values).__name__, fix="pass values.toarray()")
    try:
        array = np.from_dlpack(values) if hasattr(values, "__dlpack__") else np.asarray(values)
    except (ValueError, TypeError, BufferError) as error:
        raise ArrayError(f"cannot read {type(values).__name__} as an array: {error}") from error
    return _plain(array)


def _unmask(array: np.ndarray) -> np.ndarray:
    """A masked array as a plain one; what lies behind a mask may be anything."""
    # `np.ma` is imported when it is asked for, which takes ten milliseconds: no other array has a mask.
    if not (hasattr(array, "mask") and isinstance(array, np.ma.MaskedArray)):
        return array
    masked = np.flatnonzero(np.ma.getmaskarray(array))
    if masked.size:
        what = f"{masked.size} of the {array.size} elements are masked"
        raise ArrayError(what, where=f"element {masked[0]}", fix="pass values.filled(...) or leave them out")
    return array.data


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype == object:
        raise ArrayError(
            "arrays of Python objects are not accepted", where="dtype object", fix="pass numbers of equal length"
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _from_torch(tensor: Any) -> np.ndarray:
    name, kind = type(tensor).__name__, _kind(tensor)
    if kind:
        raise ArrayError(
            f"{kind} tensors are not accepted", where=name, fix="pass a dense tensor, as .to_dense() gives"
        )
    if getattr(tensor, "is_meta", False):
        raise ArrayError("a meta tensor has no values", where=name, fix="pass a tensor on a device")
    try:
        return _dense(tensor.detach().cpu())
    except (RuntimeError, TypeError, NotImplementedError) as error:
        fix = "pass a plain tensor or array"
        raise ArrayError(f"cannot read a tensor of {tensor.dtype}: {error}", where=name, fix=fix) from error


def _kind(tensor: Any) -> str:
    """What keeps a tensor from being a plain one, "" for nothing."""
    if hasattr(tensor, "get_mask"):
        return "masked"
    if getattr(tensor, "is_nested", False):
        return "nested"
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    return "" if layout == "strided" else layout


def _dense(tensor: Any) -> np.ndarray:
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg()
    try:
        return tensor.numpy()
    except TypeError:  # NumPy has no bfloat16 or float8; float32 holds all of their values
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
    """``values`` as a vector with ``low <= value < high``; floats that are whole numbers count as such.

    It is int32, and int64 where ``high`` does not fit.

    Raises
    ------
    ArrayError : not a vector of whole numbers, of another length, or out of range; names the first bad index.
    """
    array = to_numpy(values)
    if array.ndim != 1 or (array.dtype.kind not in "iuf" and array.size):
        raise ArrayError(f"{name} must be a vector of integers, got shape {array.shape} of {array.dtype}", where=name)
    if length is not None and array.size != length:
        raise ArrayError(f"{name} has {array.size} values, expected {length}", where=name)
    bad = np.flatnonzero(array != np.floor(array)) if array.dtype.kind == "f" else np.zeros(0, np.int64)
    if bad.size:
        where = f"{name}[{bad[0]}]"
        raise ArrayError(f"{where} = {array[bad[0]]} is not a whole number", where=where, fix="pass integers")
    bad = np.flatnonzero((array < low) | (array >= high))
    if bad.size:
        where = f"{name}[{bad[0]}]"
        raise ArrayError(f"{where} = {array[bad[0]]} is out of range", where=where, fix=f"use {low} .. {high - 1}")
    return array.astype(np.int32 if high <= 2**31 else np.int64)


def mask(name: str, values: Any, length: int) -> np.ndarray:
    """``values`` as bool [length]; numbers do not count as such, of which ``~`` makes others.

    Raises
    ------
    ArrayError : of another kind or length.
    """
    array = to_numpy(values)
    if array.dtype != np.bool_ or array.shape != (length,):
        raise ArrayError(f"{name} must be bool [{length}], got {array.dtype} {list(array.shape)}", where=name)
    return array


def is_number(value: Any) -> bool:
    """Whether a value is a number of Python or NumPy, and no bool."""
    return type(value) in (float, int) or (
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    )


def whole_number(value: Any) -> int | None:
    """``value`` as an int of Python, None for what is not a whole number.

    Those of NumPy are whole numbers, too, but wrap around in their few bits and lack methods of Python's.
    """
    try:
        return None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        return None


def whole_in(name: str, value: Any, allowed: range = COUNTS, kind: type[HraError] = HraError) -> int:
    """``value`` as one of the ``allowed`` ints; the end of `COUNTS` is named to those alone who pass it.

    Raises
    ------
    HraError : another one, or no whole number; of that ``kind``.
    """
    whole = whole_number(value)
    if whole is None or whole not in allowed:
        endless = allowed.stop == COUNTS.stop and (whole is None or whole < allowed.start)
        choice = f"of {allowed.start} or more" if endless else f"from {allowed.start} to {allowed[-1]}"
        choice += f" in steps of {allowed.step}" if allowed.step > 1 else ""
        size = "a smaller one" if whole is not None and whole < 0 else "a larger one"
        shown = value if whole is None or whole.bit_length() < 64 else size
        raise kind(f"{name} must be an integer {choice}, got {shown!r}", where=name, fix=f"use one {choice}")
    return whole


def number_in(
    name: str, value: Any, low: float, high: float, kind: type[HraError] = HraError, *, ends: bool = True
) -> Any:
    """``value``, a number from ``low`` to ``high``; without ``ends`` between them.

    Raises
    ------
    HraError : another number, NaN, or no number; of that ``kind``.
    """
    if not is_number(value) or not (low <= value <= high) or (not ends and value in (low, high)):
        allowed = f"from {low:g} to {high:g}" if ends else f"above {low:g} and below {high:g}"
        raise kind(f"{name} must be a number {allowed}, got {value!r:.80}", where=name, fix=f"use one {allowed}")
    return value


class ReadOnlyArrays:
    """Base of objects whose arrays are read-only: they stay so in copies made by pickle, which forgets it."""

    def __setstate__(self, state: Any) -> None:
        """Restore ``state`` with its arrays read-only, those in tuples, lists and dicts included."""
        self.__dict__.update(_all_frozen(state))


def _all_frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return frozen(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for part in parts:
        _all_frozen(part)
    return value


def frozen(array: np.ndarray) -> np.ndarray:
    """``array``, made read-only in place."""
    array.flags.writeable = False
    return array


def own(array: np.ndarray) -> np.ndarray:
    """``array`` where it is read-only, else a read-only copy: whoever made it may go on writing to theirs."""
    return frozen(array.copy()) if array.flags.writeable else array


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view of ``array``, for arrays of the caller, who may go on writing to them."""
    return frozen(array.view())


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
