"""Texture feedback buffer: which tile of which mip level every pixel of a view wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.raster.buffers import check_storage_size, download, groups, upload
from hra.kernels.raster.context import Context
from hra.kernels.raster.draws import EMPTY, DrawList
from hra.kernels.raster.target import Target
from hra.kernels.raster.textures import TextureTable

if TYPE_CHECKING:
    import moderngl


@dataclass(frozen=True, eq=False)
class FeedbackImage:
    """A feedback buffer on the host, row 0 at the top; all but ``texture`` mean nothing where nothing was drawn.

    Attributes
    ----------
    texture : uint32 [H, W], `EMPTY` where nothing was drawn.
    footprint : float32 [H, W], texels of level 0 across one pixel along its longer axis, at least 1.
    level : int32 [H, W], the finer of the two levels that trilinear filtering reads, floor(log2(footprint)), but no
        coarser than the texture's mip tail.
    finest_tile : int32 [H, W, 2], column and row of the pixel's tile at level 0.
    """

    texture: np.ndarray
    footprint: np.ndarray
    level: np.ndarray
    finest_tile: np.ndarray

    @property
    def tile(self) -> np.ndarray:
        """Column and row of the wanted tile at `level`, int32 [H, W, 2]."""
        return self.finest_tile >> self.level[..., None]


@dataclass(frozen=True, eq=False)
class TileRequests:
    """Each wanted tile once, ordered by texture, level, row and column.

    Attributes
    ----------
    texture, level, x, y : int64 [n]; x and y are the column and the row of the tile.
    pixels : int64 [n], pixels that want the tile.
    """

    texture: np.ndarray
    level: np.ndarray
    x: np.ndarray
    y: np.ndarray
    pixels: np.ndarray


class FeedbackBuffer(Target):
    """Draws textured triangles into a feedback buffer; what it holds stays until it is cleared.

    The footprint is the larger of the two screen axes' derivatives (OpenGL 4.6, section 8.14.1), taken of 1/w and uv/w,
    which makes it exact up to the rounding of float32: within 0.1 % of ray casting. Textures repeat outside 0 .. 1.

    Parameters, errors and attributes as in :class:`Target`, the image having four channels: texture, the bits of the
    footprint, column and row of the finest tile.

    Parameters
    ----------
    textures : what the numbers of the draws stand for.
    """

    def __init__(
        self, context: Context, size: tuple[int, int], textures: TextureTable, reversed_depth: bool = False
    ) -> None:
        super().__init__(context, size, 4, reversed_depth)
        self.textures = textures
        tiles = int(textures.first_tile[-1])
        check_storage_size(context, 8 * (tiles + 1), "the list of tiles")
        table = textures.first_level[:-1], textures.tail
        levels = textures.first_tile[:-1], textures.grids[:, 0]
        with context.use() as gl:
            self._sizes = self.own(upload(gl, textures.sizes.astype(np.float32)))
            self._table = self.own(upload(gl, np.stack(table, axis=1).astype(np.uint32)))
            self._levels = self.own(upload(gl, np.stack(levels, axis=1).astype(np.uint32)))
            self._counts = self.own(gl.buffer(reserve=4 * (tiles + 1)))
            self._found = self.own(gl.buffer(reserve=8 * (tiles + 1)))

    def draw(self, draws: DrawList, view_projection: Any, where: Any = None) -> None:
        """Add draws to the buffer; parameters and errors as in `VisibilityBuffer.draw`.

        Raises
        ------
        ArrayError : no texture coordinates, or a number that stands for no texture.
        """
        if not draws.has_uv:
            raise ArrayError("there are no texture coordinates", where="argument draws", fix="DrawList(..., uv=uv)")
        if len(draws) and draws.ids.max() >= len(self.textures):
            what = f"draw {int(draws.ids.argmax())} names texture {draws.ids.max()} of {len(self.textures)}"
            raise ArrayError(what, where="argument draws")
        with self.context.use():
            program = self.context.program("draws.vert", "feedback.frag", TEXTURED=1)
            program["tile"] = self.textures.tile
            self._sizes.bind_to_storage_buffer(2)
            self._draw(program, draws, view_projection, where)

    def read(self) -> FeedbackImage:
        """The buffer, copied to the host, when all draws are done."""
        with self.context.use():
            image = self._read_image()
        texture, footprint = image[..., 0], np.where(image[..., 0] == EMPTY, 0x3F800000, image[..., 1])
        table = np.append(self.textures.tail, 0)  # for pixels without a texture
        tail = table[np.minimum(texture, len(self.textures))]
        # The exponent of the float32 is floor(log2), exactly; footprints are at least 1, so that there is no sign or
        # subnormal.
        level = np.minimum((footprint >> 23).astype(np.int64) - 127, tail).astype(np.int32)
        return FeedbackImage(texture, footprint.view(np.float32), level, image[..., 2:].astype(np.int32))

    def requests(self) -> TileRequests:
        """The wanted tiles, counted on the GPU: only those that are wanted are copied to the host."""
        with self.context.use() as gl:
            self._count(gl)
            found = self._compact(gl)
        found = found[np.argsort(found[:, 0])].astype(np.int64)
        table = self.textures
        # Tiles are numbered through all levels of all textures: the last level that begins at or before a number holds
        # it.
        row = np.searchsorted(table.first_tile, found[:, 0], side="right") - 1
        texture = np.searchsorted(table.first_level, row, side="right") - 1
        y, x = np.divmod(found[:, 0] - table.first_tile[row], table.grids[row, 0])
        return TileRequests(texture, table.level[row], x, y, found[:, 1])

    def _count(self, gl: moderngl.Context) -> None:
        width, height = self.size
        self._counts.clear()
        self.image.use(0)
        for binding, buffer in enumerate([self._counts, self._table, self._levels]):
            buffer.bind_to_storage_buffer(binding)
        self.context.program("count_tiles.comp").run(groups(width, 16), groups(height, 16))
        gl.memory_barrier()

    def _compact(self, gl: moderngl.Context) -> np.ndarray:
        tiles = int(self.textures.first_tile[-1])
        if not tiles:
            return np.zeros((0, 2), np.uint32)
        program = self.context.program("compact.comp")
        program["tiles"] = tiles
        self._found.clear(8)
        self._counts.bind_to_storage_buffer(0)
        self._found.bind_to_storage_buffer(1)
        program.run(groups(tiles, 64))
        gl.memory_barrier()
        count = int(download(self._found, np.uint32, 1)[0])
        return download(self._found, np.uint32, 2 * (count + 1))[2:].reshape(-1, 2)
