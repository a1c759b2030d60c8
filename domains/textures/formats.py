"""Texel formats: how many bytes a rectangle of texels takes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from hra.model.arrays import POSITIVE, whole_in

Count = TypeVar("Count", int, np.ndarray)


@dataclass(frozen=True)
class TexelFormat:
    """A format that stores texels in square blocks; uncompressed formats have blocks of one texel.

    Parameters
    ----------
    name : as in the Vulkan and DDS specifications.
    block_bytes : bytes per block.
    block_size : texels along one side of a block.

    Raises
    ------
    HraError : bytes or texels that are not whole numbers of 1 or more.

    Examples
    --------
    >>> from hra.domains.textures import BC1, BC7, RGBA8, RGBA16F
    >>> [texels.bytes(256, 256) for texels in (RGBA8, RGBA16F, BC1, BC7)]
    [262144, 524288, 32768, 65536]
    >>> BC1.bytes(5, 5)
    32
    """

    name: str
    block_bytes: int
    block_size: int = 1

    def __post_init__(self) -> None:
        for name in ("block_bytes", "block_size"):
            whole_in(name, getattr(self, name), POSITIVE)

    def bytes(self, height: Count, width: Count) -> Count:
        """Bytes of ``height`` x ``width`` texels, numbers or int64 arrays; incomplete blocks count in full."""
        return -(-height // self.block_size) * -(-width // self.block_size) * self.block_bytes


R8 = TexelFormat("R8", 1)
RGBA8 = TexelFormat("RGBA8", 4)
R16F = TexelFormat("R16F", 2)
RGBA16F = TexelFormat("RGBA16F", 8)
R32F = TexelFormat("R32F", 4)
RGBA32F = TexelFormat("RGBA32F", 16)
BC1 = TexelFormat("BC1", 8, 4)
BC2 = TexelFormat("BC2", 16, 4)
BC3 = TexelFormat("BC3", 16, 4)
BC4 = TexelFormat("BC4", 8, 4)
BC5 = TexelFormat("BC5", 16, 4)
BC6H = TexelFormat("BC6H", 16, 4)
BC7 = TexelFormat("BC7", 16, 4)
