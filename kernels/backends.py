"""What every kernel begins and ends with: any array in, a backend by its name, and the same kind of array out.

Inside, an array is a ``numpy.ndarray`` on the host and a ``warp.array`` on a CUDA device; torch, CuPy or JAX are never
imported here, only asked for ``from_dlpack`` when one of their arrays came in.

Every package of kernels holds a module per backend: ``reference``, ``numba_backend`` and ``warp_backend``. Those of
`hra.kernels.pyramids.levels` are *the* backends: whether one can be used at all is found out by importing it, and only
pyramids have one for OpenGL or of another package (entry point group ``hra.backends``).

"auto" is numba on the host, which beats Warp's CPU code by far, and warp on a CUDA device; docs/kernels.md has times.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from hra import plugins
from hra.errors import ArrayError, BackendUnavailable, HraError, MissingExtra

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_DLPACK_HOST = (1, 3)  # CPU memory, page-locked CPU memory
_DLPACK_CUDA = 2
_IMAGE_DTYPES = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.uint8))
_ALL = ("numba", "warp", "reference")
_HOST_ONLY = ("numba", "reference", "gl")

BUILT_IN = {
    "reference": "hra.kernels.pyramids.levels.reference",
    "numba": "hra.kernels.pyramids.levels.numba_backend",
    "warp": "hra.kernels.pyramids.levels.warp_backend",
    "gl": "hra.kernels.pyramids.levels.gl_backend",
}


def adopt(array: Any, name: str) -> Any:
    """View ``array`` without a copy as ``numpy.ndarray`` (host) or ``warp.array`` (CUDA).

    Raises :class:`ArrayError` if it is not an array or cannot be shared, :class:`BackendUnavailable` if it lies on a
    CUDA device and Warp is missing.
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


def give_back_all(results: Iterable[Any], template: Any) -> tuple[Any, ...]:
    """`give_back` of each."""
    return tuple(give_back(result, template) for result in results)


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


def check_floats(array: Any, name: str, convert: str = "float32") -> None:
    """Raise :class:`ArrayError` unless the adopted array is float32 or float64."""
    if dtype_of(array) not in FLOATS:
        fix = f"convert it with astype(numpy.{convert})"
        raise ArrayError(f"dtype {dtype_of(array)} is not float32 or float64", where=f"argument {name}", fix=fix)


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


def load_backend(name: str) -> Any:
    """The backend called ``name``, imported on first use; raises :class:`BackendUnavailable` with the reason."""
    where, fix = "argument backend", "use backend='auto'"
    try:
        if name in BUILT_IN:
            return import_module(BUILT_IN[name])
        if name in (registered := plugins.available("hra.backends")):
            return plugins.load("hra.backends", name)
    except BackendUnavailable:
        raise
    except HraError as error:
        what = f"no backend is loaded: {error.what} ({error.where})"
        raise BackendUnavailable(what, where=where, fix=f"{fix}, or {error.fix}") from error
    except (Exception, SystemExit) as error:  # a broken driver or library may raise anything at import
        reason = f"the backend {name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise BackendUnavailable(reason, where=where, fix=fix) from error
    known = ", ".join(["auto", *BUILT_IN, *registered])
    raise BackendUnavailable(f"the backend {name!r} is unknown", where=where, fix=f"one of {known}")


def refuse_taken(name: str) -> None:
    """Raise :class:`BackendUnavailable` if a package registers a backend under a name of ours: whose is meant?"""
    taken = _taken()
    if taken and name in taken:
        what = f"{taken[name]} registers a backend {name!r}, which is a name of hra's own"
        raise BackendUnavailable(what, where="argument backend", fix="rename that backend, or use backend='auto'")


@cache
def _taken() -> dict[str, str]:
    """Names of ours under which packages register backends, and from where; found once, as calls are many."""
    found = plugins.available("hra.backends")
    return {name: found[name].value for name in ("auto", *BUILT_IN) if name in found}


def choose_backend(name: str, array: Any) -> Any:
    """The backend called ``name``; "auto" is the fastest one that loads for the device of the adopted ``array``.

    Raises
    ------
    BackendUnavailable : the backend is missing, fails at import, is one of ours that cannot read the device, or has a
        name of ours that a package registers, too.
    """
    name = backend_name(name, array)
    backend = load_backend(name)
    if name in _HOST_ONLY and not isinstance(array, np.ndarray):
        require_host(array, name)
    return backend


def backend_name(name: str, array: Any, fastest: str = "numba") -> str:
    """The name itself, or for "auto": warp on a CUDA device, and on the host the ``fastest`` or else the reference."""
    if name != "auto":
        refuse_taken(name)
        return name
    if not isinstance(array, np.ndarray):
        return "warp"
    try:
        load_backend(fastest)
    except BackendUnavailable:
        return "reference"
    return fastest


def implementation(package: str, backend: str, array: Any, offered: tuple[str, ...] = _ALL) -> Any:
    """The module of ``package`` for a backend: ``reference``, ``numba_backend`` or ``warp_backend``.

    Parameters
    ----------
    package : import name.
    backend : "auto" or a name.
    array : adopted; decides the device.
    offered : the backends that the package has, first the fastest on the host.

    Raises
    ------
    BackendUnavailable : the backend is missing, fails at import, cannot read the device, or is not offered (OpenGL and
        those of other packages implement pyramids only), or a package registers its name, too.
    """
    name = backend_name(backend, array, offered[0])
    load_backend(name)
    if name not in offered:
        what = f"the backend {name!r} does not implement {package}"
        raise BackendUnavailable(what, where="argument backend", fix=f"one of auto, {', '.join(offered)}")
    if name != "warp":
        require_host(array, name)
    return import_module(f"{package}.{BUILT_IN[name].rpartition('.')[2]}")
