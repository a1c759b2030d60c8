"""Texture streaming: which mip levels and tiles are resident within a pool of bytes."""

from __future__ import annotations

from hra.domains.textures.allocator import TextureAllocator
from hra.domains.textures.feedback import Feedback, FeedbackSource
from hra.domains.textures.formats import BC1, BC7, RGBA8, RGBA16F, TexelFormat
from hra.domains.textures.metrics import TexelError
from hra.domains.textures.mipped import MippedTexture
from hra.domains.textures.paths import flyover
from hra.domains.textures.raycast import AnalyticFeedback
from hra.domains.textures.render import render
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.streaming import ResidencyTrace, replay
from hra.domains.textures.surface import Scene, TexturedPlane
from hra.domains.textures.texture_set import TextureSet
from hra.domains.textures.tiles import TiledTexture
from hra.image_quality import psnr

__all__ = [
    "BC1",
    "BC7",
    "RGBA8",
    "RGBA16F",
    "AnalyticFeedback",
    "Feedback",
    "FeedbackSource",
    "MippedTexture",
    "ResidencyTrace",
    "ResidentTextures",
    "Scene",
    "TexelError",
    "TexelFormat",
    "TextureAllocator",
    "TextureSet",
    "TexturedPlane",
    "TiledTexture",
    "flyover",
    "psnr",
    "render",
    "replay",
]
