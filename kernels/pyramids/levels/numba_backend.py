"""The Numba backend: loops over blocks of rows, the fastest on a CPU. Large images take a thread per core.

Each reduction and dtype reduces a block of rows directly, or by way of float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from hra.kernels import row_blocks
from hra.kernels.pyramids.levels import numba_rectangles, numba_rows
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reductions import (
    BINS_PER_STEP,
    Reduce,
    byte_tables,
    colors,
    identity,
    to_linear,
    to_srgb,
)
from hra.kernels.pyramids.levels.reference import FINER
from hra.kernels.row_blocks import Block, for_each, ranges, split

# Levels that are made of a block while it is in the cache.
_AT_ONCE = 4
Tables = tuple[np.ndarray, np.ndarray, np.ndarray]
# What shows that Numba and its compiler work here; compiling all reductions would make `hra doctor` wait for seconds.
SELF_TEST: tuple[Reduce, ...] = ("max",)
# (source, origin, target, first, height), see numba_rows.
BlockReduction = Callable[[np.ndarray, int, np.ndarray, int, int], None]


class Codec(Protocol):
    """A conversion of rows [K, rows, W * C] to float32, in which they are averaged, and back."""

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """The float32 values of what is stored."""
        ...

    def encode(self, values: np.ndarray, stored: np.ndarray) -> None:
        """Write ``values`` to ``stored``, rounded to nearest."""
        ...


@dataclass(frozen=True)
class HalfCodec:
    """float16, of which Numba has none on the CPU."""

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """See :class:`Codec`."""
        values = np.empty(stored.shape, np.float32)
        numba_rows.decode_halves(stored.view(np.uint16), values, values.view(np.uint32))
        return values

    def encode(self, values: np.ndarray, stored: np.ndarray) -> None:
        """See :class:`Codec`."""
        numba_rows.encode_halves(values, values.view(np.uint32), stored.view(np.uint16))


@dataclass(frozen=True)
class SrgbCodec:
    """Floats in sRGB."""

    channels: int

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """See :class:`Codec`."""
        values = stored.astype(np.float32)
        light = self._colors(values)
        light[...] = to_linear(light)
        return values

    def encode(self, values: np.ndarray, stored: np.ndarray) -> None:
        """See :class:`Codec`."""
        light = self._colors(values)
        light[...] = to_srgb(light)
        stored[...] = values

    def _colors(self, values: np.ndarray) -> np.ndarray:
        return values.reshape(-1, self.channels)[:, : colors(self.channels)]


@dataclass(frozen=True)
class SrgbByteCodec:
    """Bytes in sRGB, by tables."""

    channels: int
    linear: np.ndarray
    thresholds: np.ndarray
    first: np.ndarray

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """See :class:`Codec`."""
        values = np.empty(stored.shape, np.float32)
        numba_rows.decode(self._pixels(stored), self._pixels(values), colors(self.channels), self.linear)
        return values

    def encode(self, values: np.ndarray, stored: np.ndarray) -> None:
        """See :class:`Codec`."""
        pixels = self._pixels(values), self._pixels(stored)
        numba_rows.encode(*pixels, colors(self.channels), self.thresholds, self.first, BINS_PER_STEP)

    def _pixels(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(-1, self.channels)


def block_reduction(reduce: Reduce, dtype: np.dtype, channels: int) -> BlockReduction:
    """The function that reduces blocks of images of ``dtype`` with ``channels`` channels."""
    if reduce in ("max", "min"):
        direct = partial(numba_rows.extremum_rows, channels=channels, smallest=reduce == "min")
        return partial(_by_way_of_floats, direct, HalfCodec()) if dtype == np.float16 else direct
    codec, options = _mean_codec(reduce, dtype, channels), {"channels": channels, "blocks": reduce == "block_mean"}
    if codec is None:
        return partial(numba_rows.byte_mean_rows if dtype == np.uint8 else numba_rows.mean_rows, **options)
    return partial(_by_way_of_floats, partial(numba_rows.mean_rows, **options), codec)


def _mean_codec(reduce: Reduce, dtype: np.dtype, channels: int) -> Codec | None:
    if reduce == "srgb_mean":
        return SrgbByteCodec(channels, *byte_tables()) if dtype == np.uint8 else SrgbCodec(channels)
    return HalfCodec() if dtype == np.float16 else None


def _by_way_of_floats(
    write: BlockReduction, codec: Codec, source: np.ndarray, origin: int, target: np.ndarray, first: int, height: int
) -> None:
    # Block by block: what is decoded is still in the cache when it is reduced.
    values = np.empty(target.shape, np.float32)
    write(codec.decode(source), origin, values, first, height)
    codec.encode(values, target)


def build_pyramid(image: Any, layout: Layout, reduce: Reduce, data: Any | None = None) -> np.ndarray:
    """See `reference.build_pyramid`."""
    if len(layout.sizes) == 1:
        return layout.place(image, data)
    memory = np.empty(layout.size, image.dtype) if data is None else data
    levels, there = layout.stacks(memory), data is not None and layout.holds(data, image)
    write = block_reduction(reduce, image.dtype, layout.channels)
    at_once = _independent_levels(layout, levels[0])
    _reduce_levels(levels[: at_once + 1], write, None if there else image.reshape(levels[0].shape))
    for pair in pairwise(levels[at_once:]):
        _reduce_levels(list(pair), write)
    return memory


def _independent_levels(layout: Layout, finest: np.ndarray) -> int:
    """How many levels a block of rows can be reduced by, one after the other, without rows of other blocks."""
    if finest.size <= row_blocks.BLOCK_BYTES:
        return 1
    heights = [height for height, _ in layout.sizes[: _AT_ONCE + 1]]
    even = next((level for level, height in enumerate(heights) if height % 2), len(heights) - 1)
    return max(even, 1)


def rect_reduce(
    data: Any, layout: Layout, rects: Any, batch_index: Any | None, reduce: Reduce, against: Any | None = None
) -> np.ndarray:
    """See `reference.rect_reduce`."""
    if data.dtype == np.float16:  # Numba has none on the CPU; extrema survive the conversion
        return _in_single_precision(data, layout, rects, batch_index, reduce, against)
    image: Any = np.zeros(len(rects), np.int32) if batch_index is None else batch_index
    tables = look_up_tables(layout)
    if against is not None and layout.size:
        return _compare(data, layout, tables, rects, image, reduce, against)
    result = np.full(len(rects), identity(reduce, data.dtype), data.dtype)

    def work(part: slice) -> None:
        numba_rectangles.rect_extremum(data, *tables, rects[part], image[part], reduce == "min", result[part])

    for_each(ranges(len(rects)), rects.nbytes, work)
    return result


def _compare(
    data: np.ndarray, layout: Layout, tables: Tables, rects: Any, image: Any, reduce: Reduce, against: Any
) -> np.ndarray:
    """``against`` where a pixel of its image reaches it, else the identity."""
    result = np.empty(len(rects), data.dtype)
    height, width = layout.sizes[0]

    def work(part: slice) -> None:
        windows, found = np.empty((part.stop - part.start, 4), np.int32), np.empty(part.stop - part.start, np.bool_)
        numba_rectangles.clip(rects[part], width, height, windows)
        given = windows, image[part], against[part], FINER, reduce == "min"
        numba_rectangles.any_reaches(data, tables, *given, found)
        numba_rectangles.bound(found, against[part], identity(reduce, data.dtype), result[part])

    for_each(ranges(len(rects)), rects.nbytes, work)
    return result


def look_up_tables(layout: Layout) -> Tables:
    """Offsets [L] and sizes [L, 2] of the levels, and the number of binary digits of every difference of pixels."""
    offsets, sizes = np.array(layout.offsets[:-1], np.int64), np.array(layout.sizes, np.int64)
    # frexp gives the exponent e of 2**(e - 1) <= n < 2**e.
    return offsets, sizes, np.frexp(np.arange(max(layout.sizes[0]) + 1))[1].astype(np.int32)


def _in_single_precision(
    data: np.ndarray, layout: Layout, rects: Any, batch_index: Any | None, reduce: Reduce, against: Any | None
) -> np.ndarray:
    limit = None if against is None else against.astype(np.float32)
    return rect_reduce(data.astype(np.float32), layout, rects, batch_index, reduce, limit).astype(np.float16)


def _reduce_levels(levels: list[np.ndarray], write: BlockReduction, image: np.ndarray | None = None) -> None:
    """Fill each of ``levels`` [B, H, W, C] from the one before; and the first from ``image``, if there is one.

    Block by block, copied and reduced again while it is in the cache: the image is read from memory once.
    """
    source, target = levels[:2]
    height, step = source.shape[1], 1 << len(levels) - 2

    def work(block: Block) -> None:
        # The mean of an odd height reads the row before, too. Its copy is written twice then, with the same values.
        origin = max(2 * block.first - height % 2, 0)
        # Where the image ends before 2 * last, so do the slices.
        images, rows = slice(block.begin, block.end), slice(origin, 2 * block.last)
        if image is not None:
            source[images, rows] = image[images, rows]
        write(_flat(source[images, rows]), origin, _flat(target[images, block.first : block.last]), block.first, height)
        first, last = block.first, block.last
        for finer, coarser in pairwise(levels[1:]):
            above = _flat(finer[images, first:last])
            first, last = first // 2, last // 2
            write(above, 2 * first, _flat(coarser[images, first:last]), first, finer.shape[1])

    if source.nbytes <= row_blocks.BLOCK_BYTES:
        work(Block(0, target.shape[0], 0, target.shape[1]))
    else:
        for_each(split(target.shape[0], target.shape[1], 2 * source[:1, :1].nbytes, step), source.nbytes, work)


def _flat(block: np.ndarray) -> np.ndarray:
    """Rows without their axis of channels, a view [K, rows, W * C]."""
    return block.reshape(*block.shape[:2], -1)
