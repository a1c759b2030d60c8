"""Square blocks of a pyramid's levels: the squared errors of levels that stand in for an image, and pixels of blocks.

Errors add up in the quadtree of the blocks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import (
    adopt,
    check_fits,
    check_int32,
    device_of,
    dtype_of,
    give_back,
    give_back_all,
    implementation,
    on_host,
)
from hra.kernels.pyramids.levels.pyramid import Layout, Pyramid

PACKAGE = "hra.kernels.pyramids.blocks"
_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_KINDS = (_FLOAT, np.dtype(np.float16), np.dtype(np.uint8))


def level_errors(pyramid: Pyramid, patch: int, *, backend: str = "auto") -> Any:
    """Squared error of every finest block while one level shows the whole image, for each level.

    A level is brought to full resolution by average interpolation, step by step, and clipped to [0, 1]. A coarser level
    counts at least the error of the finer one, block by block: where it fits better by chance, it gets no credit that
    the finer level would have to pay back.

    Parameters
    ----------
    pyramid : "block_mean" levels of float32 images [..., H, W, C] in [0, 1].
    patch : side of a block in pixels, even.
    backend : "auto", "reference", "numba" or "warp".

    Returns
    -------
    array : float64 [..., L, ceil(H / patch), ceil(W / patch)], summed over real pixels and channels; zeros for level 0.
        Kind and device of the pyramid. Backends agree within 1e-5 of an image's energy. NaN in a pixel makes the errors
        NaN of all blocks that it reaches.

    Raises
    ------
    ArrayError : another reduction or dtype, or an odd patch. BackendUnavailable : as for every kernel.

    References
    ----------
    D. L. Donoho, Smooth wavelet decompositions with blocky coefficient kernels (1993); A. Harten, Multiresolution
    representation of data (SIAM J. Numer. Anal. 33, 1996): the polynomial of degree four with the means of five cells.
    """
    data = adopt(pyramid.data, "pyramid")
    if pyramid.reduce != "block_mean" or dtype_of(data) != _FLOAT:
        what = f"a pyramid of {dtype_of(data)} by {pyramid.reduce!r} is not one of float32 by 'block_mean'"
        raise ArrayError(what, where="argument pyramid", fix="build_pyramid(image, 'block_mean')")
    if patch < 2 or patch % 2:
        raise ArrayError(f"the patch {patch} is not even", where="argument patch")
    layout = pyramid.layout
    grid = (len(layout.sizes), *(-(-extent // patch) for extent in layout.sizes[0]))
    if not layout.size:
        return give_back(_zeros((*layout.batch, *grid), data), pyramid.data)
    found = implementation(PACKAGE, backend, data).level_errors(layout.stacks(data), patch, grid)
    return give_back(found.reshape((*layout.batch, *grid)), pyramid.data)


def node_errors(errors: Any, weight: Any = None, *, backend: str = "auto") -> tuple[Any, Any]:
    """Weighted errors over the region of every node of the quadtree of blocks, by itself and by its parent.

    Nodes are numbered level by level from fine to coarse, row by row.

    Parameters
    ----------
    errors : float64 [..., L, rows, columns] of `level_errors`.
    weight : float64 [..., rows, columns] of the finest blocks, on the same device; by default 1 each.
    backend : as for `level_errors`; all give the same bits.

    Returns
    -------
    own : float64 [..., N], while the node itself shows its region.
    inherited : float64 [..., N], while its parent does; at the coarsest level the same as ``own``.

    Raises
    ------
    ArrayError : another shape, dtype or device. BackendUnavailable : as for every kernel.
    """
    given = adopt(errors, "errors")
    if given.ndim < 3 or dtype_of(given) != _DOUBLE:
        what = f"{dtype_of(given)} of shape {tuple(given.shape)} is not float64 [..., L, rows, columns]"
        raise ArrayError(what, where="argument errors")
    *batch, levels, rows, columns = given.shape
    weights = None if weight is None else adopt(weight, "weight")
    if weights is not None:
        check_fits(weights, "weight", _DOUBLE, (*batch, rows, columns), device_of(given))
    count, offsets = math.prod(batch), block_offsets(levels, rows, columns)
    if not (count and offsets[-1]):
        own, inherited = give_back_all([_zeros((*batch, offsets[-1]), given) for _ in range(2)], errors)
        return own, inherited
    packed: list[Any] = [
        each if isinstance(each, np.ndarray | None) else each.contiguous() for each in (given, weights)
    ]
    flat = None if weights is None else packed[1].reshape((count, rows, columns))
    module = implementation(PACKAGE, backend, given)
    found = module.node_errors(packed[0].reshape((count, levels, rows, columns)), flat, offsets)
    own, inherited = give_back_all([each.reshape((*batch, offsets[-1])) for each in found], errors)
    return own, inherited


def block_offsets(levels: int, rows: int, columns: int) -> list[int]:
    """Where the nodes of each level begin, from fine to coarse, and the number of all."""
    counts = [((rows - 1 >> level) + 1) * ((columns - 1 >> level) + 1) for level in range(levels)]
    return [sum(counts[:level]) for level in range(levels + 1)]


class Along(NamedTuple):
    """Where the pixels of one axis lie between those of a coarser image.

    first, second : int64 [n], the two coarse pixels around each; weight : float32 [n], that of the second.
    """

    first: np.ndarray
    second: np.ndarray
    weight: np.ndarray


def enlarged_squares(
    fine: Any, coarse: Any, along_y: Along, along_x: Along, cell: int, *, backend: str = "auto"
) -> Any:
    """Squared difference of an image and a coarser one that is enlarged bilinearly, summed by tiles and channels.

    Parameters
    ----------
    fine : [H, W, C] float32, float16 or uint8; coarse : [h, w, C] of the same dtype and on the same device.
    along_y, along_x : where the H rows and W columns lie among those of ``coarse``; on the host.
    cell : side of a tile in pixels of ``fine``.
    backend : "auto", "reference", "numba" or "warp".

    Returns
    -------
    array : float64 [ceil(H / cell), ceil(W / cell)], kind and device of ``fine``. Backends agree within 1e-6 of the
        largest; NaN stays NaN.

    Raises
    ------
    ArrayError : images or axes that do not fit. BackendUnavailable : as for every kernel.
    """
    one, two = adopt(fine, "fine"), adopt(coarse, "coarse")
    if one.ndim != 3 or two.ndim != 3 or one.shape[2] != two.shape[2] or dtype_of(one) not in _KINDS:
        what = f"{dtype_of(one)} {list(one.shape)} and {list(two.shape)} are not images with the same channels"
        raise ArrayError(what, where="arguments fine, coarse")
    if dtype_of(one) != dtype_of(two) or device_of(one) != device_of(two):
        raise ArrayError("the images differ in dtype or device", where="arguments fine, coarse")
    for axis, (name, along) in enumerate((("along_y", along_y), ("along_x", along_x))):
        ends = [end for part in along[:2] for end in (part.min(initial=0), part.max(initial=0))]
        if {len(part) for part in along} != {one.shape[axis]} or min(ends) < 0 or max(ends) >= max(two.shape[axis], 1):
            raise ArrayError("the axis does not fit the images", where=f"argument {name}")
    if cell < 1:
        raise ArrayError(f"a tile of {cell} pixels is too small", where="argument cell")
    if not math.prod(one.shape):
        return give_back(_zeros((-(-one.shape[0] // cell), -(-one.shape[1] // cell)), one), fine)
    module = implementation(PACKAGE, backend, one)
    return give_back(module.enlarged_squares(one, two, along_y, along_x, cell), fine)


def take_blocks(pyramid: Pyramid, blocks: Any, patch: int, *, backend: str = "auto") -> Any:
    """The pixels of blocks of ``patch`` x ``patch`` pixels of their levels; outside, the edge is repeated.

    Parameters
    ----------
    pyramid : levels [..., h, w, C] of any dtype.
    blocks : int32 [K] on the same device, b * N + n for the block n of image b: blocks are numbered level by level
        from fine to coarse, row by row, and there are N. On a CUDA device others give nothing (zeros).
    patch : side of a block in pixels of its level.
    backend : "auto", "reference", "numba" or "warp"; all give the same bits.

    Returns
    -------
    array : [K, patch, patch, C], of the dtype, kind and device of the pyramid.

    Raises
    ------
    ArrayError : blocks that are not int32 [K], on another device, or (on the host) that do not exist.
    BackendUnavailable : the backend is missing or cannot read the device.
    """
    data, numbers = adopt(pyramid.data, "pyramid"), adopt(blocks, "blocks")
    check_int32(numbers, "blocks", (None,))
    if device_of(data) != device_of(numbers):
        raise ArrayError(f"blocks on {device_of(numbers)}, the pyramid on {device_of(data)}", where="argument blocks")
    if patch < 1:
        raise ArrayError(f"a block of {patch} pixels is too small", where="argument patch")
    table = level_table(pyramid.layout, patch)
    count = pyramid.layout.images * int(table[-1, 0])
    if on_host(numbers) and numbers.size and not (numbers.min() >= 0 and numbers.max() < count):
        raise ArrayError(f"a block is not in 0 .. {count - 1}", where="argument blocks")
    found = implementation(PACKAGE, backend, data).take_blocks(data, table, numbers, patch, pyramid.layout.channels)
    return give_back(found, pyramid.data)


def level_table(layout: Layout, patch: int) -> np.ndarray:
    """First block, height, width and first element of each level; last the blocks of an image: int32 [L + 1, 4].

    Raises
    ------
    ArrayError : more elements than int32 counts.
    """
    if layout.size > np.iinfo(np.int32).max:
        raise ArrayError(f"all levels have {layout.size:,} elements; blocks are counted to 2**31 - 1")
    rows, columns = (-(-extent // patch) for extent in layout.sizes[0])
    first = block_offsets(len(layout.sizes), rows, columns)
    rows_of = [(*size, begin) for size, begin in zip(layout.sizes, layout.offsets, strict=False)]
    return np.array([(begin, *row) for begin, row in zip(first, [*rows_of, (0, 0, 0)], strict=True)], np.int32)


def _zeros(shape: tuple[int, ...], like: Any) -> Any:
    if on_host(like):
        return np.zeros(shape)
    from hra.kernels.warp_arrays import wp, zeros

    return zeros(shape, wp.float64, like.device)
