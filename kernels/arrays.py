"""Any array in, the same kind of array out: NumPy directly, everything else through DLPack.

Inside, an array is a ``numpy.ndarray`` on the host and a ``warp.array`` on a CUDA device; torch, CuPy or JAX are never
imported here, only asked for ``from_dlpack`` when one of their arrays came in.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from hra.errors import ArrayError, BackendUnavailable, MissingExtra

_DLPACK_HOST = (1, 3)  # CPU memory, page-locked CPU memory
_DLPACK_CUDA = 2
_IMAGE_DTYPES = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.uint8))


def adopt(array: Any, name: str) -> Any:
    """View ``array`` without a copy as ``numpy.ndarray`` (host) or ``warp.array`` (CUDA).

    Raises :class:`ArrayError` if it is no array or cannot be shared, :class:`BackendUnavailable` if it lies on a CUDA
    device and Warp is missing.
    """
    if isinstance(array, np.ndarray):
        return array
    if not hasattr(array, "__dlpack_device__"):
        raise ArrayError(
            f"{type(array).__name__} is not an array", where=f"argument {name}", fix="pass numpy.asarray(...)"
        )
    kind = array.__dlpack_device__()[0]
    if kind not in (*_DLPACK_HOST, _DLPACK_CUDA):
        what = f"DLPack device type {kind} is not supported"
        raise ArrayError(what, where=f"argument {name}", fix="copy it to the CPU")
    try:
        return load_warp().from_dlpack(array) if kind == _DLPACK_CUDA else np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError) as error:
        fix = "detach it from the gradient and use a plain dtype"
        raise ArrayError(f"the array cannot be shared: {error}", where=f"argument {name}", fix=fix) from error


def writable(array: Any, name: str) -> Any:
    """`adopt` for memory to write to: NumPy takes what Warp shares of the host's memory by DLPack for read-only."""
    adopted = adopt(array, name)
    if on_host(adopted) and not adopted.flags.writeable and hasattr(array, "__array_interface__"):
        return np.asarray(array)
    return adopted


def give_back(result: Any, template: Any) -> Any:
    """Return ``result`` (as backends make it) as the kind of array that ``template`` is, without a copy."""
    if isinstance(template, type(result)):
        return result
    if hasattr(template, "__array_namespace__"):
        return template.__array_namespace__().from_dlpack(result)
    return sys.modules[type(template).__module__.partition(".")[0]].from_dlpack(result)


def on_host(array: Any) -> bool:
    """Whether an adopted array lies in CPU memory."""
    return isinstance(array, np.ndarray)


def device_of(array: Any) -> str:
    """The name of the device of an adopted array, "cpu" for the host."""
    return "cpu" if on_host(array) else str(array.device)


def require_host(array: Any, backend: str) -> np.ndarray:
    """The array itself if it lies on the host, else :class:`BackendUnavailable`."""
    if isinstance(array, np.ndarray):
        return array
    what = f"the backend {backend!r} cannot read arrays on {array.device}"
    raise BackendUnavailable(what, where="argument backend", fix="use 'auto' or 'warp'")


def dtype_of(array: Any) -> np.dtype:
    """The NumPy dtype of an adopted array."""
    return array.dtype if on_host(array) else np.dtype(load_warp().dtype_to_numpy(array.dtype))


def check_image(image: Any) -> None:
    """Raise :class:`ArrayError` unless the adopted array is an image [..., H, W, C] of float32, float16 or uint8."""
    if image.ndim < 3:
        fix = "the last three axes are height, width, channels: add an axis with image[..., None]"
        raise ArrayError(f"an image has at least 3 axes, not {image.ndim}", where="argument image", fix=fix)
    if dtype_of(image) not in _IMAGE_DTYPES:
        fix = "convert it with astype(numpy.float32)"
        raise ArrayError(f"dtype {dtype_of(image)} is not float32, float16 or uint8", where="argument image", fix=fix)


def check_int32(array: Any, name: str, shape: tuple[int | None, ...]) -> None:
    """Raise :class:`ArrayError` unless the adopted array is int32 and has ``shape``, None being any length."""
    fits = len(shape) == array.ndim and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if not fits:
        expected = ", ".join("K" if length is None else str(length) for length in shape)
        raise ArrayError(f"shape {tuple(array.shape)} is not [{expected}]", where=f"argument {name}")
    if dtype_of(array) != np.int32:
        fix = "convert it with astype(numpy.int32)"
        raise ArrayError(f"dtype {dtype_of(array)} is not int32", where=f"argument {name}", fix=fix)


def check_fits(array: Any, name: str, dtype: Any, shape: tuple[int, ...], device: str) -> None:
    """Raise unless an adopted array has this dtype and shape and lies on ``device``.

    Raises
    ------
    ArrayError : it does not.
    """
    if tuple(array.shape) != shape or dtype_of(array) != dtype or device_of(array) != device:
        what = f"{dtype_of(array)} {list(array.shape)} on {device_of(array)} does not fit"
        raise ArrayError(what, where=f"argument {name}", fix=f"{np.dtype(dtype)} {list(shape)} on {device}")


def fetch(array: Any) -> np.ndarray:
    """The values of an adopted array on the host, once the device's current stream has them; other streams go on.

    ``wp.array.numpy`` copies on CUDA's default stream instead, which waits for all streams of the device.
    """
    if on_host(array):
        return array
    if array.device.is_cpu or not array.size:
        return array.numpy()
    wp = load_warp()
    found = wp.empty(array.shape, dtype=array.dtype, device="cpu")
    wp.copy(found, array, stream=array.device.stream)
    wp.synchronize_stream(array.device.stream)
    return found.numpy()


def load_warp() -> Any:
    """The module ``warp``, imported on first use and told to print nothing unless the user chose a log level.

    Raises :class:`BackendUnavailable` with the install command if it is missing, with the reason if it is broken.
    """
    try:
        import warp

        if warp.config.log_level == warp.LOG_INFO:
            warp.config.log_level = warp.LOG_ERROR
    except Exception as error:  # a broken driver or library may raise anything at import
        missing = MissingExtra.of("warp-lang", "gpu")
        what = missing.what if isinstance(error, ModuleNotFoundError) else f"Warp is broken: {error}"
        raise BackendUnavailable(what, where=missing.where, fix=missing.fix) from error
    return warp
