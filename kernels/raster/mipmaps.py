"""The driver's own mipmap generator, for comparison: fast on a GPU, but it rounds sizes down and means are not kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.arrays import adopt, check_image, require_host
from hra.kernels.raster.checks import image_size
from hra.kernels.raster.context import Context
from hra.kernels.raster.resource import Resource


class HardwareMipmaps(Resource):
    """A texture whose mip levels ``glGenerateMipmap`` makes.

    Each level is floor(n / 2) texels high and wide, at least 1. How texels are averaged is the driver's choice; at odd
    sizes Mesa gives [0, 25] for [0, 0, 0, 0, 100]. `hra.kernels.build_pyramid` keeps the mean at every size.

    Parameters
    ----------
    context : where it is kept.
    image : [H, W, C] float32 or uint8 with 1 to 4 channels, copied to the GPU.

    Raises
    ------
    ArrayError : another shape or type.
    CameraError : a size without pixels, or beyond the driver's limit.
    BackendUnavailable : the context fails, see :class:`Context`.

    Attributes
    ----------
    texture : with all its levels once `build` was called.
    """

    def __init__(self, context: Context, image: Any) -> None:
        super().__init__(context)
        pixels = require_host(adopt(image, "image"), "gl")
        check_image(pixels)
        if pixels.ndim != 3 or not 1 <= pixels.shape[2] <= 4:
            raise ArrayError(f"shape {list(pixels.shape)} is not [H, W, 1 to 4]", where="argument image")
        self._size = image_size(context, (pixels.shape[1], pixels.shape[0]))
        self._dtype = pixels.dtype
        kind = "f1" if pixels.dtype == np.uint8 else "f4"
        with context.use() as gl:
            self.texture = self.own(
                gl.texture(self._size, pixels.shape[2], np.ascontiguousarray(pixels), alignment=1, dtype=kind)
            )

    def build(self) -> None:
        """Generate all levels, and wait until they are done."""
        with self.context.use() as gl:
            self.texture.build_mipmaps()
            gl.finish()

    def read(self) -> tuple[np.ndarray, ...]:
        """The levels [h, w, C], finest first, copied to the host."""
        width, height = self._size
        with self.context.use():
            return tuple(
                np.frombuffer(self.texture.read(level=level, alignment=1), self._dtype).reshape(
                    max(1, height >> level), max(1, width >> level), self.texture.components
                )
                for level in range(max(width, height).bit_length())
            )
