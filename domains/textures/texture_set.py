"""Several textures that share one byte pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.domains.textures.pages import StreamedTexture, first_pages, pages_hierarchy
from hra.errors import ImageError, check_kind
from hra.model.hierarchy import Hierarchy
from hra.model.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class TextureSet(ShortRepr):
    """Textures in a fixed order, tiled or mipped, with all their pages in one hierarchy.

    Parameters
    ----------
    textures : at least one.

    Raises
    ------
    ImageError : no texture. HraError : something else in the place of textures.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import MippedTexture, TextureSet, TiledTexture
    >>> image = np.zeros((256, 256, 3), np.uint8)
    >>> textures = TextureSet([TiledTexture.from_image(image), MippedTexture.from_image(image)])
    >>> textures.hierarchy.attribute("texture")
    array([0, 0, 0, 0, 0, 1, 1], dtype=int32)
    >>> textures.finest_pages[0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """

    textures: Sequence[StreamedTexture]

    def __post_init__(self) -> None:
        fix = "pass TextureSet([texture]) of textures such as TiledTexture.from_image(image)"
        check_kind("textures", self.textures, Sequence, fix)
        for texture in self.textures:
            check_kind("texture", texture, StreamedTexture, fix)
        object.__setattr__(self, "textures", tuple(self.textures))
        if not self.textures:
            raise ImageError("a texture set needs at least one texture", where="textures")

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The pages of all textures as one forest, in bytes."""
        return pages_hierarchy([texture.pages for texture in self.textures])

    @cached_property
    def finest_pages(self) -> tuple[np.ndarray, ...]:
        """The page (node of the hierarchy) of each cell at the finest level, int32 [GY, GX], for each texture."""
        tables = [texture.pages for texture in self.textures]
        return tuple(table.finest + np.int32(first) for table, first in zip(tables, first_pages(tables), strict=True))


def check_textures(textures: TextureSet) -> None:
    """Raise HraError unless it is a set: single textures are passed in its place."""
    check_kind("textures", textures, TextureSet, "pass TextureSet([texture]), or scene.textures")
