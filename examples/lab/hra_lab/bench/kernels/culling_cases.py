"""Boxes before a camera, tested against a Hi-Z."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.kernels import depth_pyramid, visible_boxes
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels import peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import require
from hra_lab.bench.kernels.look_ups import Levels, in_front, largest_in_levels, largest_within, see
from hra_lab.bench.kernels.peers import Peer, gather, host_only, on_two_threads

_HEIGHT = 1080
# Part of the boxes that are tested pixel by pixel.
_BRUTE_SHARE = 0.01
# Part of the boxes that may be judged differently at the edge of a pixel or of a depth, because peers do not allow for
# rounding; and part that they may show needlessly, because four pixels say less than the library's second look.
_AT_THE_EDGE, _IN_VAIN = 0.01, 0.1
# Part of the boxes that two backends may judge differently: devices fuse multiplications and additions.
_ROUNDING = 1e-4


@dataclass(frozen=True, eq=False)
class _Given:
    """Boxes [K, 2, 3] and the depth buffer [H, W] that they are tested against."""

    boxes: np.ndarray
    depth: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """Of the camera, [4, 4]."""
        return seeded_inputs.perspective(*self.depth.shape)

    @property
    def few(self) -> np.ndarray:
        """The boxes that are tested pixel by pixel."""
        return self.boxes[: max(int(_BRUTE_SHARE * len(self.boxes)), 1)]


def visible(count: int, device: Device) -> Case:
    """Which of ``count`` boxes may be visible; the Hi-Z is there already."""
    depths = seeded_inputs.depths(_HEIGHT)

    def inputs(number: int) -> _Given:
        return _Given(seeded_inputs.boxes(count, number), depths(number)[..., 0])

    own = Contender(
        "hra",
        lambda prepared: visible_boxes(*prepared),
        lambda given: (depth_pyramid(device.send(given.depth)), device.send(given.boxes), given.matrix),
        read=device.fetch,
    )
    every_pixel = Contender("every pixel (Numba)", _by_every_pixel, share=_BRUTE_SHARE)
    look_up = Contender("NumPy look-up", lambda prepared: _by_levels(np, *prepared), _plain)
    peers: dict[str, Peer] = {"NumPy": host_only(look_up), "torch": _torch, "Numba": host_only(every_pixel)}
    others, absent = gather(device, {"hra, 2 threads": on_two_threads(own), **peers})
    return Case((own, *others), inputs, _judge, count, _moved_bytes(inputs(0)), absent)


def _torch(device: Device) -> Iterator[Contender]:
    torch = peers_torch.load(device)
    yield from peers_torch.contenders(
        device,
        "torch look-up",
        lambda prepared: _by_levels(torch, *prepared),
        lambda given: (*peers_torch.tensors(_plain(given)[:3], device), given.depth.shape),
        lambda output: output.cpu().numpy(),
    )


def _plain(given: _Given) -> tuple[Any, ...]:
    """Boxes, matrix, pyramid and size of the depth buffer as plain arrays, in float32 as renderers have them."""
    return given.boxes, given.matrix.astype(np.float32), Levels.of(depth_pyramid(given.depth)), given.depth.shape


def _by_levels(arrays: Any, boxes: Any, matrix: Any, levels: Levels, size: tuple[int, int]) -> Any:
    seen = see(arrays, boxes, matrix, *size)
    return in_front(seen, largest_in_levels(arrays, levels, seen.rects))


def _by_every_pixel(given: _Given) -> np.ndarray:
    """What a full-resolution test shows of the first boxes, in float64."""
    seen = see(np, given.few.astype(np.float64), given.matrix, *given.depth.shape)
    return in_front(seen, largest_within(given.depth[None], seen.rects, np.zeros(len(seen.rects), np.int32)))


def _moved_bytes(given: _Given) -> int:
    """Boxes are read and answers, a byte each, written; of the depths no more than four pixels per box are read."""
    count = len(given.boxes)
    return given.boxes.nbytes + count + min(4 * count * given.depth.itemsize, given.depth.nbytes)


def _judge(given: _Given, outputs: Mapping[str, np.ndarray]) -> dict[str, Gaps]:
    """The library agrees with the reference and hides nothing that a test of every pixel shows; peers come close."""
    expected = visible_boxes(depth_pyramid(given.depth), given.boxes, given.matrix, backend="reference")
    shown = _by_every_pixel(given)
    own, *peers = outputs
    require(own, float(np.mean(outputs[own] != expected)) <= _ROUNDING, "it differs from the reference")
    require(own, not (shown & ~outputs[own][: len(shown)]).any(), "a visible box is hidden")
    for name in peers:
        output, right = outputs[name], expected[: len(outputs[name])]
        hidden, in_vain = float(np.mean(shown & ~output[: len(shown)])), float(np.mean(output & ~right))
        require(name, hidden <= _AT_THE_EDGE, f"{100 * hidden:.2g} % of the boxes are hidden though visible")
        require(name, in_vain <= _IN_VAIN, f"{100 * in_vain:.2g} % of the boxes are shown though hidden")
    return {}
