"""Maxima within rectangles: of one Hi-Z, and of the relevance of a batch of images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.kernels import Pyramid, build_pyramid, rect_max
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels import peers_numpy, peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import check_arrays, require
from hra_lab.bench.kernels.look_ups import Levels, largest_in_levels, largest_within
from hra_lab.bench.kernels.peers import Peer, gather, host_only

_HEIGHT = 1080
# Patches on a side of an image, and boxes that are asked for in each.
_PATCHES, _BOXES = 64, 4096
# Part of the rectangles that are looked at pixel by pixel.
_BRUTE_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class _Given:
    """Images [B, H, W, 1], rectangles [K, 4] in them and the image [K] that each is in."""

    images: np.ndarray
    rects: np.ndarray
    image: np.ndarray

    @property
    def few(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The images [B, H, W] and the rectangles in them that are looked at pixel by pixel."""
        few = slice(0, max(int(_BRUTE_SHARE * len(self.rects)), 1))
        return self.images[..., 0], self.rects[few], self.image[few]


def rectangle_maxima(count: int, device: Device) -> Case:
    """``count`` rectangles in a Hi-Z that is there already."""
    depths = seeded_inputs.depths(_HEIGHT)

    def inputs(number: int) -> _Given:
        depth = depths(number)
        rects = seeded_inputs.rectangles(count, *depth.shape[:2], seed=number)
        return _Given(depth[None], rects, np.zeros(count, np.int32))

    def prepare(given: _Given) -> tuple[Any, ...]:
        return (build_pyramid(device.send(given.images), "max"), device.send(given.rects), device.send(given.image))

    def prepare_peer(given: _Given) -> tuple[Any, ...]:
        return (Levels.of(build_pyramid(given.images, "max")), given.rects, given.image)

    own = Contender("hra", lambda prepared: rect_max(*prepared), prepare, read=device.fetch)
    return _case(device, own, inputs, _peers(prepare_peer, lambda arrays, levels, *where: (levels, *where)))


def relevance(images: int, device: Device) -> Case:
    """The largest relevance within 4,096 boxes of each image: the pyramids of all images, then the look-ups."""
    maps = seeded_inputs.relevance(images, _PATCHES)

    def inputs(number: int) -> _Given:
        rects = seeded_inputs.rectangles(images * _BOXES, _PATCHES, _PATCHES, seed=number, largest=_PATCHES)
        return _Given(maps(number), rects, np.repeat(np.arange(images, dtype=np.int32), _BOXES))

    own = Contender(
        "hra",
        lambda prepared: rect_max(build_pyramid(prepared[0], "max"), *prepared[1:]),
        lambda given: tuple(map(device.send, (given.images, given.rects, given.image))),
        read=device.fetch,
    )
    layout = build_pyramid(maps(0), "max")

    def prepare_peer(given: _Given) -> tuple[Any, ...]:
        return (Levels.of(layout)._replace(pixels=given.images), given.rects, given.image)

    return _case(device, own, inputs, _peers(prepare_peer, _pool))


def _pool(arrays: Any, levels: Levels, rects: Any, image: Any) -> tuple[Any, ...]:
    """The arguments of a look-up once the pyramid of ``levels.pixels``, still bare images, is built."""
    images = levels.pixels
    pools = peers_numpy.max_levels(images) if arrays is np else peers_torch.max_levels(images.permute(0, 3, 1, 2))
    pixels = arrays.concatenate([level.reshape(-1) for level in (images, *pools)])
    return levels._replace(pixels=pixels), rects, image


def _peers(prepare: Callable[[_Given], tuple[Any, ...]], finish: Callable[..., tuple[Any, ...]]) -> dict[str, Peer]:
    """Look-ups in NumPy and torch, whose arguments ``finish`` completes within the clock, and one without a pyramid."""

    def torch_look_up(device: Device) -> Iterator[Contender]:
        torch = peers_torch.load(device)
        yield from peers_torch.contenders(
            device,
            "torch look-up",
            lambda prepared: largest_in_levels(torch, *finish(torch, *prepared)),
            lambda given: peers_torch.tensors(prepare(given), device),
            lambda output: output.cpu().numpy(),
        )

    numpy_look_up = Contender("NumPy look-up", lambda given: largest_in_levels(np, *finish(np, *given)), prepare)
    every_pixel = Contender("every pixel (Numba)", lambda given: largest_within(*given.few), share=_BRUTE_SHARE)
    return {"NumPy": host_only(numpy_look_up), "torch": torch_look_up, "Numba": host_only(every_pixel)}


def _case(device: Device, own: Contender, inputs: Callable[[int], _Given], peers: Mapping[str, Peer]) -> Case:
    others, absent = gather(device, peers)
    given = inputs(0)
    return Case((own, *others), inputs, _judge, len(given.rects), _moved_bytes(given), absent)


def _moved_bytes(given: _Given) -> int:
    """Rectangles are read and answers written; of the images no more than four pixels per rectangle are read."""
    answers = len(given.rects) * given.images.itemsize
    return given.rects.nbytes + answers + min(4 * answers, given.images.nbytes)


def _judge(given: _Given, outputs: Mapping[str, np.ndarray]) -> dict[str, Gaps]:
    """Look-ups agree with the reference to the bit, and are never below the maximum of all pixels."""
    pyramid: Pyramid = build_pyramid(given.images, "max", backend="reference")
    expected = rect_max(pyramid, given.rects, given.image, backend="reference")
    exact = largest_within(*given.few)
    for name, output in outputs.items():
        check_arrays(name, [output], [expected if len(output) == len(expected) else exact], 0.0)
        require(name, bool((output[: len(exact)] >= exact).all()), "a maximum is below a pixel")
    return {}
