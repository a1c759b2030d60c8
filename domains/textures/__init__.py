"""Texture streaming: which mip levels and tiles are resident within a pool of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.lazy_exports import lazy_exports

# Exported lazily (PEP 562), as in hra itself: what is not used is not imported.
_EXPORTS = {
    "BC1": "hra.domains.textures.formats",
    "BC2": "hra.domains.textures.formats",
    "BC3": "hra.domains.textures.formats",
    "BC4": "hra.domains.textures.formats",
    "BC5": "hra.domains.textures.formats",
    "BC6H": "hra.domains.textures.formats",
    "BC7": "hra.domains.textures.formats",
    "R8": "hra.domains.textures.formats",
    "R16F": "hra.domains.textures.formats",
    "R32F": "hra.domains.textures.formats",
    "RGBA8": "hra.domains.textures.formats",
    "RGBA16F": "hra.domains.textures.formats",
    "RGBA32F": "hra.domains.textures.formats",
    "AnalyticFeedback": "hra.domains.textures.feedback.analytic",
    "BoundsFeedback": "hra.domains.textures.feedback.bounds",
    "DetailError": "hra.domains.textures.detail_error",
    "Feedback": "hra.domains.textures.feedback.feedback",
    "FeedbackSource": "hra.domains.textures.feedback.feedback",
    "GLFeedback": "hra.domains.textures.feedback.gl",
    "ImageSource": "hra.domains.textures.sources.opening",
    "MippedTexture": "hra.domains.textures.mipped",
    "ResidencyTrace": "hra.domains.textures.streaming",
    "ResidentTextures": "hra.domains.textures.resident",
    "SaliencyMap": "hra.domains.textures.feedback.weighted",
    "Scene": "hra.domains.textures.views.scene",
    "TexelError": "hra.domains.textures.metrics",
    "TexelFormat": "hra.domains.textures.formats",
    "TextureAllocator": "hra.domains.textures.allocator",
    "TexturePlan": "hra.domains.textures.planning",
    "TextureSet": "hra.domains.textures.texture_set",
    "TexturedPlane": "hra.domains.textures.views.scene",
    "TileCache": "hra.domains.textures.sources.tile_cache",
    "TiledTexture": "hra.domains.textures.tiles",
    "ViewQuality": "hra.domains.textures.views.quality",
    "WeightedFeedback": "hra.domains.textures.feedback.weighted",
    "constant_motion": "hra.domains.textures.views.prediction",
    "flip": "hra.images.flip",
    "flip_map": "hra.images.flip",
    "flyover": "hra.domains.textures.views.paths",
    "load_texels": "hra.domains.textures.sources.opening",
    "open_image": "hra.domains.textures.sources.opening",
    "plan": "hra.domains.textures.planning",
    "psnr": "hra.images.quality",
    "record": "hra.domains.textures.recording",
    "render": "hra.domains.textures.views.rendering",
    "replay": "hra.domains.textures.streaming",
    "texel_residual": "hra.domains.textures.planning",
    "uniform_bias": "hra.domains.textures.mip_bias",
    "view_quality": "hra.domains.textures.views.quality",
}

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
    "constant_motion",
    "flip",
    "flip_map",
    "flyover",
    "load_texels",
    "open_image",
    "plan",
    "psnr",
    "record",
    "render",
    "replay",
    "texel_residual",
    "uniform_bias",
    "view_quality",
]

if TYPE_CHECKING:
    from hra.domains.textures.allocator import TextureAllocator as TextureAllocator
    from hra.domains.textures.detail_error import DetailError as DetailError
    from hra.domains.textures.feedback.analytic import AnalyticFeedback as AnalyticFeedback
    from hra.domains.textures.feedback.bounds import BoundsFeedback as BoundsFeedback
    from hra.domains.textures.feedback.feedback import Feedback as Feedback
    from hra.domains.textures.feedback.feedback import FeedbackSource as FeedbackSource
    from hra.domains.textures.feedback.gl import GLFeedback as GLFeedback
    from hra.domains.textures.feedback.weighted import SaliencyMap as SaliencyMap
    from hra.domains.textures.feedback.weighted import WeightedFeedback as WeightedFeedback
    from hra.domains.textures.formats import BC1 as BC1
    from hra.domains.textures.formats import BC2 as BC2
    from hra.domains.textures.formats import BC3 as BC3
    from hra.domains.textures.formats import BC4 as BC4
    from hra.domains.textures.formats import BC5 as BC5
    from hra.domains.textures.formats import BC6H as BC6H
    from hra.domains.textures.formats import BC7 as BC7
    from hra.domains.textures.formats import R8 as R8
    from hra.domains.textures.formats import R16F as R16F
    from hra.domains.textures.formats import R32F as R32F
    from hra.domains.textures.formats import RGBA8 as RGBA8
    from hra.domains.textures.formats import RGBA16F as RGBA16F
    from hra.domains.textures.formats import RGBA32F as RGBA32F
    from hra.domains.textures.formats import TexelFormat as TexelFormat
    from hra.domains.textures.metrics import TexelError as TexelError
    from hra.domains.textures.mip_bias import uniform_bias as uniform_bias
    from hra.domains.textures.mipped import MippedTexture as MippedTexture
    from hra.domains.textures.planning import TexturePlan as TexturePlan
    from hra.domains.textures.planning import plan as plan
    from hra.domains.textures.planning import texel_residual as texel_residual
    from hra.domains.textures.recording import record as record
    from hra.domains.textures.resident import ResidentTextures as ResidentTextures
    from hra.domains.textures.sources.opening import ImageSource as ImageSource
    from hra.domains.textures.sources.opening import load_texels as load_texels
    from hra.domains.textures.sources.opening import open_image as open_image
    from hra.domains.textures.sources.tile_cache import TileCache as TileCache
    from hra.domains.textures.streaming import ResidencyTrace as ResidencyTrace
    from hra.domains.textures.streaming import replay as replay
    from hra.domains.textures.texture_set import TextureSet as TextureSet
    from hra.domains.textures.tiles import TiledTexture as TiledTexture
    from hra.domains.textures.views.paths import flyover as flyover
    from hra.domains.textures.views.prediction import constant_motion as constant_motion
    from hra.domains.textures.views.quality import ViewQuality as ViewQuality
    from hra.domains.textures.views.quality import view_quality as view_quality
    from hra.domains.textures.views.rendering import render as render
    from hra.domains.textures.views.scene import Scene as Scene
    from hra.domains.textures.views.scene import TexturedPlane as TexturedPlane
    from hra.images.flip import flip as flip
    from hra.images.flip import flip_map as flip_map
    from hra.images.quality import psnr as psnr

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
