"""Instances and what each of them draws: placements and cuts, of which only changes go to the GPU.

Prefix sums on the GPU list what is kept in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError
from hra.kernels.raster.buffers import Resource, check_storage_size, groups, upload
from hra.kernels.raster.checks import matrices
from hra.kernels.raster.clusters.store import ClusterStore
from hra.kernels.raster.context import Context

if TYPE_CHECKING:
    import moderngl

_FIX = "load its page before, or draw what `drawable` says"
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
    """The blocks that ``count`` values fill, at least one."""
    return max(-(-count // _BLOCK), 1)


class PlacedCuts(Resource):
    """B placed copies of a store's meshes, with a bit for every cluster of each copy that is drawn.

    Parameters
    ----------
    store : the meshes.
    mesh_of : whole numbers [B], the mesh of each copy.
    placements : [B, 4, 4], object to world, affine.

    Raises
    ------
    ArrayError, CameraError : another shape; a mesh that is not there; more bits than a shader can reach.

    Attributes
    ----------
    candidates : the pairs of copy and cluster that are drawn, uvec2 [count], in order; count : how many.
    uploaded_bytes : what went to the GPU so far.
    """

    def __init__(self, store: ClusterStore, mesh_of: Any, placements: Any) -> None:
        super().__init__(store.context)
        self.store = store
        self.mesh_of = np.asarray(mesh_of, np.int64)
        self._placements = _rows(placements, len(self.mesh_of))
        words = np.array([mesh.words_per_row for mesh in store.meshes])[self.mesh_of]
        self.first_word = np.concatenate([[0], np.cumsum(words)])
        self._bits = np.zeros(int(self.first_word[-1]), np.uint32)
        check_storage_size(self.context, self._bits.nbytes, "a bit for each cluster of each copy")
        instances = np.stack([self.first_word[:-1], store.first_cluster[self.mesh_of]], 1).astype(np.uint32)
        self.count, self._triangles, self._stale = 0, 0, True  # a list of nothing is a buffer, too
        self.uploaded_bytes = 0
        self._sums = self.own(PrefixSums(self.context, len(self._bits)))
        with self.context.use() as gl:
            self.instances = self.own(upload(gl, instances))
            self.placements = self.own(upload(gl, self._placements))
            self.words = self.own(upload(gl, self._bits))
            self._owners = self.own(upload(gl, np.repeat(np.arange(len(words), dtype=np.uint32), words)))
            self._counts = self.own(gl.buffer(reserve=4 * len(self._bits)))
        self.candidates: Any = None

    def __len__(self) -> int:
        return len(self.mesh_of)

    @property
    def word_count(self) -> int:
        """Words of all rows of bits."""
        return len(self._bits)

    def move(self, placements: Any) -> None:
        """New placements [B, 4, 4]; rows that did not change stay."""
        rows = _rows(placements, len(self))
        changed = np.flatnonzero((rows != self._placements).any(axis=(1, 2)))
        self._placements = rows
        with self.context.use():
            for begin, end in _runs(changed):
                self._write(self.placements, rows[begin:end], 96 * begin)

    def draw(self, copies: np.ndarray, cuts: Sequence[np.ndarray]) -> None:
        """What is drawn: clusters, as its mesh numbers them, of each of the ``copies`` [n]; the others draw nothing.

        Raises
        ------
        ArrayError : a copy or a cluster that is not there, or whose page is in no slot.
        """
        counts = np.array([len(cut) for cut in cuts], np.int64)
        clusters = np.concatenate([np.empty(0, np.int64), *cuts]).astype(np.int64, copy=False)
        copies = np.asarray(copies, np.int64)
        bits = np.zeros_like(self._bits)
        rows = self.first_word[copies], self.mesh_of[copies], np.concatenate([[0], np.cumsum(counts)])
        tables = self.store.places, self.store.first_cluster, self.store.page, self.store.there, self.store.triangles
        failed, self._triangles = _set_bits(bits, *rows, clusters, *tables)
        if failed >= 0:
            raise ArrayError(
                f"cluster {clusters[failed]} is not in the mesh, or its page in no slot", where="cuts", fix=_FIX
            )
        changed = np.flatnonzero(bits != self._bits)
        self._bits = bits
        self.count = int(np.bitwise_count(bits).sum())
        if changed.size:
            self._stale = True
            with self.context.use():
                for begin, end in _runs(changed, bridge=64):
                    self._write(self.words, bits[begin:end], 4 * begin)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Copy and cluster, as its mesh numbers it, of each candidate, int64 [count] each."""
        set_bits = np.flatnonzero(np.unpackbits(self._bits.view(np.uint8), bitorder="little"))
        copies = np.searchsorted(self.first_word, set_bits // 32, side="right") - 1
        rows = self.store.first_cluster[self.mesh_of[copies]] + set_bits - 32 * self.first_word[copies]
        return copies, self.store.numbers[rows]

    @property
    def triangles(self) -> int:
        """Triangles of all cuts."""
        return self._triangles

    def list_candidates(self) -> None:
        """Bring `candidates` up to date; the context is current."""
        if not self._stale:
            return
        self._stale = False
        self._reserve()
        program = self.context.program("count_bits.comp")
        self.words.bind_to_storage_buffer(0)
        self._counts.bind_to_storage_buffer(1)
        program["count"] = self.word_count
        program.run(groups(self.word_count, 64))
        program.ctx.memory_barrier()
        self._sums.run(self._counts, self.word_count)
        listing = self.context.program("list_candidates.comp")
        held = self.words, self._sums.before, self._sums.sums, self._owners, self.instances, self.candidates
        for binding, buffer in enumerate(held):
            buffer.bind_to_storage_buffer(binding)
        listing["count"] = self.word_count
        listing.run(groups(self.word_count, 64))
        listing.ctx.memory_barrier()

    def _reserve(self) -> None:
        """Make room for the candidates; doubling, so that a growing cut does not reserve every frame."""
        if self.candidates is None or self.candidates.size < 8 * self.count:
            size = 8 * max(2 * self.count, 1024)
            check_storage_size(self.context, 8 * self.count, "the list of clusters")
            if self.candidates is not None:
                self.candidates.release()
                self._objects.remove(self.candidates)
            self.candidates = self.own(self.words.ctx.buffer(reserve=size))

    def _write(self, buffer: Any, values: np.ndarray, offset: int) -> None:
        buffer.write(np.ascontiguousarray(values), offset=offset)
        self.uploaded_bytes += values.nbytes


def _rows(placements: Any, count: int) -> np.ndarray:
    """The upper three rows, float64 [B, 3, 4]."""
    values = matrices("placements", placements)
    if values.shape != (count, 4, 4):
        raise ArrayError(f"{list(values.shape)} is not [{count}, 4, 4]", where="argument placements")
    return np.ascontiguousarray(values[:, :3])


def _runs(changed: np.ndarray, bridge: int = 1) -> list[tuple[int, int]]:
    """Begin and end of runs of numbers, across gaps of less than ``bridge``."""
    if not changed.size:
        return []
    cuts = np.flatnonzero(np.diff(changed) > bridge)
    begins, ends = changed[np.concatenate([[0], cuts + 1])], changed[np.concatenate([cuts, [changed.size - 1]])] + 1
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


@njit(cache=True)
def _set_bits(bits, first_word, mesh_of, offsets, clusters, places, first_cluster, page, there, triangles):
    """Set the bit of each cluster of each copy; the first that cannot be drawn, or -1, and triangles of all."""
    total = 0
    for n in range(first_word.size):
        begin, end = first_cluster[mesh_of[n]], first_cluster[mesh_of[n] + 1]
        for k in range(offsets[n], offsets[n + 1]):
            cluster = clusters[k]
            if cluster < 0 or cluster >= end - begin:
                return k, 0
            place = places[begin + cluster]
            if not there[page[begin + place]]:
                return k, 0
            word, mask = first_word[n] + place // 32, np.uint32(1) << np.uint32(place % 32)
            if bits[word] & mask == 0:
                total += triangles[begin + place]
            bits[word] |= mask
    return -1, total
