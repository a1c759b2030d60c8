"""REDUCE and EXPAND of Burt and Adelson by compute shaders; every level goes to the driver and comes back."""

from __future__ import annotations

import numpy as np

from hra.kernels.pyramids.burt.reference import copy, place
from hra.kernels.pyramids.levels.gl_backend import own_context
from hra.kernels.raster.buffers import check_storage_size, download, groups, upload

__all__ = ["add_expanded", "copy", "place", "reduce_level"]


def reduce_level(source: np.ndarray, target: np.ndarray) -> None:
    """Write every second pixel of the blurred ``source`` to ``target``."""
    _run(source, target, expand=False, sign=1.0)


def add_expanded(coarse: np.ndarray, fine: np.ndarray, sign: float) -> None:
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    _run(coarse, fine, expand=True, sign=sign)


def _run(source: np.ndarray, target: np.ndarray, *, expand: bool, sign: float) -> None:
    with own_context() as context, context.use() as gl:
        check_storage_size(context, max(source.nbytes, target.nbytes), "a level")
        buffers = upload(gl, source), upload(gl, target) if expand else gl.buffer(reserve=target.nbytes)
        for binding, buffer in enumerate(buffers):
            buffer.bind_to_storage_buffer(binding)
        program = context.program("burt.comp", CHANNELS=target.shape[3], EXPAND=int(expand))
        program["count"], program["source_size"] = target.size, source.shape[2:0:-1]
        program["target_size"] = target.shape[2:0:-1]
        if expand:
            program["sign"] = sign
        program.run(groups(target.size, 64))
        gl.memory_barrier()
        target[...] = download(buffers[1], np.float32, target.size).reshape(target.shape)
        for buffer in buffers:
            buffer.release()
