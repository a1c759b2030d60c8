"""The pixels of blocks of a pyramid, wherever in its levels they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.arrays import adopt, check_int32, device_of, give_back, on_host
from hra.kernels.backends import implementation
from hra.kernels.pyramids.blocks.errors import PACKAGE, block_offsets
from hra.kernels.pyramids.levels.pyramid import Layout, Pyramid


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
