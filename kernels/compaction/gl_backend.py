"""Threshold cuts and compaction by compute shaders; arrays go to the driver and come back."""

from __future__ import annotations

import numpy as np

from hra.errors import BackendUnavailable
from hra.kernels.pyramids.levels.gl_backend import own_context
from hra.kernels.raster.buffers import check_storage_size, download, groups, upload
from hra.kernels.raster.clusters.placed_cuts import PrefixSums, blocks_of


def threshold_cut(parent: np.ndarray, error: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.compaction.threshold_cut`."""
    if error.dtype != np.float32:
        what = f"the backend 'gl' compares float32, not {error.dtype}"
        raise BackendUnavailable(what, where="argument backend", fix="use 'auto', or float32")
    if not error.size:
        return np.empty(error.shape, np.bool_)
    with own_context() as context, context.use() as gl:
        check_storage_size(context, error.nbytes, "the list of errors")
        buffers = [*(upload(gl, array) for array in (parent, error, tolerance)), gl.buffer(reserve=error.nbytes)]
        for binding, buffer in enumerate(buffers):
            buffer.bind_to_storage_buffer(binding)
        program = context.program("draw_coarsest.comp")
        program["count"], program["nodes"] = error.size, error.shape[1]
        program.run(groups(error.size, 64))
        gl.memory_barrier()
        drawn = download(buffers[-1], np.uint32, error.size)
        for buffer in buffers:
            buffer.release()
    return drawn.reshape(error.shape).astype(np.bool_)


def compact(flags: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.compaction.compact`."""
    if not flags.size:
        return np.empty(0, np.int32)
    with own_context() as context, context.use() as gl, PrefixSums(context, flags.size) as sums:
        check_storage_size(context, 4 * flags.size, "the list of flags")
        given = upload(gl, flags.astype(np.uint32))
        sums.run(given, flags.size)
        last = np.frombuffer(sums.sums.read(size=4, offset=4 * blocks_of(flags.size)), np.uint32)
        listed = gl.buffer(reserve=4 * max(int(last[0]), 1))
        for binding, buffer in enumerate((given, sums.before, sums.sums, listed)):
            buffer.bind_to_storage_buffer(binding)
        program = context.program("list_flags.comp")
        program["count"] = flags.size
        program.run(groups(flags.size, 64))
        gl.memory_barrier()
        indices = download(listed, np.int32, int(last[0]))
        for buffer in (given, listed):
            buffer.release()
    return indices
