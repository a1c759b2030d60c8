"""Points as discs and Gaussians as blended footprints, drawn by OpenGL."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.raster.buffers import Resource, check_storage_size, upload
from hra.kernels.raster.checks import float_rows, image_size, index_rows, matrices
from hra.kernels.raster.context import Context
from hra.kernels.raster.target import DepthTexture, drawing, with_reversed_depth

_COLUMNS = 14  # position 3, colour 3, opacity, radius, factor of the covariance 6


class FootprintRenderer(Resource):
    """Draws some of the points or Gaussians that it holds; a frame uploads their numbers only.

    Parameters
    ----------
    context : where they are kept.
    size : (width, height) in pixels.
    positions : float [N, 3]. colors : float [N, 3], 0 .. 1.
    radii : float [N] of discs that face the viewer, drawn by a depth buffer; or None, and
    covariances, opacities : float [N, 6] (xx, xy, xz, yy, yz, zz) and [N] of Gaussians, blended in the order in which
        they are named.
    reversed_depth : of projections, as in `hra.kernels.raster.VisibilityBuffer`.

    Raises
    ------
    CameraError : a size that this driver cannot draw to. ArrayError : arrays of other shapes, or more than a shader of
        this driver can reach. BackendUnavailable : the context fails.

    Notes
    -----
    Gaussians as in B. Kerbl and others, 3D Gaussian Splatting for Real-Time Radiance Field Rendering (2023).
    """

    def __init__(
        self,
        context: Context,
        size: tuple[int, int],
        positions: Any,
        colors: Any,
        *,
        radii: Any = None,
        covariances: Any = None,
        opacities: Any = None,
        reversed_depth: bool = False,
    ) -> None:
        super().__init__(context)
        self.size, self.reversed_depth = image_size(context, size), bool(reversed_depth)
        self._discs = radii is not None
        rows = _rows(positions, colors, radii, covariances, opacities)
        # Places around their middle: world coordinates may be too large for float32.
        self._middle = rows[:, :3].mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(3)
        rows[:, :3] = np.asarray(positions, np.float64) - self._middle
        check_storage_size(context, rows.nbytes, "the cloud")
        self._count = len(rows)
        with context.use() as gl:
            self._rows = self.own(upload(gl, rows))
            self._image = self.own(gl.texture(self.size, 4, dtype="f4"))
            # Of floats, as what is far needs them: ModernGL's own are of whole numbers.
            self._depth = self.own(DepthTexture(context, self.size))
            self._framebuffer = self.own(gl.framebuffer([self._image]))
            self._depth.attach(self._framebuffer)
            self._program = context.program("footprints.vert", "footprints.frag", DISCS=int(self._discs))
            self._vertices = self.own(gl.vertex_array(self._program, []))
            self._fill = context.program("fill.vert", "fill.frag")
            self._behind = self.own(gl.vertex_array(self._fill, []))

    def draw(
        self, view: Any, projection: Any, chosen: Any, *, focal_pixels: float, near: float, background: float = 1.0
    ) -> None:
        """One frame.

        Parameters
        ----------
        view, projection : [4, 4], column vectors, as `hra.Camera` has them.
        chosen : int [K], which are drawn; Gaussians from the nearest to the farthest.
        focal_pixels : pixels that a length shows at as great a distance. near : what is nearer is left out.
        background : grey, 0 .. 1.

        Raises
        ------
        CameraError, ArrayError : other matrices or numbers. BackendUnavailable : the context fails.
        """
        order = index_rows("chosen", chosen, None, self._count)
        eye, clip = matrices("view", view), matrices("projection", projection)
        # In float32 depth of the other kind is 1 all over what lies far beyond the near plane.
        clip = clip if self.reversed_depth else with_reversed_depth(clip)
        moved = eye.copy()
        moved[:3, 3] += eye[:3, :3] @ self._middle
        uniforms = {"to_eye": moved.T, "projection": clip.T, "viewport": self.size, "focal": focal_pixels, "near": near}
        with self.context.use() as gl:
            for name, value in uniforms.items():
                if name in self._program:  # what one of the two kinds does not read is left out by the compiler
                    self._program[name].write(np.asarray(value, "f4").tobytes())
            self._framebuffer.clear()
            self.context.functions.clear_depth(self._framebuffer.glo, 0.0)
            self._fill["color"].value = background, background, background, 1.0
            numbers = upload(gl, order)
            try:
                self._rows.bind_to_storage_buffer(0)
                numbers.bind_to_storage_buffer(1)
                self._draw(gl, len(order))
            finally:
                numbers.release()

    def _draw(self, gl: Any, count: int) -> None:
        if self._discs and count:
            with drawing(self.context, gl, self._framebuffer, True, gl.DEPTH_TEST):
                self._vertices.render(gl.TRIANGLE_STRIP, vertices=4, instances=count)
        # Front to back: what comes next gets what is left of the light, and the background the rest.
        with drawing(self.context, gl, self._framebuffer, True, gl.BLEND):
            gl.blend_func = gl.ONE_MINUS_DST_ALPHA, gl.ONE
            if not self._discs and count:
                self._vertices.render(gl.TRIANGLE_STRIP, vertices=4, instances=count)
            self._behind.render(gl.TRIANGLES, vertices=3)
            gl.blend_func = gl.DEFAULT_BLENDING

    def copy_to(self, framebuffer: int) -> None:
        """Copy the last picture to a framebuffer of its size, such as 0, a window's, whose row 0 is at the bottom."""
        with self.context.use():
            self.context.functions.blit_upside_down(self._framebuffer.glo, framebuffer, self.size)

    def read(self) -> np.ndarray:
        """The last picture, copied to the host, float32 [H, W, 3]."""
        width, height = self.size
        found = np.empty((height, width, 4), np.float32)
        with self.context.use():
            self._framebuffer.read_into(found, components=4, dtype="f4")
        return np.ascontiguousarray(found[..., :3])


