"""Pyramids in an OpenGL buffer: the levels of a `Layout`, reduced and looked up by compute shaders.

A buffer and not the mip levels of a texture, because OpenGL rounds the sizes of mip levels down and the pyramids here
round them up; and because buffers are what CUDA can share without a copy.

`HardwareMipmaps` is the driver's own generator, for comparison: fast on a GPU, but it rounds sizes down and keeps no
means.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.backends import adopt, check_image, require_host
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reductions import Reduce, identity
from hra.kernels.pyramids.levels.reference import FINER
from hra.kernels.raster.buffers import Resource, download, groups, upload
from hra.kernels.raster.checks import image_size
from hra.kernels.raster.context import Context

if TYPE_CHECKING:
    import moderngl


def reduce_levels(context: Context, data: moderngl.Buffer, layout: Layout, dtype: np.dtype, reduce: Reduce) -> None:
    """Fill all levels of ``data`` behind level 0; the context is current, and ``layout`` is not empty."""
    is_bytes = dtype == np.uint8
    mean, blocks = int(reduce in ("mean", "block_mean")), int(reduce == "block_mean")
    flags = {"MEAN": mean, "BLOCKS": blocks, "SMALLEST": int(reduce == "min"), "BYTES": int(is_bytes)}
    shader = "reduce_bytes.comp" if is_bytes else "reduce.comp"
    data.bind_to_storage_buffer(0)
    for level, ((height, width), (below, beside)) in enumerate(pairwise(layout.sizes)):
        even = int(width % 2 == 0 and height % 2 == 0)
        program = context.program(shader, CHANNELS=layout.channels, EVEN=even, **flags)
        program["source_size"], program["target_size"] = (width, height), (beside, below)
        program["source_begin"], program["target_begin"], end = layout.offsets[level : level + 3]
        if is_bytes:
            program["target_end"] = end
            # Bytes are written four at a time, as the words of the buffer, which levels need not begin at.
            program.run(groups(end - layout.offsets[level + 1] + 3, 4 * 64))
        else:
            program["images"] = layout.images
            program.run(groups(beside * layout.channels, 64), groups(below, 4), groups(layout.images, 1))
        program.ctx.memory_barrier()


def rect_extremum(
    context: Context,
    data: moderngl.Buffer,
    layout: Layout,
    dtype: np.dtype,
    rects: np.ndarray,
    batch_index: np.ndarray | None,
    reduce: Reduce,
    against: np.ndarray | None = None,
) -> np.ndarray:
    """The extremum within each rectangle [K], as in `hra.kernels.rect_max`; the context is current."""
    nothing = np.array([identity(reduce, dtype)], dtype)
    if not (len(rects) and layout.size):
        return np.repeat(nothing, len(rects))
    program = context.program("rect_extremum.comp", BYTES=int(dtype == np.uint8), SMALLEST=int(reduce == "min"))
    gl = program.ctx
    index = np.zeros(1, np.int32) if batch_index is None else batch_index
    result = gl.buffer(reserve=4 * len(rects))
    compared = np.zeros(1, np.uint32) if against is None else _words(against)
    inputs = [upload(gl, array) for array in (level_shapes(layout), rects, index, compared)]
    for binding, buffer in enumerate([data, *inputs, result]):
        buffer.bind_to_storage_buffer(binding)
    program["count"] = len(rects)
    program["nothing"] = int(_words(nothing)[0])
    program["finer"] = 0 if against is None else FINER
    program.run(groups(len(rects), 64))
    gl.memory_barrier()
    words = download(result, np.uint32, len(rects))
    for buffer in [*inputs, result]:
        buffer.release()
    return words.view(dtype) if nothing.itemsize == 4 else words.astype(dtype)


def _words(values: np.ndarray) -> np.ndarray:
    """The bits of floats, or bytes as whole numbers."""
    return values.astype(np.uint32) if values.itemsize == 1 else np.ascontiguousarray(values).view(np.uint32)


def level_shapes(layout: Layout) -> np.ndarray:
    """Width, height and begin of each level as shaders/rect.glsl reads them, uint32 [L, 4]."""
    rows: list[Any] = [
        (width, height, begin, 0) for (height, width), begin in zip(layout.sizes, layout.offsets[:-1], strict=True)
    ]
    return np.array(rows, np.uint32)


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
