"""Texel formats: how many bytes a rectangle of texels takes in memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TexelFormat:
    """A format that stores texels in square blocks; uncompressed formats have blocks of one texel.

    Parameters
    ----------
    name : as in the Vulkan and DDS specifications.
    block_bytes : bytes per block.
    block_size : texels along one side of a block.
    """

    name: str
    block_bytes: int
    block_size: int = 1

    def bytes(self, height: int, width: int) -> int:
        """Bytes of ``height`` x ``width`` texels; incomplete blocks count in full."""
        return -(-height // self.block_size) * -(-width // self.block_size) * self.block_bytes


RGBA8 = TexelFormat("RGBA8", 4)
RGBA16F = TexelFormat("RGBA16F", 8)
BC1 = TexelFormat("BC1", 8, 4)
BC7 = TexelFormat("BC7", 16, 4)
