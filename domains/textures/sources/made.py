"""Mip levels that a file does not have: made when one is first read, into a temporary file."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hra.domains.textures.mips import reduction
from hra.domains.textures.pages import MipLevel
from hra.domains.textures.sources.tile_cache import TILE
from hra.errors import FileError
from hra.kernels import Pyramid, build_pyramid
from hra.kernels.pyramids.levels.layout import Layout


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
