"""Images that do not fit into memory: read once, block by block, into the errors of all their patches.

The errors are those of repeated pixels (the Haar transform), which need no pixel beyond a patch and add up exactly from
level to level; those of interpolated levels would need the blocks around.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hra.domains.tokens.pyramid.blocks import block_sums
from hra.domains.tokens.pyramid.interpolation import halve
from hra.domains.tokens.pyramid.pyramid import full_depth
from hra.errors import ArrayError
from hra.files.images.arrays import as_image

_BLOCK = 6  # levels of a block: 64 patches along a side, 1024 pixels of patches of 16


class Sliced(Protocol):
    """An image [H, W, C] of which rectangles can be read: a level of `hra.domains.textures.open_image`, a memmap ..."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W, C)."""
        ...

    def __getitem__(self, key: Any, /) -> Any:
        """The pixels of two slices, as `hra.files.images.as_image` takes them."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class StreamedImage:
    """What one pass over an image leaves: the error of every patch at every level, and small copies of the image.

    A 40,000 x 40,000 image leaves 60 MB. Make it with `read`.

    Attributes
    ----------
    source : the image; read again where tokens are made.
    patch : side of a patch in pixels.
    details : for every level l from 1 on, float32 on the grid of the patches of level l - 1: squared error that showing
        level l adds to showing level l - 1.
    overview : float32 [h, w, 3], levels from `first` on.
    first : the finest level that is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((3000, 2000, 3), dtype=np.float32)  # or a file that is far too large
    >>> streamed = tokens.StreamedImage.read(image)
    >>> streamed
    StreamedImage(3000 x 2000 pixels, 9 levels of patches of 16)
    """

    source: Sliced
    patch: int
    details: tuple[np.ndarray, ...]
    overview: tuple[np.ndarray, ...]
    first: int

    def __repr__(self) -> str:
        """Size and levels."""
        height, width = self.size
        return f"StreamedImage({height} x {width} pixels, {len(self.details) + 1} levels of patches of {self.patch})"

    @classmethod
    def read(cls, source: Sliced, *, patch: int = 16) -> StreamedImage:
        """Read an image once, in blocks of 64 x 64 patches.

        Raises
        ------
        ArrayError : no image, or an odd patch.
        ImageError : pixels that are not image's.
        """
        if patch < 2 or patch % 2:
            raise ArrayError(f"patch must be even and at least 2, got {patch}", where="patch")
        if len(source.shape) != 3 or 0 in source.shape:
            fix = "pass an image [H, W, C], such as a level of hra.domains.textures.open_image"
            raise ArrayError(f"an image of shape {tuple(source.shape)} cannot be read by rectangles", fix=fix)
        size = (int(source.shape[0]), int(source.shape[1]))
        depth = full_depth(size, patch)
        first = min(_BLOCK, depth - 1)
        details = [np.zeros(_grid(size, patch, level), np.float32) for level in range(depth - 1)]
        small = np.empty((-(-size[0] >> first), -(-size[1] >> first), 3), np.float32)
        for y, x, pixels in _blocks(source, size, patch << first):
            for level in range(first):
                pixels, detail = _step(pixels, level, patch)
                row, column = (start // (patch << level) for start in (y, x))
                details[level][row : row + detail.shape[0], column : column + detail.shape[1]] = detail
            small[y >> first : (y >> first) + pixels.shape[0], x >> first : (x >> first) + pixels.shape[1]] = pixels
        overview = [small]
        for level in range(first, depth - 1):
            coarse, details[level] = _step(overview[-1], level, patch)
            overview.append(coarse)
        return cls(source, patch, tuple(details), tuple(overview), first)

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) in pixels."""
        return int(self.source.shape[0]), int(self.source.shape[1])

    def values(self, places: np.ndarray) -> np.ndarray:
        """Pixel values of patches [K, 3] at (level, x, y), float32 [K, patch * patch * 3]; fine ones are read again."""
        return np.stack([self._value(*place) for place in places.tolist()]).reshape(len(places), -1)

    def _value(self, level: int, x: int, y: int) -> np.ndarray:
        known, side = level >= self.first, self.patch if level >= self.first else self.patch << level
        image = self.overview[level - self.first] if known else self.source
        pixels = as_image(image[y * side : (y + 1) * side, x * side : (x + 1) * side])
        for _ in range(0 if known else level):
            pixels = halve(pixels)
        missing = [(0, self.patch - extent) for extent in pixels.shape[:2]]
        return np.pad(pixels, [*missing, (0, 0)], mode="edge")


def _grid(size: tuple[int, int], patch: int, level: int) -> tuple[int, int]:
    return -(-size[0] // (patch << level)), -(-size[1] // (patch << level))


def _blocks(source: Sliced, size: tuple[int, int], side: int) -> Iterator[tuple[int, int, np.ndarray]]:
    for y in range(0, size[0], side):
        for x in range(0, size[1], side):
            yield y, x, as_image(source[y : min(y + side, size[0]), x : min(x + side, size[1])])


def _step(pixels: np.ndarray, level: int, patch: int) -> tuple[np.ndarray, np.ndarray]:
    """The next coarser level, and the squared error that it adds in every patch of this one."""
    coarse = halve(pixels)
    shown = coarse.repeat(2, axis=0)[: pixels.shape[0]].repeat(2, axis=1)[:, : pixels.shape[1]]
    squares = np.square(pixels - shown).sum(axis=2) * np.float32(4.0**level)
    return coarse, block_sums(squares, patch)
