"""Hi-Z: a pyramid over a depth buffer that never leaves the GPU, for occlusion culling."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.backends import adopt, check_int32, require_host
from hra.kernels.pyramids.levels.pyramid import Layout, Pyramid
from hra.kernels.pyramids.levels.reductions import Reduce
from hra.kernels.raster.buffers import Resource, check_storage_size, download, groups
from hra.kernels.raster.levels import rect_extremum, reduce_levels
from hra.kernels.raster.target import Target


class HiZ(Resource):
    """The farthest depth of ever coarser pixels: maxima of standard depth, minima of reversed depth.

    Its levels are those of `hra.kernels.build_pyramid`, each ceil(n / 2) pixels high and wide, in one storage buffer.

    Parameters
    ----------
    target : the buffer whose depth it summarises, in the same context.

    Raises
    ------
    ArrayError : it is larger than a shader of this driver can reach.
    BackendUnavailable : the context fails, see :class:`Context`.

    Attributes
    ----------
    buffer : the levels as float32, for shaders and for CUDA; layout : where they lie in it; reduce : "max" or "min".

    Notes
    -----
    Greene, Kass and Miller, Hierarchical Z-Buffer Visibility, SIGGRAPH 1993.
    """

    def __init__(self, target: Target) -> None:
        super().__init__(target.context)
        width, height = target.size
        self._target = target
        self.layout = Layout.of((height, width, 1), None)
        self.reduce: Reduce = "min" if target.reversed_depth else "max"
        check_storage_size(self.context, 4 * self.layout.size, "the depth pyramid")
        with self.context.use() as gl:
            self.buffer = self.own(gl.buffer(reserve=4 * self.layout.size))

    def build(self) -> None:
        """Overwrite the pyramid with that of the target's present depth."""
        width, height = self._target.size
        with self.context.use() as gl:
            program = self.context.program("copy_depth.comp")
            self._target.depth.use(0)
            self.buffer.bind_to_storage_buffer(0)
            program.run(groups(width, 64), groups(height, 4))
            # What the shader wrote must be visible to those that reduce it.
            gl.memory_barrier()
            reduce_levels(self.context, self.buffer, self.layout, np.dtype(np.float32), self.reduce)

    def rect_extremum(self, rects: Any) -> np.ndarray:
        """The farthest depth within each rectangle, as `hra.kernels.rect_max` (`rect_min` for reversed depth) tells it.

        An object that is nearer nowhere than this, by one depth quantum or more, is hidden.

        Parameters
        ----------
        rects : [K, 4] int32, inclusive pixel coordinates x0, y0, x1, y1, row 0 at the top.

        Returns
        -------
        float32 [K], on the host; -inf (inf for reversed depth) for a rectangle without pixels.

        Raises
        ------
        ArrayError : another shape or type.
        BackendUnavailable : the context fails.
        """
        corners = require_host(adopt(rects, "rects"), "gl")
        check_int32(corners, "rects", (None, 4))
        with self.context.use():
            dtype = np.dtype(np.float32)
            return rect_extremum(self.context, self.buffer, self.layout, dtype, corners, None, self.reduce)

    def pyramid(self) -> Pyramid:
        """The pyramid, copied to the host."""
        with self.context.use():
            return Pyramid(download(self.buffer, np.float32, self.layout.size), self.layout, self.reduce)
