"""Mean and maximum pyramids beside what others build them with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from hra.bench import kernel_inputs, kernel_peers_gl, kernel_peers_numpy, kernel_peers_opencv, kernel_peers_torch
from hra.bench.devices import Device
from hra.bench.harness import Case, Contender
from hra.bench.kernel_checks import compare
from hra.bench.kernel_peers import Peer, gather, host_only, on_two_threads
from hra.kernels import build_pyramid

_FLOAT_ERROR = 1e-5


def mips(side: int, device: Device, *, dtype: type) -> Case:
    """Mipmaps of an RGBA image."""
    peers = {
        "torch": kernel_peers_torch.pool_levels(4),
        "NumPy slices": host_only(Contender("NumPy slices", kernel_peers_numpy.mean_levels)),
        "glGenerateMipmap": kernel_peers_gl.mipmaps,
        "OpenCV": kernel_peers_opencv.area_levels,
    }
    # Drivers round bytes their own way, and drift by up to a step per level.
    errors = (0.0, float(side.bit_length() - 1)) if dtype is np.uint8 else (_FLOAT_ERROR, _FLOAT_ERROR)
    return _case(device, kernel_inputs.images(side, 4, dtype), "mean", peers, *errors)


def max_pyramid(side: int, device: Device) -> Case:
    """The maxima of a square image with one channel."""
    return _case(device, kernel_inputs.images(side, 1, np.float32), "max", _max_peers(), 0.0, 0.0)


def hiz(height: int, device: Device) -> Case:
    """The Hi-Z of a depth buffer whose sides are no powers of two."""
    return _case(device, kernel_inputs.depths(height), "max", _max_peers(), 0.0, 0.0)


def _max_peers() -> dict[str, Peer]:
    return {
        "torch": kernel_peers_torch.pool_levels(1, largest=True),
        "NumPy slices": host_only(Contender("NumPy slices", kernel_peers_numpy.max_levels)),
    }


def _case(
    device: Device,
    inputs: Callable[[int], np.ndarray],
    reduce: str,
    peers: Mapping[str, Peer],
    own_error: float,
    peer_error: float,
) -> Case:
    own = Contender(
        "hra",
        partial(build_pyramid, reduce=reduce),
        device.send,
        read=lambda pyramid: [device.fetch(level) for level in pyramid.levels[1:]],
    )
    others, absent = gather(device, {"hra, 2 threads": on_two_threads(own), **peers})
    image = inputs(0)
    judge = compare(lambda given: _coarser_levels(given, reduce), own_error, peer_error)
    # The image is read, the coarser levels are written; that hra copies the image too is its own affair.
    size = image.shape[0] * image.shape[1]
    moved = image.nbytes + sum(level.nbytes for level in _coarser_levels(image, reduce))
    return Case((own, *others), inputs, judge, size, moved, absent)


def _coarser_levels(image: np.ndarray, reduce: str) -> tuple[np.ndarray, ...]:
    """What the reference makes of the image, which the peers compute by other means."""
    return build_pyramid(image, reduce, backend="reference").levels[1:]
