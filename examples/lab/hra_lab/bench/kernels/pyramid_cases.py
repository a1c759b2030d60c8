"""Mean and maximum pyramids beside what others build them with.

Mipmaps as the OpenGL driver makes them: on the graphics card, or by Mesa's llvmpipe on the processor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hra.errors import BackendUnavailable
from hra.kernels import Pyramid, build_pyramid
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender
from hra_lab.bench.kernels import peers_numpy, peers_opencv, peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import compare
from hra_lab.bench.kernels.peers import Peer, gather, host_only, on_two_threads

if TYPE_CHECKING:
    from hra.kernels.raster.context import Context
    from hra.kernels.raster.levels import HardwareMipmaps

_FLOAT_ERROR = 1e-5
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


def mips(side: int, device: Device, *, dtype: type) -> Case:
    """Mipmaps of an RGBA image."""
    peers = {
        "torch": peers_torch.pool_levels(4),
        "NumPy slices": host_only(Contender("NumPy slices", peers_numpy.mean_levels)),
        "glGenerateMipmap": mipmaps,
        "OpenCV": peers_opencv.area_levels,
    }
    # Drivers round bytes their own way, and drift by up to a step per level.
    errors = (0.0, float(side.bit_length() - 1)) if dtype is np.uint8 else (_FLOAT_ERROR, _FLOAT_ERROR)
    return _case(device, seeded_inputs.images(side, 4, dtype), "mean", peers, *errors)


def max_pyramid(side: int, device: Device) -> Case:
    """The maxima of a square image with one channel."""
    return _case(device, seeded_inputs.images(side, 1, np.float32), "max", _max_peers(), 0.0, 0.0)


def hiz(height: int, device: Device) -> Case:
    """The Hi-Z of a depth buffer whose sides are no powers of two."""
    return _case(device, seeded_inputs.depths(height), "max", _max_peers(), 0.0, 0.0)


def _max_peers() -> dict[str, Peer]:
    return {
        "torch": peers_torch.pool_levels(1, largest=True),
        "NumPy slices": host_only(Contender("NumPy slices", peers_numpy.max_levels)),
    }


def _case(
    device: Device,
    inputs: Callable[[int], np.ndarray],
    reduce: str,
    peers: Mapping[str, Peer],
    own_error: float,
    peer_error: float,
) -> Case:
    image = inputs(0)
    memory = build_pyramid(device.send(image), reduce)

    def draw(given: np.ndarray) -> Pyramid:
        """The image where a renderer or a decoder writes it: into level 0 of a pyramid that is there."""
        device.copy(memory.levels[0], device.send(given))
        return memory

    def read(pyramid: Pyramid) -> list[np.ndarray]:
        return [device.fetch(level) for level in pyramid.levels[1:]]

    own = Contender("hra", lambda drawn: build_pyramid(drawn.levels[0], reduce, into=drawn), draw, read=read)
    fresh = Contender("hra, new memory", partial(build_pyramid, reduce=reduce), device.send, read=read)
    own_peers: dict[str, Peer] = {"hra, 2 threads": on_two_threads(own), "hra, new memory": lambda device: [fresh]}
    others, absent = gather(device, own_peers | dict(peers))
    judge = compare(lambda given: _coarser_levels(given, reduce), own_error, peer_error)
    # The image is read, the coarser levels are written; with new memory hra copies the image, too.
    size = image.shape[0] * image.shape[1]
    moved = image.nbytes + sum(level.nbytes for level in _coarser_levels(image, reduce))
    return Case((own, *others), inputs, judge, size, moved, absent)


def _coarser_levels(image: np.ndarray, reduce: str) -> tuple[np.ndarray, ...]:
    """What the reference makes of the image, which the peers compute by other means."""
    return build_pyramid(image, reduce, backend="reference").levels[1:]
