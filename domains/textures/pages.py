"""Pages: the units in which a texture is resident, and where each one lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hra.caching import cached_property
from hra.errors import HierarchyError
from hra.model.arrays import indices
from hra.model.hierarchy import Hierarchy
from hra.model.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class PageTable(ShortRepr):
    """The pages of one texture, coarse before fine; a page refines its parent and is loaded only after it.

    The first page is the mip tail: it holds its level and all coarser ones and is always resident.

    Attributes
    ----------
    parent : int32 [N], the page one level coarser that covers the same region, -1 for the mip tail.
    bytes : int64 [N].
    level : int32 [N], mip level; x, y : int32 [N], position in the page grid of that level.
    width, height : int32 [N], texels of the page at its level.
    finest : int32 [GY, GX], the page that holds each cell of the texture at the finest level.
    cell : side of a cell in texels of level 0.
    """

    parent: np.ndarray
    bytes: np.ndarray
    level: np.ndarray
    x: np.ndarray
    y: np.ndarray
    width: np.ndarray
    height: np.ndarray
    finest: np.ndarray
    cell: int

    def attributes(self) -> dict[str, np.ndarray]:
        """The node attributes of the hierarchy, each [N]."""
        return {name: getattr(self, name) for name in ("level", "x", "y", "width", "height")}


class MipLevel(Protocol):
    """The texels [H, W, C] of one mip level: an array, or what reads them from a file when it is indexed like one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Height, width and channels."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """uint8, or float32."""
        ...

    def __getitem__(self, key: Any, /) -> np.ndarray:
        """Texels by slices or arrays of rows and columns."""
        ...

    def __array__(self, dtype: Any = None, /) -> np.ndarray:
        """All texels."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class StreamedTexture(ShortRepr):
    """A texture whose pages can be resident or not (`TiledTexture`, `MippedTexture`).

    Parameters
    ----------
    mips : levels [H, W, C], finest first, each half the one before, rounded up.
    pages : how the levels are cut into pages, the mip tail first.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import MippedTexture, StreamedTexture
    >>> texture = MippedTexture.from_image(np.zeros((64, 64, 3), np.uint8), tail=16)
    >>> isinstance(texture, StreamedTexture), texture.hierarchy
    (True, Hierarchy(forest of 2 refinements over 3 nodes, cost in bytes))
    """

    mips: tuple[MipLevel, ...]
    pages: PageTable

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The pages in bytes, finer ones being added."""
        return pages_hierarchy([self.pages])

    def read(self, page: int) -> np.ndarray:
        """The texels [h, w, C] of one page; of the mip tail, those of its finest level.

        Raises
        ------
        ArrayError : no such page.
        FileError, ImageError : the texels are in a file that has become unreadable, or is corrupt there.
        """
        pages, cell = self.pages, self.pages.cell
        (page,) = indices("page", [page], 0, len(pages.bytes)).tolist()
        top, left = int(pages.y[page]) * cell, int(pages.x[page]) * cell
        level = self.mips[pages.level[page]]
        return level[top : top + int(pages.height[page]), left : left + int(pages.width[page])]


def pages_hierarchy(tables: list[PageTable]) -> Hierarchy:
    """The pages of several textures as one forest in which finer pages are added; attribute "texture" says whose."""
    first = first_pages(tables)
    parents = [np.where(table.parent < 0, -1, table.parent + n) for table, n in zip(tables, first, strict=True)]
    attributes = {name: _join([t.attributes()[name] for t in tables]) for name in tables[0].attributes()}
    attributes["texture"] = np.repeat(np.arange(len(tables), dtype=np.int32), [t.bytes.size for t in tables])
    return Hierarchy.tree(
        _join(parents), _join([t.bytes for t in tables]), mode="add", attributes=attributes, cost_unit="bytes"
    )


def page_parents(hierarchy: Hierarchy) -> np.ndarray:
    """The page that each page of a forest refines, int32 [N], -1 for mip tails.

    Raises
    ------
    HierarchyError : the hierarchy is not a forest of nodes.
    """
    if hierarchy.node_parent is None:
        raise HierarchyError("the hierarchy is not a forest of pages", fix="use the hierarchy of a TextureSet")
    return hierarchy.node_parent


def texels_of_page(page: np.ndarray, cell: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last texel along one axis of pages [n] of a level that is ``size`` texels long.

    Where sizes are odd, a region of the image may end a fraction of a texel outside the page that stands for it.
    Look-ups are clamped to the page, so that they never need another one.
    """
    return page * cell, np.minimum((page + 1) * cell, size) - 1


def first_pages(tables: list[PageTable]) -> np.ndarray:
    """Index of each texture's first page in the forest, int [T]."""
    sizes = [table.bytes.size for table in tables]
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def _join(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays)
