"""Mipmaps as the OpenGL driver makes them: on the graphics card, or by Mesa's llvmpipe on the processor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from hra.errors import BackendUnavailable
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Contender

if TYPE_CHECKING:
    from hra.kernels.raster.context import Context
    from hra.kernels.raster.levels import HardwareMipmaps

# Threads besides the calling one, for Mesa's llvmpipe.
_LLVMPIPE_THREADS = "LP_NUM_THREADS"


def mipmaps(device: Device) -> Iterator[Contender]:
    """glGenerateMipmap; texture and levels are allocated outside of the clock."""
    with _context() as context:
        renderer = context.renderer
    if ("llvmpipe" in renderer) != device.on_host:
        raise BackendUnavailable(f"OpenGL runs on {renderer}, not on {device.name}", where="device")
    # Each round has a context of its own, which would leak if it were not read; `_upload` warms it up.
    yield Contender("glGenerateMipmap", _build, _upload, warm_up=False, read=_download)


def _upload(image: np.ndarray) -> HardwareMipmaps:
    from hra.kernels.raster.levels import HardwareMipmaps

    texture = HardwareMipmaps(_context(), image)
    texture.build()
    return texture


def _build(texture: HardwareMipmaps) -> HardwareMipmaps:
    texture.build()
    return texture


def _download(texture: HardwareMipmaps) -> tuple[np.ndarray, ...]:
    levels = texture.read()[1:]
    texture.release()
    texture.context.release()
    return levels


def _context() -> Context:
    from hra.kernels.raster.context import Context

    with _single_threaded_driver():
        return Context()


@contextmanager
def _single_threaded_driver() -> Iterator[None]:
    """The driver reads its environment when a context is made."""
    before = os.environ.get(_LLVMPIPE_THREADS)
    os.environ[_LLVMPIPE_THREADS] = "0"
    try:
        yield
    finally:
        del os.environ[_LLVMPIPE_THREADS]
        if before is not None:
            os.environ[_LLVMPIPE_THREADS] = before
