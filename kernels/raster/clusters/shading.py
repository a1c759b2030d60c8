"""Colours from a visibility buffer: materials under a lamp at the eye, a colour for each cluster, or overdraw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.kernels.pyramids.levels.pyramid import build_pyramid
from hra.kernels.raster.buffers import Resource, check_storage_size, groups, upload
from hra.kernels.raster.clusters.renderer import ClusterRenderer

_MATERIAL = np.dtype(
    [("color", "<f4", 4), ("first_level", "<u4"), ("levels", "<u4"), ("wrap_u", "<u4"), ("wrap_v", "<u4")]
)
REPEAT = 10497
"""The number that glTF has for textures that repeat."""


@dataclass(frozen=True, eq=False)
class SurfaceColor:
    """What a material's surface looks like.

    Attributes
    ----------
    color : linear RGBA, multiplies the texture; texture : uint8 [H, W, 3], sRGB, or None.
    wrap : how the texture goes on beyond its sides, across and down, as glTF numbers it.
    """

    color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    texture: np.ndarray | None = None
    wrap: tuple[int, int] = (REPEAT, REPEAT)


class Shading(Resource):
    """Makes pictures of what a renderer's buffer shows.

    Parameters
    ----------
    renderer : whose buffer.
    materials : of each of the store's meshes, as many as its vertices name.

    Raises
    ------
    ArrayError : the textures are more than a shader can reach.
    BackendUnavailable : the context fails.

    Attributes
    ----------
    picture : the texture that holds the last picture, row 0 at the top.
    """

    def __init__(self, renderer: ClusterRenderer, materials: Sequence[Sequence[SurfaceColor]]) -> None:
        super().__init__(renderer.context)
        self._renderer = renderer
        _number_materials(renderer, materials)
        rows, levels, texels = _tables([one for mesh in materials for one in mesh])
        check_storage_size(self.context, texels.nbytes, "the textures")
        clusters = int(renderer.cuts.store.first_cluster[-1])
        with self.context.use() as gl:
            self._materials, self._levels, self._texels = (self.own(upload(gl, one)) for one in (rows, levels, texels))
            self._palette = self.own(gl.buffer(reserve=4 * clusters))
            self.picture = self.own(gl.texture(renderer.target.size, 4, dtype="f1"))
            self._colors = self.own(gl.framebuffer([self.picture]))
            self._counts = self.own(gl.texture(renderer.target.size, 1, dtype="u4"))
            program = self.context.program("clusters.vert", "overdraw.frag")
            self._counting = self.own(gl.vertex_array(program, []))
            self._frame = self.own(gl.framebuffer([self._counts]))

    def color_clusters(self, colors: np.ndarray) -> None:
        """Colours uint8 [N, 3] of all clusters of the store, in its order, for `by_cluster`."""
        rgba = np.concatenate([colors, np.full((len(colors), 1), 255, np.uint8)], axis=1)
        with self.context.use():
            self._palette.write(np.ascontiguousarray(rgba, np.uint8))

    def by_material(self, eye: Any, background: tuple[float, float, float]) -> None:
        """Materials, textures and vertex colours under a lamp at ``eye`` [3]."""
        self._shade(eye, background, 0)

    def by_cluster(self, eye: Any, background: tuple[float, float, float]) -> None:
        """The colours of `color_clusters`, lit."""
        self._shade(eye, background, 1)

    def overdraw(self) -> None:
        """How often the last frame drew each pixel, from black to white at eight times."""
        with self.context.use() as gl:
            self.context.functions.clear_integers(self._frame.glo, 0)
            self._counts.bind_to_image(0, read=True, write=True)
            self._renderer.draw_lists(self._counting)
            gl.memory_barrier()
            program = self.context.program("shade_overdraw.comp")
            self._counts.use(0)
            self._run(program)

    def read(self) -> np.ndarray:
        """The last picture, copied to the host, uint8 [H, W, 3]."""
        width, height = self._renderer.target.size
        with self.context.use():
            pixels = np.frombuffer(self.picture.read(), np.uint8).reshape(height, width, 4)
        return np.ascontiguousarray(pixels[..., :3])

    def copy_to(self, framebuffer: int) -> None:
        """Copy the last picture to a framebuffer of its size, such as 0, a window's, whose row 0 is at the bottom."""
        with self.context.use():
            self.context.functions.blit_upside_down(self._colors.glo, framebuffer, self._renderer.target.size)

    def _shade(self, eye: Any, background: tuple[float, float, float], palette: int) -> None:
        with self.context.use():
            program = self.context.program("shade_clusters.comp", PALETTE=palette)
            self._renderer.bind()
            held = self._renderer.cuts.placements, self._palette, self._materials, self._levels, self._texels
            for binding, buffer in enumerate(held, 7):
                buffer.bind_to_storage_buffer(binding)
            self._renderer.target.image.use(0)
            program["eye"], program["background"] = tuple(map(float, eye)), background
            self._run(program)

    def _run(self, program: Any) -> None:
        width, height = self._renderer.target.size
        self.picture.bind_to_image(0, read=False, write=True)
        program.run(groups(width, 8), groups(height, 8))
        program.ctx.memory_barrier()


def _number_materials(renderer: ClusterRenderer, materials: Sequence[Sequence[SurfaceColor]]) -> None:
    """Tell the table of meshes where the materials of each begin."""
    begins = np.cumsum([0, *(len(mesh) for mesh in materials)])[:-1]
    renderer.cuts.store.set_first_materials(begins)


def _tables(materials: Sequence[SurfaceColor]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the materials, of the levels of their textures, and all texels as words."""
    rows, levels, words = np.zeros(len(materials), _MATERIAL), [], []
    used = 0
    for row, material in zip(rows, materials, strict=True):
        row["color"], row["first_level"] = material.color, len(levels)
        row["wrap_u"], row["wrap_v"] = material.wrap
        if material.texture is None:
            continue
        own = _mip_levels(material.texture)
        row["levels"] = len(own)
        for image in own:
            height, width = image.shape
            levels.append((width, height, used, 0))
            words.append(image.ravel())
            used += image.size
    texels = np.concatenate([np.empty(0, np.uint32), *words])
    return rows, np.array(levels, np.uint32).reshape(-1, 4), texels


def _mip_levels(texture: np.ndarray) -> list[np.ndarray]:
    """All levels as words of RGBA, uint32 [h, w]; means are those of linear light."""
    linear = _to_linear(texture.astype(np.float32) / 255)
    pyramid = build_pyramid(linear, "mean")
    images = [np.asarray(level) for level in pyramid.levels]
    return [_words(image) for image in images]


def _words(linear: np.ndarray) -> np.ndarray:
    image = np.round(255 * _to_srgb(np.clip(linear, 0, 1))).astype(np.uint8)
    opaque = np.full((*image.shape[:2], 1), 255, np.uint8)
    return np.ascontiguousarray(np.concatenate([image, opaque], axis=2)).view(np.uint32)[..., 0]


def _to_linear(color: np.ndarray) -> np.ndarray:
    return np.where(color > 0.04045, ((color + 0.055) / 1.055) ** 2.4, color / 12.92).astype(np.float32)


def _to_srgb(color: np.ndarray) -> np.ndarray:
    return np.where(color > 0.0031308, 1.055 * color ** (1 / 2.4) - 0.055, 12.92 * color)
