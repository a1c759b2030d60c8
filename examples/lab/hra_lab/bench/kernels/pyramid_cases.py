"""Mean and maximum pyramids beside what others build them with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from hra.kernels import Pyramid, build_pyramid
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender
from hra_lab.bench.kernels import peers_gl, peers_numpy, peers_opencv, peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import compare
from hra_lab.bench.kernels.peers import Peer, gather, host_only, on_two_threads

_FLOAT_ERROR = 1e-5


def mips(side: int, device: Device, *, dtype: type) -> Case:
    """Mipmaps of an RGBA image."""
    peers = {
        "torch": peers_torch.pool_levels(4),
        "NumPy slices": host_only(Contender("NumPy slices", peers_numpy.mean_levels)),
        "glGenerateMipmap": peers_gl.mipmaps,
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
