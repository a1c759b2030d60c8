"""Gaussian, Laplacian and steerable pyramids beside what others filter with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hra.kernels import SteerablePyramid, gaussian_pyramid, laplacian_pyramid, steerable_pyramid
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels import peers_opencv, peers_pyrtools, peers_scipy, peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import check_arrays, compare
from hra_lab.bench.kernels.peers import Peer, gather, on_two_threads

# On graphics cards torch convolves numbers of 11 bits (TF32) unless told otherwise.
_ERROR, _TF32_ERROR = 1e-5, 5e-3
# Side of the coarsest level: torch cannot mirror less.
_COARSEST = 8
_SCALES, _ORIENTATIONS = 5, 4
# The filters of pyrtools are looked up in tables.
_TABLE_ERROR = 0.02


def gaussian(side: int, device: Device) -> Case:
    """The coarser levels of an RGB image."""
    levels = _levels(side)

    def coarser(image: Any, backend: str = "auto") -> Sequence[Any]:
        return gaussian_pyramid(image, levels, backend).levels[1:]

    peers = {
        "torch": partial(peers_torch.gaussian, levels=levels),
        "scipy": partial(peers_scipy.gaussian, levels=levels),
        "OpenCV": partial(peers_opencv.gaussian, levels=levels),
    }
    return _case(side, device, coarser, peers)


def laplacian(side: int, device: Device) -> Case:
    """The bands and the rest of an RGB image."""
    levels = _levels(side)

    def bands(image: Any, backend: str = "auto") -> Sequence[Any]:
        return laplacian_pyramid(image, levels, backend).levels

    peers = {
        "torch": partial(peers_torch.laplacian, levels=levels),
        "scipy": partial(peers_scipy.laplacian, levels=levels),
        "OpenCV": partial(peers_opencv.laplacian, levels=levels),
    }
    return _case(side, device, bands, peers)


def steerable(side: int, device: Device) -> Case:
    """Five scales of four orientations of a grey image."""
    scales = min(_SCALES, _levels(side))

    def read(pyramid: SteerablePyramid) -> SteerablePyramid:
        fetched = [device.fetch(part) for part in _parts(pyramid)]
        return SteerablePyramid(fetched[0], tuple(fetched[1:-1]), fetched[-1])

    own = Contender("hra", lambda image: steerable_pyramid(image, scales, _ORIENTATIONS), device.send, read=read)
    pyrtools = partial(peers_pyrtools.steerable, scales=scales, orientations=_ORIENTATIONS)
    others, absent = gather(device, {"pyrtools": pyrtools})
    inputs = seeded_inputs.images(side, 1, np.float32)
    image = inputs(0)
    written = sum(part.nbytes for part in _parts(own.read(own.run(own.prepare(image)))))
    return Case((own, *others), inputs, _judge_frames, side * side, image.nbytes + written, absent)


def _case(side: int, device: Device, function: Callable[..., Sequence[Any]], peers: Mapping[str, Peer]) -> Case:
    """A case on an RGB image; ``function`` takes an image and a backend."""
    own = Contender("hra", function, device.send, read=lambda levels: list(map(device.fetch, levels)))
    others, absent = gather(device, {"hra, 2 threads": on_two_threads(own), **peers})
    inputs = seeded_inputs.images(side, 3, np.float32)
    image = inputs(0)
    judge = compare(partial(function, backend="reference"), _ERROR, _ERROR if device.on_host else _TF32_ERROR)
    moved = image.nbytes + sum(level.nbytes for level in function(image))
    return Case((own, *others), inputs, judge, side * side, moved, absent)


def _levels(side: int) -> int:
    return (side // _COARSEST).bit_length()


def _parts(pyramid: SteerablePyramid) -> tuple[np.ndarray, ...]:
    return pyramid.highpass, *pyramid.bands, pyramid.lowpass


def _judge_frames(image: np.ndarray, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """Pyramids give back the image; the squares of hra's bands add up to those of the image besides."""
    own, *peers = outputs
    check_arrays(own, [outputs[own].reconstruct()], [image], _ERROR)
    energy = sum(np.square(part, dtype=np.float64).sum() for part in _parts(outputs[own]))
    expected = np.square(image, dtype=np.float64).sum()
    check_arrays(own, [np.array(energy / expected)], [np.array(1.0)], _ERROR)
    for name in peers:
        check_arrays(name, [outputs[name]], [image[..., 0].astype(np.float64)], _TABLE_ERROR)
    return {}
