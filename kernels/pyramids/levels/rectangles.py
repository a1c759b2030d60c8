"""Conservative extrema over many rectangles: what culls triangles behind depth and prunes tokens of low relevance."""

from __future__ import annotations

from typing import Any

from hra.errors import ArrayError
from hra.kernels.backends import adopt, check_int32, choose_backend, dtype_of, give_back, on_host
from hra.kernels.pyramids.levels.pyramid import Pyramid
from hra.kernels.pyramids.levels.reductions import Reduce


def rect_max(
    pyramid: Pyramid, rects: Any, batch_index: Any | None = None, backend: str = "auto", *, against: Any | None = None
) -> Any:
    """An upper bound of the image within each rectangle, from at most 2 x 2 pixels of a max pyramid.

    It reads the finest level where the rectangle spans at most two pixels per axis, hence is exact for rectangles of up
    to 2 x 2 pixels and those that fill such blocks, and never below the true maximum elsewhere. NaN within reach gives
    NaN, which no ``depth > bound`` test calls hidden. A depth test needs one depth quantum of slack on top.

    Parameters
    ----------
    pyramid : complete "max" pyramid with one channel, [..., H, W, 1].
    rects : [K, 4] int32, inclusive pixel coordinates x0, y0, x1, y1 of level 0; clipped to the image.
    batch_index : [K] int32, the image that each rectangle refers to (row-major over the leading axes); may be omitted
        for a single image.
    backend : as in :func:`build_pyramid`.
    against : [K], of the pyramid's dtype: what the result is compared with. Where the bound is not below it, up to
        16 x 16 pixels are read, up to three levels finer, and only as far as it takes to decide. The result is then
        ``against`` itself where some pixel may reach it, and that of an empty rectangle where none does: so every
        comparison has one answer on every backend.

    Returns
    -------
    array : [K], kind, device and dtype of the pyramid; -inf (0 for uint8) where a rectangle is empty or outside.

    Raises
    ------
    ArrayError : wrong pyramid, shape or dtype, or (on the host) a batch index out of range; on a CUDA device such a
        rectangle counts as empty, since looking would stall the device.
    BackendUnavailable : the backend is missing or cannot read the device.
    """
    return _rect_reduce(pyramid, rects, batch_index, backend, "max", against)


def rect_min(
    pyramid: Pyramid, rects: Any, batch_index: Any | None = None, backend: str = "auto", *, against: Any | None = None
) -> Any:
    """A lower bound of the image within each rectangle, from a "min" pyramid (reversed depth).

    Otherwise as :func:`rect_max`. An empty rectangle gives inf (255 for uint8).
    """
    return _rect_reduce(pyramid, rects, batch_index, backend, "min", against)


def _rect_reduce(
    pyramid: Pyramid, rects: Any, batch_index: Any | None, backend: str, reduce: Reduce, against: Any | None
) -> Any:
    data = adopt_pyramid(pyramid, reduce)
    corners = _adopt_beside(data, rects, "rects", (None, 4))
    index = None if batch_index is None else _adopt_beside(data, batch_index, "batch_index", (corners.shape[0],))
    check_batch(pyramid, index)
    chosen = choose_backend(backend, data)
    # Backends of other packages may lack the last argument.
    options = {} if against is None else {"against": _adopt_compared(data, against, corners.shape[0])}
    return give_back(chosen.rect_reduce(data, pyramid.layout, corners, index, reduce, **options), pyramid.data)


def adopt_pyramid(pyramid: Pyramid, reduce: Reduce) -> Any:
    """The buffer of a complete pyramid of one channel; raises :class:`ArrayError` if it is another."""
    where, fix = "argument pyramid", f"build_pyramid(image[..., None], reduce={reduce!r})"
    if not isinstance(pyramid, Pyramid):
        raise ArrayError(f"{type(pyramid).__name__} is not a Pyramid", where=where, fix=fix)
    if pyramid.reduce != reduce:
        raise ArrayError(f"a {reduce!r} pyramid is needed, not {pyramid.reduce!r}", where=where, fix=fix)
    if pyramid.layout.channels != 1:
        raise ArrayError(f"one channel is needed, not {pyramid.layout.channels}", where=where, fix=fix)
    if not pyramid.layout.complete:
        raise ArrayError("the pyramid must go down to one pixel", where=where, fix="build it with levels=None")
    data = adopt(pyramid.data, "pyramid")
    if data.size != pyramid.layout.size:
        raise ArrayError("the buffer does not fit the layout", where=where)
    return data


def _adopt_beside(data: Any, array: Any, name: str, shape: tuple[int | None, ...]) -> Any:
    adopted = adopt(array, name)
    check_int32(adopted, name, shape)
    check_device(data, adopted, name)
    return adopted


def _adopt_compared(data: Any, against: Any, count: int) -> Any:
    adopted = adopt(against, "against")
    if tuple(adopted.shape) != (count,) or dtype_of(adopted) != dtype_of(data):
        what = f"{dtype_of(adopted)} {tuple(adopted.shape)} is not {dtype_of(data)} [{count}]"
        raise ArrayError(what, where="argument against")
    check_device(data, adopted, "against")
    return adopted


def check_device(data: Any, array: Any, name: str) -> None:
    """Raise :class:`ArrayError` unless an adopted array lies where the pyramid's buffer lies."""
    if getattr(array, "device", "cpu") != getattr(data, "device", "cpu"):
        raise ArrayError(f"the pyramid and {name} lie on different devices", where=f"argument {name}")


def check_batch(pyramid: Pyramid, index: Any | None) -> None:
    """Raise :class:`ArrayError` unless every index is one of the pyramid's images; None is right for a single one."""
    images = pyramid.layout.images
    if index is None:
        if images != 1:
            fix = "pass the image of each rectangle, [K] int32"
            raise ArrayError(f"the pyramid has {images} images", where="argument batch_index", fix=fix)
    elif on_host(index) and index.size and not (index.min() >= 0 and index.max() < images):
        raise ArrayError(f"an index is not in 0..{images - 1}", where="argument batch_index")