def _rows(positions: Any, colors: Any, radii: Any, covariances: Any, opacities: Any) -> np.ndarray:
    places = float_rows("positions", positions, 3)
    if (radii is None) == (covariances is None or opacities is None):
        raise ArrayError("either radii, or covariances and opacities", where="FootprintRenderer")
    rows = np.zeros((len(places), _COLUMNS), np.float32)
    rows[:, :3] = places
    parts = {"colors": (colors, slice(3, 6)), "opacities": (opacities, slice(6, 7)), "radii": (radii, slice(7, 8))}
    for name, (values, columns) in (parts | {"covariances": (covariances, slice(8, 14))}).items():
        if values is None:
            continue
        wide = columns.stop - columns.start
        found = float_rows(name, np.reshape(values, (-1, 1)) if wide == 1 else values, wide)
        if len(found) != len(places):
            raise ArrayError(f"{len(found)} rows for {len(places)} positions", where=f"argument {name}")
        rows[:, columns] = _factors(found) if name == "covariances" else found
    return rows


def _factors(covariances: np.ndarray) -> np.ndarray:
    """Lower triangles [N, 6] (xx, yx, zx, yy, zy, zz), times their transposes the ``covariances`` [N, 6].

    After A.-L. Cholesky. In float32, products of factors keep the width of what is thousands of times as long, those of
    covariances do not. What roundings leave below 0 counts as 0.
    """
    xx, xy, xz, yy, yz, zz = np.asarray(covariances, np.float64).T
    a = np.sqrt(xx)
    b, c = _shares(xy, a), _shares(xz, a)
    d, left = np.sqrt(np.maximum(yy - b * b, 0)), np.maximum(zz - c * c, 0)
    e = np.clip(_shares(yz - b * c, d), -np.sqrt(left), np.sqrt(left))
    return np.stack([a, b, c, d, e, np.sqrt(np.maximum(left - e * e, 0))], axis=1)


def _shares(values: np.ndarray, of: np.ndarray) -> np.ndarray:
    """``values`` / ``of``, 0 where that is 0."""
    return np.divide(values, of, out=np.zeros_like(values), where=of > 0)
