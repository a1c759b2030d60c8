"""Mip levels whose texels stay in their file until they are asked for.

Levels that a file does not have are made when one is first read, into a temporary file.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.domains.textures.mips import reduction
from hra.domains.textures.pages import MipLevel
from hra.domains.textures.sources.header import ImageHeader, Span
from hra.domains.textures.sources.tile_cache import TILE, TileCache
from hra.errors import FileError, ImageError
from hra.kernels import Pyramid, build_pyramid
from hra.kernels.pyramids.levels.pyramid import Layout


@dataclass(frozen=True, eq=False)
class StoredLevel:
    """A level of an image file that is indexed like an array [H, W, C] by slices or arrays of rows and columns."""

    cache: TileCache
    header: ImageHeader
    level: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the upright image."""
        stored = self.header.stored[self.level]
        return *self.header.orientation.upright_size(stored.height, stored.width), self.header.channels

    @property
    def dtype(self) -> np.dtype:
        """uint8, or float32."""
        return self.header.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """All texels."""
        return self[:].astype(dtype or self.dtype, copy=False)

    def __getitem__(self, key: Any, /) -> np.ndarray:
        """Texels [..., C]; only the tiles that hold them are read."""
        row_key, column_key = key if isinstance(key, tuple) else (key, slice(None))
        row_span, column_span = _span(row_key, self.shape[0]), _span(column_key, self.shape[1])
        if row_span and column_span:
            return self._rectangle(row_span, column_span)
        rows, columns = np.arange(self.shape[0])[row_key], np.arange(self.shape[1])[column_key]
        if isinstance(row_key, slice) or isinstance(column_key, slice):
            rows = rows.reshape(*rows.shape, *[1] * columns.ndim)
        return self._gather(*np.broadcast_arrays(rows, columns))

    def _rectangle(self, rows: Span, columns: Span) -> np.ndarray:
        stored, orientation = self.header.stored[self.level], self.header.orientation
        stored_rows, stored_columns = orientation.store(rows, columns, self.shape[:2])
        offset_rows = stored_rows[0] + stored.top, stored_rows[1] + stored.top
        offset_columns = stored_columns[0] + stored.left, stored_columns[1] + stored.left
        texels = self.cache.read(self.header.path, self.level, offset_rows, offset_columns, self.dtype)
        if self.dtype == np.float32 and not np.isfinite(texels).all():
            where = f"{self.header.path}, level {self.level}, rows {rows}, columns {columns}"
            raise ImageError("the image contains values that are not finite", where=where)
        return orientation.turn(texels)

    def _gather(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Single texels, sorted by the tile that holds them so that each tile is read once."""
        height, width, channels = self.shape
        texels = np.empty((rows.size, channels), self.dtype)
        flat_rows, flat_columns = rows.ravel(), columns.ravel()
        tile = flat_rows // TILE * -(-width // TILE) + flat_columns // TILE
        order = np.argsort(tile, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(tile[order])) + 1):
            if not group.size:
                continue
            top, left = (int(index[group[0]]) // TILE * TILE for index in (flat_rows, flat_columns))
            held = self._rectangle((top, min(top + TILE, height)), (left, min(left + TILE, width)))
            texels[group] = held[flat_rows[group] - top, flat_columns[group] - left]
        return texels.reshape(*rows.shape, channels)


def _span(key: Any, size: int) -> Span | None:
    """The first and past the last index that a slice takes; None if that is not a slice, empty, or has gaps."""
    if not isinstance(key, slice):
        return None
    start, stop, step = key.indices(size)
    return (start, stop) if step == 1 and start < stop else None


@dataclass(frozen=True, eq=False)
class MadeLevels:
    """All coarser levels of ``finest``.

    They lie in a temporary file that is mapped into memory, so that the system can take the memory back.
    """

    finest: MipLevel
    srgb: bool

    def __reduce__(self) -> tuple[type[MadeLevels], tuple[MipLevel, bool]]:
        # The levels are made again where they are needed: they may be gigabytes.
        return MadeLevels, (self.finest, self.srgb)

    @cached_property
    def levels(self) -> tuple[np.ndarray, ...]:
        """The levels, first the finest one itself; made at the first use."""
        layout = Layout.of(self.finest.shape, None)
        pyramid = Pyramid(_map(layout.size, self.finest.dtype), layout, reduction(self.srgb))
        level = pyramid.levels[0]
        for top in range(0, self.finest.shape[0], TILE):
            level[top : top + TILE] = self.finest[top : top + TILE]
        build_pyramid(level, pyramid.reduce, into=pyramid)
        return pyramid.levels


@dataclass(frozen=True, eq=False)
class MadeLevel:
    """One of them, indexed like the array that it is once it has been made."""

    made: MadeLevels
    index: int
    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        return *self.size, self.made.finest.shape[2]

    @property
    def dtype(self) -> np.dtype:
        """uint8, or float32."""
        return self.made.finest.dtype

    def __getitem__(self, key: Any, /) -> np.ndarray:
        """Texels by anything that indexes an array."""
        return self.made.levels[self.index][key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """All texels."""
        return self.made.levels[self.index].astype(dtype or self.dtype, copy=bool(copy))


def _map(size: int, dtype: np.dtype) -> np.ndarray:
    """An array [size] in a temporary file; the disk space is taken now, because a full disk would end the process."""
    with tempfile.TemporaryFile() as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size * dtype.itemsize)
        except OSError as error:
            what = f"there is no space for the mip levels: {error.strerror}"
            fix = "set TMPDIR to a folder with more space"
            raise FileError(what, where=tempfile.gettempdir(), fix=fix) from error
        return np.asarray(np.memmap(file, dtype, "r+", shape=(size,)))
