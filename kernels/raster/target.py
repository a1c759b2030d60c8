"""What is drawn to: an image of unsigned integers and a depth image of 32-bit floats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import ArrayError, CameraError
from hra.kernels.raster import functions
from hra.kernels.raster.buffers import Resource
from hra.kernels.raster.checks import image_size, matrices
from hra.kernels.raster.context import Context
from hra.kernels.raster.draws import EMPTY, DrawList

if TYPE_CHECKING:
    import moderngl


class Target(Resource):
    """Two textures of one size, row 0 at the top of the view; both are kept on the GPU from call to call.

    Parameters
    ----------
    context : where they are kept.
    size : (width, height) in pixels, as `hra.Camera.viewport`.
    channels : of the integer image, 1, 2 or 4.
    reversed_depth : depth falls with the distance, from 1 (near) to 0 (far), and clip space holds it in [0, w]; else it
        grows from 0 to 1, and clip space holds it in [-w, w]: as `hra.Camera` does.

    Raises
    ------
    CameraError : a size without pixels, or beyond the driver's limit.
    BackendUnavailable : the context fails, see :class:`Context`.

    Attributes
    ----------
    image : the integer texture; depth : the depth texture (one float, to be sampled).
    """

    def __init__(self, context: Context, size: tuple[int, int], channels: int, reversed_depth: bool) -> None:
        super().__init__(context)
        self.size = image_size(context, size)
        self.reversed_depth = bool(reversed_depth)
        with context.use() as gl:
            self.image = self.own(gl.texture(self.size, channels, dtype="u4"))
            self.depth = self.own(DepthTexture(context, self.size))
            self._framebuffer = self.own(gl.framebuffer([self.image]))
            self.depth.attach(self._framebuffer)
            self._clear()

    def clear(self) -> None:
        """Empty both images: nothing drawn, infinitely far away."""
        with self.context.use():
            self._clear()

    def _draw(self, program: Any, draws: DrawList, view_projection: Any, where: Any) -> None:
        """Add ``draws`` to the images; the context is current."""
        matrix, selected = matrices("view_projection", view_projection), draws.check_where(where)
        if matrix.ndim != 2:
            raise CameraError("one matrix [4, 4] is needed", where="argument view_projection")
        if draws.context is not self.context:
            raise ArrayError("the draws were made in another context", where="argument draws")
        with self.drawing(program.ctx):
            draws.render(program, matrix, selected)

    def _read_depth(self) -> np.ndarray:
        """The depth image, float32 [H, W]; the context is current."""
        return self._read(-1, 1, "f4")

    def _read_image(self) -> np.ndarray:
        """The integer image, uint32 [H, W, channels]; the context is current."""
        return self._read(0, self.image.components, "u4")

    def _read(self, attachment: int, channels: int, dtype: str) -> np.ndarray:
        width, height = self.size
        result = np.empty((height, width, channels) if attachment == 0 else (height, width), dtype)
        self._framebuffer.read_into(result, components=channels, attachment=attachment, dtype=dtype)
        return result

    def _clear(self) -> None:
        self.context.functions.clear_integers(self._framebuffer.glo, EMPTY)
        self.context.functions.clear_depth(self._framebuffer.glo, 0.0 if self.reversed_depth else 1.0)

    @contextmanager
    def drawing(self, gl: moderngl.Context, *, depth: bool = True) -> Iterator[None]:
        """Draw to the images, with or without a test of depth; the context is current, its state is put back."""
        flags = gl.DEPTH_TEST if depth else gl.NOTHING
        with drawing(self.context, gl, self._framebuffer, self.reversed_depth, flags):
            yield


def with_reversed_depth(matrix: np.ndarray) -> np.ndarray:
    """A matrix [4, 4] to clip space with z in [-w, w] from near to far, as one with z in [0, w] from far to near."""
    found = matrix.copy()
    found[2] = (matrix[3] - matrix[2]) / 2
    return found


@contextmanager
def drawing(context: Context, gl: Any, framebuffer: Any, reversed_depth: bool, flags: int) -> Iterator[None]:
    """Draw to a framebuffer with row 0 at the top; the context is current, its state is put back."""
    state = context.functions
    names = (functions.DEPTH_FUNC, functions.CLIP_ORIGIN, functions.CLIP_DEPTH_MODE)
    depth_func, *clip_control = (state.integer(name) for name in names)
    range_of_depth = functions.ZERO_TO_ONE if reversed_depth else functions.NEGATIVE_ONE_TO_ONE
    with gl.scope(framebuffer, flags):
        state.DepthFunc(functions.GREATER if reversed_depth else functions.LESS)
        state.ClipControl(functions.UPPER_LEFT, range_of_depth)
        try:
            yield
        finally:
            state.DepthFunc(depth_func)
            state.ClipControl(*clip_control)


class DepthTexture:
    """A depth texture of 32-bit floats, which ModernGL can sample but not make."""

    def __init__(self, context: Context, size: tuple[int, int]) -> None:
        self._functions = context.functions
        self.name = context.functions.depth_texture(*size)
        self._view = context.external_texture(self.name, size)

    def attach(self, framebuffer: Any) -> None:
        """Let draws to a framebuffer of ModernGL test against it and write to it; the context is current."""
        self._functions.NamedFramebufferTexture(framebuffer.glo, functions.DEPTH_ATTACHMENT, self.name, 0)
        framebuffer.depth_mask = True  # off, because ModernGL does not know of the depth texture

    def use(self, location: int) -> None:
        """Bind it to a texture unit."""
        self._view.use(location)

    def release(self) -> None:
        """Delete it."""
        self._functions.delete_texture(self.name)
