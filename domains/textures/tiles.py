"""Textures in pages: square tiles of each mip level (virtual texturing), or whole levels (classic streaming)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hra.domains.textures.formats import RGBA8, TexelFormat
from hra.domains.textures.mips import build_mips, level_shapes, page_side, tail_level
from hra.domains.textures.pages import PageTable, StreamedTexture
from hra.domains.textures.sources.opening import ImageSource
from hra.errors import check_kind


class TiledTexture(StreamedTexture):
    """A texture as a quadtree of tiles: tile (level, y, x) refines tile (level + 1, y // 2, x // 2).

    All levels that fit into one tile are the mip tail, one page that is always resident. Tiles at the right and lower
    edge are smaller. Sparse textures of Vulkan and Direct3D, and virtual textures of engines, work like this.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import TiledTexture
    >>> texture = TiledTexture.from_image(np.zeros((256, 300, 3), np.uint8), tile=128)
    >>> texture.pages.level.tolist()
    [2, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> texture.read(8).shape
    (128, 44, 3)
    """

    @classmethod
    def from_image(cls, image: Any, tile: int = 128, texels: TexelFormat = RGBA8, srgb: bool = False) -> TiledTexture:
        """Build the mip levels of an image and cut them into tiles.

        Parameters
        ----------
        image : uint8 or float32 [H, W, C], any size from 1 x 1.
        tile : texels along one side of a tile.
        texels : format in which the tiles take up memory; it need not be that of ``image``.
        srgb : average light, not code values: right for colours, wrong for normals, masks and heights.

        Raises
        ------
        ImageError : an image of another layout, dtype or with values that are not finite; a tile below one texel.
        HraError : ``texels`` is no format.
        """
        mips = build_mips(image, srgb)
        height, width = mips[0].shape[:2]
        return cls(mips, tile_pages(height, width, tile, texels))

    @classmethod
    def from_source(cls, source: ImageSource, tile: int = 128, texels: TexelFormat | None = None) -> TiledTexture:
        """Cut a file that `open_image` has opened into tiles; no texel is read before it is asked for.

        Parameters
        ----------
        texels : format in which the tiles take up memory; by default that of the file.

        Raises
        ------
        ImageError : a tile below one texel. HraError : ``source`` or ``texels`` is something else.
        """
        _check_source(source)
        height, width = source.mips[0].shape[:2]
        return cls(source.mips, tile_pages(height, width, tile, source.texels if texels is None else texels))


def tile_pages(height: int, width: int, tile: int = 128, texels: TexelFormat = RGBA8) -> PageTable:
    """The tiles of a texture of ``height`` x ``width`` texels; no texel is needed to plan its memory."""
    _check_format(texels)
    shapes, tile = level_shapes(height, width), page_side(tile)
    tail = tail_level(height, width, tile)
    grids = [_grid(shapes[level], tile) for level in range(tail, -1, -1)]
    level = np.repeat(np.arange(tail, -1, -1), [rows * columns for rows, columns in grids])
    y, x = (np.concatenate(parts) for parts in zip(*(_positions(grid) for grid in grids), strict=True))
    level_height, level_width = np.array(shapes).T[:, level]
    page_height = np.minimum(tile, level_height - y * tile)
    page_width = np.minimum(tile, level_width - x * tile)
    rows, columns = grids[-1]
    page_bytes = texels.bytes(page_height, page_width)
    page_bytes[0] = sum(texels.bytes(*shape) for shape in shapes[tail:])
    return PageTable(
        parent=_parents(grids),
        bytes=page_bytes,
        level=level.astype(np.int32),
        x=x,
        y=y,
        width=page_width.astype(np.int32),
        height=page_height.astype(np.int32),
        finest=(level.size - rows * columns + np.arange(rows * columns, dtype=np.int32)).reshape(rows, columns),
        cell=tile,
    )


def _check_format(texels: TexelFormat) -> None:
    check_kind("texels", texels, TexelFormat, "pass one such as hra.domains.textures.BC7")


def _check_source(source: ImageSource) -> None:
    check_kind("source", source, ImageSource, "pass open_image(path)")


def _grid(shape: tuple[int, int], tile: int) -> tuple[int, int]:
    return -(-shape[0] // tile), -(-shape[1] // tile)


def _positions(grid: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    y, x = np.indices(grid, np.int32)
    return y.ravel(), x.ravel()


def _parents(grids: list[tuple[int, int]]) -> np.ndarray:
    """Index of the tile that each tile refines, levels being stored coarse to fine and row by row."""
    parents, first = [np.array([-1], np.int32)], 0
    for coarse, fine in pairwise(grids):
        y, x = _positions(fine)
        parents.append((first + y // 2 * coarse[1] + x // 2).astype(np.int32))
        first += coarse[0] * coarse[1]
    return np.concatenate(parents)


class MippedTexture(StreamedTexture):
    """A texture as a chain of mip levels, each one page that refines the next coarser.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import BC7, MippedTexture
    >>> texture = MippedTexture.from_image(np.zeros((512, 512, 3), np.uint8), tail=128, texels=BC7)
    >>> texture.pages.level.tolist(), texture.pages.bytes.tolist()
    ([2, 1, 0], [21872, 65536, 262144])
    """

    @classmethod
    def from_image(cls, image: Any, tail: int = 128, texels: TexelFormat = RGBA8, srgb: bool = False) -> MippedTexture:
        """Build the mip levels of an image.

        Parameters
        ----------
        image : uint8 or float32 [H, W, C], any size from 1 x 1.
        tail : levels of at most ``tail`` x ``tail`` texels are the mip tail, one page that is always resident.
        texels : format in which the levels take up memory; it need not be that of ``image``.
        srgb : average light, not code values: right for colours, wrong for normals, masks and heights.

        Raises
        ------
        ImageError : an image of another layout, dtype or with values that are not finite; a tail below one texel.
        HraError : ``texels`` is no format.
        """
        mips = build_mips(image, srgb)
        height, width = mips[0].shape[:2]
        return cls(mips, mip_pages(height, width, tail, texels))

    @classmethod
    def from_source(cls, source: ImageSource, tail: int = 128, texels: TexelFormat | None = None) -> MippedTexture:
        """The mip levels of a file that `open_image` has opened; no texel is read before it is asked for.

        Parameters
        ----------
        texels : format in which the levels take up memory; by default that of the file.

        Raises
        ------
        ImageError : a tail below one texel. HraError : ``source`` or ``texels`` is something else.
        """
        _check_source(source)
        height, width = source.mips[0].shape[:2]
        return cls(source.mips, mip_pages(height, width, tail, source.texels if texels is None else texels))


def mip_pages(height: int, width: int, tail: int = 128, texels: TexelFormat = RGBA8) -> PageTable:
    """The mip levels of a texture of ``height`` x ``width`` texels; no texel is needed to plan its memory."""
    _check_format(texels)
    shapes = level_shapes(height, width)
    coarsest = tail_level(height, width, tail)
    page_height, page_width = np.array(shapes[coarsest::-1], np.int32).T
    page_bytes = [texels.bytes(h, w) for h, w in shapes[coarsest::-1]]
    page_bytes[0] = sum(texels.bytes(h, w) for h, w in shapes[coarsest:])
    zeros = np.zeros(coarsest + 1, np.int32)
    return PageTable(
        parent=np.arange(-1, coarsest, dtype=np.int32),
        bytes=np.array(page_bytes, np.int64),
        level=np.arange(coarsest, -1, -1, dtype=np.int32),
        x=zeros,
        y=zeros,
        width=page_width,
        height=page_height,
        finest=np.full((1, 1), coarsest, np.int32),
        cell=max(height, width),
    )
