"""Parts of one vertex and one index buffer, drawn by a single multi-draw-indirect call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.raster.buffers import Resource, upload
from hra.kernels.raster.checks import float_rows, index_rows, mask, matrices
from hra.kernels.raster.context import Context

if TYPE_CHECKING:
    import moderngl

EMPTY = 0xFFFFFFFF
"""What integer images hold where nothing was drawn; no draw may have it as its number."""


class DrawList(Resource):
    """Triangles on the GPU, and which runs of them are drawn where and under which number.

    Parameters
    ----------
    context : where they are kept.
    vertices : float [V, 3].
    triangles : whole numbers [T, 3], rows of ``vertices``.
    ranges : whole numbers [D, 2], first and past-the-last row of ``triangles`` of each draw; runs may overlap, and be
        drawn several times (instances). None is one draw of everything.
    ids : uint32 [D] below 0xFFFFFFFF, what the draw writes to each pixel: the cluster, instance or texture. None counts
        the draws.
    transforms : [4, 4] or [D, 4, 4], from the vertices to the world, column vectors; None if they are in the world.
    uv : float [V, 2], texture coordinates: (0, 0) is the corner of the first texel of the first row. Only feedback
        needs them.

    Raises
    ------
    ArrayError, CameraError : another shape or type, an index out of range, numbers that are not finite.
    BackendUnavailable : the context fails, see :class:`Context`.
    """

    def __init__(
        self,
        context: Context,
        vertices: Any,
        triangles: Any,
        *,
        ranges: Any = None,
        ids: Any = None,
        transforms: Any = None,
        uv: Any = None,
    ) -> None:
        super().__init__(context)
        positions = float_rows("vertices", vertices, 3)
        rows = index_rows("triangles", triangles, 3, len(positions))
        self.ranges = _checked_ranges(ranges, len(rows))
        self.ids = np.arange(len(self)) if ids is None else index_rows("ids", ids, None, EMPTY)
        self.transforms = matrices("transforms", np.eye(4) if transforms is None else transforms)
        coordinates = None if uv is None else float_rows("uv", uv, 2)
        _check_lengths(len(self), self.ids, self.transforms)
        if coordinates is not None and len(coordinates) != len(positions):
            raise ArrayError(f"{len(coordinates)} rows for {len(positions)} vertices", where="argument uv")
        self._vertex_arrays: dict[Any, moderngl.VertexArray] = {}
        with context.use() as gl:
            self._indices = self.own(upload(gl, rows))
            self._positions = self.own(upload(gl, positions))
            self._uv = None if coordinates is None else self.own(upload(gl, coordinates))
            self._numbers = self.own(upload(gl, np.arange(len(self), dtype=np.uint32)))
            self._draws = self.own(upload(gl, np.stack([self.ids, self.ranges[:, 0]], axis=1).astype(np.uint32)))

    def __len__(self) -> int:
        return len(self.ranges)

    @property
    def has_uv(self) -> bool:
        """Whether there are texture coordinates."""
        return self._uv is not None

    def check_where(self, where: Any) -> np.ndarray:
        """Which draws a mask [D] (None: all) selects; :class:`ArrayError` for another mask."""
        return np.arange(len(self)) if where is None else np.nonzero(mask("where", where, len(self)))[0]

    def render(self, program: Any, view_projection: np.ndarray, selected: np.ndarray) -> None:
        """Draw the ``selected`` draws with ``program`` into the current framebuffer; the context is current."""
        if not (len(selected) and self._indices.size >= 12):
            return
        to_clip = upload(program.ctx, (view_projection @ self.transforms).astype(np.float32))
        commands = upload(program.ctx, self._commands(selected))
        to_clip.bind_to_storage_buffer(0)
        self._draws.bind_to_storage_buffer(1)
        self._vertex_array(program).render_indirect(commands, count=len(selected))
        to_clip.release()
        commands.release()

    def _commands(self, selected: np.ndarray) -> np.ndarray:
        """Indirect commands of 20 bytes: indices, instances, first index, base vertex, base instance."""
        begin, end = self.ranges[selected].T
        commands = np.zeros((len(selected), 5), np.uint32)
        commands[:, 0], commands[:, 1], commands[:, 2] = 3 * (end - begin), 1, 3 * begin
        # An attribute that steps per instance starts at the base instance: so the shader learns which draw it is in.
        commands[:, 4] = selected
        return commands

    def _vertex_array(self, program: Any) -> moderngl.VertexArray:
        if program not in self._vertex_arrays:
            content: list[tuple[Any, ...]] = [(self._positions, "3f", "position"), (self._numbers, "1u/i", "draw")]
            if "uv" in program:
                content.append((self._uv, "2f", "uv"))
            self._vertex_arrays[program] = self.own(program.ctx.vertex_array(program, content, self._indices))
        return self._vertex_arrays[program]


def _checked_ranges(ranges: Any, triangles: int) -> np.ndarray:
    rows = index_rows("ranges", [[0, triangles]] if ranges is None else ranges, 2, triangles + 1).astype(np.int64)
    if (rows[:, 0] > rows[:, 1]).any():
        row = int(np.argmax(rows[:, 0] > rows[:, 1]))
        raise ArrayError(f"{rows[row].tolist()} ends before it begins", where=f"ranges[{row}]")
    return rows


def _check_lengths(draws: int, ids: np.ndarray, transforms: np.ndarray) -> None:
    if len(ids) != draws:
        raise ArrayError(f"{len(ids)} numbers for {draws} draws", where="argument ids")
    if transforms.ndim == 3 and len(transforms) != draws:
        raise ArrayError(f"{len(transforms)} matrices for {draws} draws", where="argument transforms")
