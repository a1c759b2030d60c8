"""Drawing with OpenGL, with or without a window: visibility and feedback buffers, Hi-Z, mipmaps, sharing with CUDA.

Everything that needs an OpenGL context belongs here, with its shaders; code without one is in the packages beside it.

>>> import numpy as np
>>> from hra.kernels import raster
>>> with raster.Context() as context:  # doctest: +SKIP
...     draws = raster.DrawList(context, vertices, triangles, ranges=clusters)
...     buffer = raster.VisibilityBuffer(context, camera.viewport, camera.reversed_depth)
...     buffer.draw(draws, camera.projection @ camera.view)
...     cluster_of_pixel = buffer.read().ids

Needs the extra ``gl`` (ModernGL) and a driver with OpenGL 4.5; Mesa's software renderer is one.
"""

from __future__ import annotations

from hra.kernels.raster.context import Context
from hra.kernels.raster.draws import EMPTY, DrawList
from hra.kernels.raster.feedback import FeedbackBuffer, FeedbackImage, TileRequests
from hra.kernels.raster.footprints import FootprintRenderer
from hra.kernels.raster.hiz import HiZ
from hra.kernels.raster.interop import warp_array
from hra.kernels.raster.levels import HardwareMipmaps
from hra.kernels.raster.overlap import Fence, overlap
from hra.kernels.raster.textures import TextureTable
from hra.kernels.raster.visibility import VisibilityBuffer, VisibilityImage

__all__ = [
    "EMPTY",
    "Context",
    "DrawList",
    "FeedbackBuffer",
    "FeedbackImage",
    "Fence",
    "FootprintRenderer",
    "HardwareMipmaps",
    "HiZ",
    "TextureTable",
    "TileRequests",
    "VisibilityBuffer",
    "VisibilityImage",
    "overlap",
    "warp_array",
]
