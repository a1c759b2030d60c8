"""Prefix sums on the GPU, by which what is kept is listed in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.kernels.raster.buffers import groups
from hra.kernels.raster.context import Context
from hra.kernels.raster.resource import Resource

if TYPE_CHECKING:
    import moderngl

_BLOCK = 1024  # of scan_blocks.comp


class PrefixSums(Resource):
    """Sums of all values before each of at most ``capacity`` ones.

    Attributes
    ----------
    before : uint32 [capacity], sums within blocks of 1,024; sums : those of the blocks before each, and behind them of
        all. The sum before value k is ``sums[k / 1024] + before[k]``.
    """

    def __init__(self, context: Context, capacity: int) -> None:
        super().__init__(context)
        with context.use() as gl:
            self.before = self.own(gl.buffer(reserve=4 * max(capacity, 1)))
            self.sums = self.own(gl.buffer(reserve=4 * (blocks_of(capacity) + 1)))

    def run(self, values: moderngl.Buffer, count: int) -> None:
        """Add up the first ``count`` of ``values``, uint32; the context is current."""
        blocks = blocks_of(count)
        program = self.context.program("scan_blocks.comp")
        for binding, buffer in enumerate((values, self.before, self.sums)):
            buffer.bind_to_storage_buffer(binding)
        program["count"], program["blocks"] = count, blocks
        program.run(groups(blocks, 1))
        program.ctx.memory_barrier()
        last = self.context.program("scan_sums.comp")
        self.sums.bind_to_storage_buffer(0)
        last["blocks"] = blocks
        last.run(1)
        last.ctx.memory_barrier()


def blocks_of(count: int) -> int:
    """Blocks that so many values are, at least one."""
    return max(-(-count // _BLOCK), 1)
