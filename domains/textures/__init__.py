"""Texture streaming: which mip levels and tiles are resident within a pool of bytes."""

from __future__ import annotations

from hra.domains.textures.allocator import TextureAllocator
from hra.domains.textures.analytic_feedback import AnalyticFeedback
from hra.domains.textures.bounds_feedback import BoundsFeedback
from hra.domains.textures.detail_error import DetailError
from hra.domains.textures.feedback import Feedback, FeedbackSource
from hra.domains.textures.formats import (
    BC1,
    BC2,
    BC3,
    BC4,
    BC5,
    BC6H,
    BC7,
    R8,
    R16F,
    R32F,
    RGBA8,
    RGBA16F,
    RGBA32F,
    TexelFormat,
)
from hra.domains.textures.gl_feedback import GLFeedback
from hra.domains.textures.metrics import TexelError
from hra.domains.textures.mip_bias import uniform_bias
from hra.domains.textures.mipped import MippedTexture
from hra.domains.textures.paths import flyover
from hra.domains.textures.plan import TexturePlan, plan, texel_residual
from hra.domains.textures.render import render
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.sources import ImageSource, load_texels, open_image
from hra.domains.textures.streaming import ResidencyTrace, replay
from hra.domains.textures.surface import Scene, TexturedPlane
from hra.domains.textures.texture_set import TextureSet
from hra.domains.textures.tile_cache import TileCache
from hra.domains.textures.tiles import TiledTexture
from hra.domains.textures.view_quality import ViewQuality, view_quality
from hra.domains.textures.weighted_feedback import SaliencyMap, WeightedFeedback
from hra.flip import flip, flip_map
from hra.image_quality import psnr

__all__ = [
    "BC1",
    "BC2",
    "BC3",
    "BC4",
    "BC5",
    "BC6H",
    "BC7",
    "R8",
    "R16F",
    "R32F",
    "RGBA8",
    "RGBA16F",
    "RGBA32F",
    "AnalyticFeedback",
    "BoundsFeedback",
    "DetailError",
    "Feedback",
    "FeedbackSource",
    "GLFeedback",
    "ImageSource",
    "MippedTexture",
    "ResidencyTrace",
    "ResidentTextures",
    "SaliencyMap",
    "Scene",
    "TexelError",
    "TexelFormat",
    "TextureAllocator",
    "TexturePlan",
    "TextureSet",
    "TexturedPlane",
    "TileCache",
    "TiledTexture",
    "ViewQuality",
    "WeightedFeedback",
    "flip",
    "flip_map",
    "flyover",
    "load_texels",
    "open_image",
    "plan",
    "psnr",
    "render",
    "replay",
    "texel_residual",
    "uniform_bias",
    "view_quality",
]
