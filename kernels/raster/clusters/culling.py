"""Which candidates a pass draws, decided and listed on the GPU."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.kernels.culling.depth_view import QUANTUM
from hra.kernels.pyramids.levels.reductions import identity
from hra.kernels.pyramids.levels.reference import FINER
from hra.kernels.raster.buffers import Resource, download, groups, upload
from hra.kernels.raster.clusters.placed_cuts import PlacedCuts, PrefixSums, blocks_of
from hra.kernels.raster.hiz import HiZ
from hra.kernels.raster.levels import level_shapes

if TYPE_CHECKING:
    import moderngl


class Pass(IntEnum):
    """What decides; numbers as in shaders/cull_clusters.comp."""

    ALL = 0
    FRUSTUM = 1
    SEEN_BEFORE = 2
    NOT_HIDDEN = 3


class ClusterCulling(Resource):
    """Lists of the candidates that are drawn, in their order, with the commands that draw them.

    Parameters
    ----------
    cuts : whose candidates; hiz : of the image that they are drawn to.

    Attributes
    ----------
    rows : float64 [B, 4, 4], to_clip : float32 [B, 4, 4]; of each copy, to clip space of reversed depth.
    """

    def __init__(self, cuts: PlacedCuts, hiz: HiZ) -> None:
        super().__init__(cuts.context)
        self._cuts, self._hiz = cuts, hiz
        self._room: _Room | None = None
        words = 4 * max(cuts.word_count, 1)
        with self.context.use() as gl:
            self.rows = self.own(gl.buffer(reserve=128 * len(cuts)))
            self.to_clip = self.own(gl.buffer(reserve=64 * len(cuts)))
            self._camera = self.own(gl.buffer(reserve=128))
            self._seen, self._now_seen = (self.own(gl.buffer(np.zeros(words // 4, np.uint32))) for _ in range(2))
            self._counters = self.own(gl.buffer(reserve=12))
            self._shapes = self.own(upload(gl, level_shapes(hiz.layout)))

    def begin_frame(self, to_clip: np.ndarray) -> None:
        """Take another camera, the world's matrix [4, 4], and count again; the context is current."""
        self.place(to_clip)
        self._cuts.list_candidates()
        self._counters.clear()
        if self._room is None or self._room.capacity < self._cuts.count:
            self._room = self.own(_Room(self._cuts, max(2 * self._cuts.count, 1024)))

    def place(self, to_clip: np.ndarray) -> None:
        """The matrices of all copies; the context is current."""
        self._camera.write(np.ascontiguousarray(to_clip, np.float64))
        program = self.context.program("place_instances.comp")
        for binding, buffer in enumerate((self._camera, self._cuts.placements, self.rows, self.to_clip)):
            buffer.bind_to_storage_buffer(binding)
        program["count"] = len(self._cuts)
        program.run(groups(len(self._cuts), 64))
        program.ctx.memory_barrier()

    def run(self, kind: Pass, size: tuple[int, int]) -> Listed:
        """What a pass draws to an image of ``size``; the context is current, the frame begun."""
        room, count = self._room, self._cuts.count
        if room is None:  # no frame was begun
            raise RuntimeError("call begin_frame first")
        self._mark(kind, room, count, size)
        room.sums.run(room.flags, count)
        listed = room.second if kind is Pass.NOT_HIDDEN else room.first
        listed.fill(room, count)
        return listed

    def end_frame(self) -> None:
        """What was visible in this frame is what was visible in the last one; the context is current."""
        self._seen, self._now_seen = self._now_seen, self._seen

    def counters(self) -> np.ndarray:
        """Triangles in the frustum, not hidden, and drawn, int64 [3]; the context is current."""
        return download(self._counters, np.uint32, 3).astype(np.int64)

    def _mark(self, kind: Pass, room: _Room, count: int, size: tuple[int, int]) -> None:
        reduce = self._hiz.reduce
        program = self.context.program("cull_clusters.comp", PASS=int(kind), SMALLEST=int(reduce == "min"), BYTES=0)
        cuts = self._cuts
        if kind is Pass.NOT_HIDDEN:
            self._now_seen.clear()
        held = (self._hiz.buffer, cuts.store.clusters, self._shapes, cuts.candidates, self.rows, cuts.instances)
        for binding, buffer in enumerate((*held, self._seen, self._now_seen, room.flags, self._counters)):
            buffer.bind_to_storage_buffer(binding)
        nothing = np.array([identity(reduce, np.dtype(np.float32))], np.float32).view(np.uint32)
        _set(program, count=count, size=size, slack=QUANTUM, finer=FINER, nothing=int(nothing[0]))
        program.run(groups(max(count, 1), 64))
        program.ctx.memory_barrier()


class Listed(Resource):
    """Numbers of candidates and the command that draws them.

    Attributes
    ----------
    numbers : uint32 [capacity]; command : five words, of which the second is how many there are.
    """

    def __init__(self, cuts: PlacedCuts, capacity: int) -> None:
        super().__init__(cuts.context)
        self._corners = cuts.store.corners
        gl = cuts.words.ctx
        self.numbers: moderngl.Buffer = self.own(gl.buffer(reserve=4 * capacity))
        self.command: moderngl.Buffer = self.own(gl.buffer(np.zeros(5, np.uint32)))

    def fill(self, room: _Room, count: int) -> None:
        """List the candidates that are marked; the context is current."""
        program = self.context.program("list_drawn.comp")
        held = room.flags, room.sums.before, room.sums.sums, self.numbers, self.command
        for binding, buffer in enumerate(held):
            buffer.bind_to_storage_buffer(binding)
        _set(program, count=count, blocks=blocks_of(count), vertices=self._corners)
        program.run(groups(max(count, 1), 64))
        program.ctx.memory_barrier()


class _Room(Resource):
    """What the passes over this many candidates need."""

    def __init__(self, cuts: PlacedCuts, capacity: int) -> None:
        super().__init__(cuts.context)
        self.capacity = capacity
        self.flags = self.own(cuts.words.ctx.buffer(reserve=4 * capacity))
        self.sums = self.own(PrefixSums(self.context, capacity))
        self.first, self.second = (self.own(Listed(cuts, capacity)) for _ in range(2))


def _set(program: Any, **values: Any) -> None:
    """Set the uniforms that this variant of the program uses: compilers drop the others."""
    for name, value in values.items():
        if name in program:
            program[name] = value
