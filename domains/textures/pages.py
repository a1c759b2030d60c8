"""Pages: the units in which a texture is resident, and where each one lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hra.errors import HierarchyError
from hra.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class PageTable:
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


class StreamedTexture(Protocol):
    """A texture whose pages can be resident or not (`TiledTexture`, `MippedTexture`)."""

    @property
    def mips(self) -> tuple[np.ndarray, ...]:
        """The mip levels [H, W, C], finest first."""
        ...

    @property
    def pages(self) -> PageTable:
        """How the levels are cut into pages."""
        ...


def pages_hierarchy(tables: list[PageTable]) -> Hierarchy:
    """The pages of several textures as one forest in which finer pages are added; attribute "texture" says whose."""
    first = first_pages(tables)
    parents = [np.where(table.parent < 0, -1, table.parent + n) for table, n in zip(tables, first, strict=True)]
    attributes = {name: _joined([t.attributes()[name] for t in tables]) for name in tables[0].attributes()}
    attributes["texture"] = np.repeat(np.arange(len(tables), dtype=np.int32), [t.bytes.size for t in tables])
    return Hierarchy.tree(
        _joined(parents), _joined([t.bytes for t in tables]), mode="add", attributes=attributes, cost_unit="bytes"
    )


def page_parents(hierarchy: Hierarchy) -> np.ndarray:
    """The page that each page of a forest refines, int32 [N], -1 for mip tails.

    Raises
    ------
    HierarchyError : the hierarchy is no forest of nodes.
    """
    if hierarchy.node_parent is None:
        raise HierarchyError("the hierarchy is no forest of pages", fix="use the hierarchy of a TextureSet")
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


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays)
