"""Classic texture streaming: whole mip levels are resident or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.textures.formats import RGBA8, TexelFormat
from hra.domains.textures.mips import build_mips, level_shapes, tail_level
from hra.domains.textures.pages import PageTable, StreamedTexture
from hra.domains.textures.sources.opening import ImageSource


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
        """
        height, width = source.mips[0].shape[:2]
        return cls(source.mips, mip_pages(height, width, tail, texels or source.texels))


def mip_pages(height: int, width: int, tail: int = 128, texels: TexelFormat = RGBA8) -> PageTable:
    """The mip levels of a texture of ``height`` x ``width`` texels; no texel is needed to plan its memory."""
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
