"""Checks of what goes to the GPU, where a wrong index reads anything or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError, CameraError
from hra.kernels.backends import adopt, require_host
from hra.kernels.raster.context import Context


def float_rows(name: str, values: Any, columns: int) -> np.ndarray:
    """``values`` as finite float32 [N, columns], or :class:`ArrayError`."""
    array = _host(name, values)
    if array.ndim != 2 or array.shape[1] != columns or array.dtype.kind not in "fiu":
        raise ArrayError(f"{array.dtype} {list(array.shape)} is not float [N, {columns}]", where=f"argument {name}")
    array = np.ascontiguousarray(array, np.float32)
    if not np.isfinite(array).all():
        row = int(np.nonzero(~np.isfinite(array).all(axis=1))[0][0])
        raise ArrayError("a number is not finite", where=f"{name}[{row}]")
    return array


def index_rows(name: str, values: Any, columns: int | None, end: int) -> np.ndarray:
    """``values`` as uint32 [N, columns] (None: [N]) with all of them in 0 .. end - 1, or :class:`ArrayError`."""
    array = _host(name, values)
    if array.shape[1:] != (() if columns is None else (columns,)) or not array.ndim or array.dtype.kind not in "iu":
        expected = "[N]" if columns is None else f"[N, {columns}]"
        raise ArrayError(f"{array.dtype} {list(array.shape)} is not whole numbers {expected}", where=f"argument {name}")
    if array.size and not (array.min() >= 0 and array.max() < end):
        row = int(np.argmax((array < 0) | (array >= end)) // (columns or 1))
        raise ArrayError(f"{array[row].tolist()} is not in 0..{end - 1}", where=f"{name}[{row}]")
    return np.ascontiguousarray(array, np.uint32)


def matrices(name: str, values: Any) -> np.ndarray:
    """``values`` as finite float64 [4, 4] or [N, 4, 4], or :class:`CameraError`."""
    array = _host(name, values)
    if array.ndim not in (2, 3) or array.shape[-2:] != (4, 4) or array.dtype.kind not in "fiu":
        what = f"{array.dtype} {list(array.shape)} is not a matrix [4, 4]"
        raise CameraError(what, where=f"argument {name}", fix="column vectors: projection @ view, as in hra.Camera")
    if not np.isfinite(array).all():
        raise CameraError("a matrix is not finite", where=f"argument {name}")
    return array.astype(np.float64)


def image_size(context: Context, size: Any) -> tuple[int, int]:
    """``size`` as (width, height) that this driver can draw to, or :class:`CameraError`."""
    limit = min(context.limit("GL_MAX_TEXTURE_SIZE"), *context.viewport_limit)
    numbers = np.asarray(size)
    if numbers.shape != (2,) or numbers.dtype.kind not in "iu" or not (1 <= numbers.min() <= numbers.max() <= limit):
        fix = f"two whole numbers, width and height, in 1..{limit}"
        raise CameraError(f"{size!r} is not a size of an image", where="argument size", fix=fix)
    return int(numbers[0]), int(numbers[1])


def mask(name: str, values: Any, length: int) -> np.ndarray:
    """``values`` as bool [length], or :class:`ArrayError`."""
    array = _host(name, values)
    if array.dtype != np.bool_ or array.shape != (length,):
        raise ArrayError(f"{array.dtype} {list(array.shape)} is not bool [{length}]", where=f"argument {name}")
    return array


def _host(name: str, values: Any) -> np.ndarray:
    return require_host(adopt(np.asarray(values) if isinstance(values, list | tuple) else values, name), "gl")
