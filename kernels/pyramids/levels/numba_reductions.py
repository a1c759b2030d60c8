"""How a block of rows is reduced for each reduction and dtype: directly, or by way of float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from hra.kernels.pyramids.levels import numba_rows
from hra.kernels.pyramids.levels.color import BINS_PER_STEP, byte_tables, colors, to_linear, to_srgb
from hra.kernels.pyramids.levels.reductions import Reduce

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
        return stored.astype(np.float32)

    def encode(self, values: np.ndarray, stored: np.ndarray) -> None:
        """See :class:`Codec`."""
        stored[...] = values


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
    codec = _mean_codec(reduce, dtype, channels)
    if codec is None:
        return partial(numba_rows.byte_mean_rows if dtype == np.uint8 else numba_rows.mean_rows, channels=channels)
    return partial(_by_way_of_floats, partial(numba_rows.mean_rows, channels=channels), codec)


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
