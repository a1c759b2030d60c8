"""What is in memory: the resident pages, the level that each part of a texture has, and the image they make.

`record` makes a trace of what the views of a flight demand, for residency policies to be run on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.metrics import checked_feedback
from hra.domains.textures.pages import page_parents, texels_of_page
from hra.domains.textures.texture_set import TextureSet, check_textures
from hra.errors import ArrayError, check_kind
from hra.model.arrays import mask, offsets_of, whole_in
from hra.model.short_repr import ShortRepr
from hra.residency import Trace


@dataclass(frozen=True, eq=False, repr=False)
class ResidentTextures(ShortRepr):
    """The resident pages of a texture set.

    Attributes
    ----------
    textures : the set.
    active : bool [N], whether each page (node of ``textures.hierarchy``) is resident. A page is resident only with
        all coarser ones of its region, and mip tails always are.

    Raises
    ------
    ArrayError : another shape or dtype, or pages without the coarser ones. HraError : no set of textures.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import ResidentTextures, TextureSet, TiledTexture
    >>> textures = TextureSet([TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> resident = ResidentTextures(textures, np.array([True, True, False, False, False]))
    >>> resident.pages, resident.bytes
    (array([0, 1]), 152916)
    >>> resident.level_map()
    array([[0, 1],
           [1, 1]], dtype=int32)
    """

    textures: TextureSet
    active: np.ndarray

    def __post_init__(self) -> None:
        check_textures(self.textures)
        parent = page_parents(self.textures.hierarchy)
        object.__setattr__(self, "active", mask("active", self.active, parent.size))
        orphan = np.where(parent < 0, ~self.active, self.active & ~self.active[parent])
        if orphan.any():
            page = int(orphan.argmax())
            raise ArrayError("a page, or a mip tail, is missing under the resident pages", where=f"page {page}")

    @classmethod
    def drawable(cls, textures: TextureSet, held: np.ndarray) -> ResidentTextures:
        """What can be drawn of the pages in memory: those with all coarser ones; mip tails always.

        Parameters
        ----------
        held : bool [N], in any combination, such as a policy leaves that knows nothing of parents.

        Raises
        ------
        ArrayError : another shape or dtype. HraError : no set of textures.
        """
        check_textures(textures)
        parent = page_parents(textures.hierarchy)
        active = mask("held", held, parent.size) | (parent < 0)
        # A step for every level that pages are above each other.
        while (orphan := active & (parent >= 0) & ~active[parent]).any():
            active &= ~orphan
        return cls(textures, active)

    @property
    def pages(self) -> np.ndarray:
        """The resident pages, node ids, ascending int64 [K]."""
        return np.flatnonzero(self.active)

    @property
    def bytes(self) -> int:
        """Memory of the resident pages."""
        return int(self.textures.hierarchy.node_cost[self.active].sum())

    def level_map(self, texture: int = 0) -> np.ndarray:
        """The finest resident mip level of each cell (tile of level 0) of one texture, int32 [GY, GX].

        Raises
        ------
        HraError : no such texture.
        """
        texture = whole_in("texture", texture, range(len(self.textures.textures)))
        parent, page = page_parents(self.textures.hierarchy), self.textures.finest_pages[texture].copy()
        while (missing := ~self.active[page]).any():
            page[missing] = parent[page[missing]]
        return self.textures.hierarchy.attribute("level")[page]

    def compose(self, level: int = 0, texture: int = 0) -> np.ndarray:
        """One mip level [H, W, C] of a texture as the resident pages show it.

        What is not resident is filled with the texels of the finest level that is, without filtering.

        Raises
        ------
        HraError : no such level or texture.
        """
        texture = whole_in("texture", texture, range(len(self.textures.textures)))
        level = whole_in("level", level, range(len(self.textures.textures[texture].mips)))
        mips, cell = self.textures.textures[texture].mips, self.textures.textures[texture].pages.cell
        row_page, column_page = (np.arange(size) // cell for size in mips[level].shape[:2])
        # All cells under a page of ``level`` have one finest resident level, unless that is finer than ``level``.
        levels = self.level_map(texture)[np.ix_(row_page << level, column_page << level)]
        image = np.array(mips[level])
        for coarse in np.unique(levels[levels > level]):
            row = _coarse_texels(row_page >> (coarse - level), cell, mips[coarse].shape[0])
            column = _coarse_texels(column_page >> (coarse - level), cell, mips[coarse].shape[1])
            np.copyto(image, mips[coarse][np.ix_(row, column)], where=(levels == coarse)[..., None])
        return image


def _coarse_texels(page: np.ndarray, cell: int, size: int) -> np.ndarray:
    """The texel of a coarse level of ``size`` texels under each texel [n] of a finer one, within its ``page``."""
    # The centre of texel k lies at (2 k + 1) / (2 n): whole numbers, because rounding could choose the other neighbour.
    under_centre = (2 * np.arange(page.size) + 1) * size // (2 * page.size)
    return np.clip(under_centre, *texels_of_page(page, cell, size))


def check_resident(resident: ResidentTextures) -> None:
    """Raise HraError unless it is one: allocations are passed for what `TextureAllocator.realize` makes of them."""
    check_kind("resident", resident, ResidentTextures, "pass what realize(allocation) returned")


def record(textures: TextureSet, feedbacks: Iterable[Feedback]) -> Trace:
    """The demands of one frame per feedback over the pages of ``textures``.

    A frame demands the page of each sample's wanted level, rounded down; its weight is the area in pixels that wants
    it. Drawing needs the coarser pages, too: they are demanded before it, with weight 0 unless samples want them.

    Raises
    ------
    MetricError : feedback of other textures. HraError : no set of textures, or no list of feedback.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> pages = textures.TextureSet([textures.TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> seen = textures.Feedback(np.array([1, 2]), np.ones(2), np.array([50, 1]), viewport_pixels=100)
    >>> trace = textures.record(pages, [seen, seen])
    >>> len(trace), trace.frame(0)
    (2, array([0, 1, 2], dtype=int32))
    """
    check_textures(textures)
    check_kind("feedbacks", feedbacks, Iterable, "pass a list of feedback, such as source.observe(camera)")
    hierarchy = textures.hierarchy
    parent, level = page_parents(hierarchy), hierarchy.attribute("level")
    pages, areas = [np.empty(0, np.int64)], [np.empty(0)]
    for feedback in feedbacks:
        seen = checked_feedback(hierarchy, feedback)
        # Below 0 is what no sample wants.
        area = np.full(parent.size, -1.0)
        _add(seen.page, np.floor(seen.wanted_level), seen.weighted_pixels, parent, level, area)
        pages.append(np.flatnonzero(area >= 0))
        areas.append(area[pages[-1]])
    offsets = offsets_of(np.array([frame.size for frame in pages[1:]], np.int64))
    return Trace(offsets, np.concatenate(pages), hierarchy.node_cost.astype(np.int64), np.concatenate(areas), parent)


@njit(cache=True)
def _add(page, wanted, pixels, parent, level, area):
    """Add every sample's pixels to the page of its level, and mark all pages above that one."""
    for i in range(page.size):
        node = page[i]
        while level[node] < wanted[i] and parent[node] >= 0:
            node = parent[node]
        area[node] = max(area[node], 0.0) + pixels[i]
        node = parent[node]
        while node >= 0 and area[node] < 0:
            area[node] = 0.0
            node = parent[node]
