"""Filtered look-ups beside torch's grid_sample and OpenCV's remap, which know one level and no footprint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from hra.kernels import Pyramid, build_pyramid, sample
from hra.kernels.sampling.sample import Look, level_maps, probes
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender
from hra_lab.bench.kernels import peers_opencv, peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import compare
from hra_lab.bench.kernels.peers import gather, on_two_threads

# OpenCV places look-ups in steps of 1/32 pixel.
_ERROR, _PEER_ERROR = 2e-6, 3e-2
_IMAGE_SIDE = 2048

Given = tuple[np.ndarray, dict[str, np.ndarray]]


def trilinear(count: int, device: Device) -> Case:
    """Points anywhere in an RGBA image, float32, at levels from 0 to 4."""
    return _case(count, device, lambda rng: {"level": (4 * rng.random(count)).astype(np.float32)})


def anisotropic(count: int, device: Device) -> Case:
    """Footprints in all directions, up to 16 times as long as wide."""

    def footprints(rng: np.random.Generator) -> dict[str, np.ndarray]:
        angle, longer = 2 * np.pi * rng.random(count), 2 ** (4 * rng.random(count))
        sides = np.stack([np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)], axis=1).reshape(-1, 2, 2)
        sides[:, 0] *= longer[:, None]
        return {"footprint": sides.astype(np.float32)}

    return _case(count, device, footprints)


def _case(count: int, device: Device, asked: Callable[[np.random.Generator], dict[str, np.ndarray]]) -> Case:
    side = min(_IMAGE_SIDE, count)
    image = seeded_inputs.images(side, 4, np.float32)(0)
    pyramid = build_pyramid(image)
    sent = Pyramid(device.send(pyramid.data), pyramid.layout, pyramid.reduce)

    def inputs(number: int) -> Given:
        rng = np.random.default_rng(number)
        points = (rng.random((count, 2)) * (side - 2) + 1).astype(np.float32)
        return points, asked(rng)

    def send(given: Given) -> Any:
        points, what = given
        return device.send(points), {name: device.send(array) for name, array in what.items()}

    own = Contender(
        "hra", lambda given: sample(sent, given[0], **given[1]), send, read=lambda values: [device.fetch(values)]
    )
    # The same number of bilinear look-ups in the same levels, added up with the same weights: what takes the peers'
    # time is the look-ups, and the levels and weights are worked out outside of the clock.
    peers = {
        "hra, 2 threads": on_two_threads(own),
        "torch": partial(_grid_sample, pyramid=pyramid),
        "OpenCV": partial(_remap, pyramid=pyramid),
    }
    others, absent = gather(device, peers)
    points, what = inputs(0)
    moved = points.nbytes + sum(array.nbytes for array in what.values()) + 16 * count
    judge = compare(lambda given: [sample(pyramid, given[0], **given[1], backend="reference")], _ERROR, _PEER_ERROR)
    return Case((own, *others), inputs, judge, count, moved, absent)


Plan = list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]


def plan(pyramid: Pyramid, given: Given) -> Plan:
    """For each level: which points read it, where (x, y) among its pixels, and with which weight."""
    points, what = given
    maps = level_maps(pyramid)
    look = Look(None, pyramid.layout, maps, points, None, what.get("level"), what.get("footprint"))
    number, along, level = probes(look)
    point = np.repeat(np.arange(len(points)), number)
    first = np.repeat(np.cumsum(number) - number, number)
    place = points[point] + along[point] * (((np.arange(len(point)) - first + 0.5) / number[point]) - 0.5)[:, None]
    found: Plan = []
    for index in range(len(pyramid.layout.sizes)):
        weight = np.maximum(1 - np.abs(level[point] - index), 0) / number[point]
        here = np.flatnonzero(weight > 0)
        if here.size:
            at = place[here] * maps[index, ::2] + maps[index, 1::2]
            found.append((index, point[here], at.astype(np.float32), weight[here, None].astype(np.float32)))
    return found


def _grid_sample(device: Device, *, pyramid: Pyramid) -> Iterator[Contender]:
    torch = peers_torch.load(device)
    planes = [np.ascontiguousarray(level.transpose(2, 0, 1))[None] for level in pyramid.levels]
    levels = [torch.as_tensor(plane, device=device.name) for plane in planes]

    def prepare(given: Given) -> Any:
        steps = []
        for index, point, at, weight in plan(pyramid, given):
            size = np.array(pyramid.shapes[index][1::-1], np.float32)
            steps.append((index, *peers_torch.tensors((point, (2 * at + 1) / size - 1, weight), device)))
        return len(given[0]), steps

    def run(prepared: Any) -> Any:
        count, steps = prepared
        values = torch.zeros((count, pyramid.layout.channels), device=device.name)
        for index, point, grid, weight in steps:
            found = torch.nn.functional.grid_sample(
                levels[index], grid[None, None], padding_mode="border", align_corners=False
            )
            values.index_add_(0, point, found[0, :, 0].T * weight)
        return values

    yield from peers_torch.contenders(device, "torch grid_sample", run, prepare, lambda found: [found.cpu().numpy()])


def _remap(device: Device, *, pyramid: Pyramid) -> Iterator[Contender]:
    cv2 = peers_opencv.load(device)
    # One row of a map may have 32,767 columns.
    width = 16_384

    def prepare(given: Given) -> Any:
        steps = []
        for index, point, at, weight in plan(pyramid, given):
            rows = -(-len(at) // width)
            padded = np.zeros((rows * width, 2), np.float32)
            padded[: len(at)] = at
            steps.append((index, point, padded.reshape(rows, width, 2), weight))
        return len(given[0]), steps

    def run(prepared: Any) -> np.ndarray:
        count, steps = prepared
        values = np.zeros((count, pyramid.layout.channels), np.float32)
        for index, point, at, weight in steps:
            found = cv2.remap(pyramid.levels[index], at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            found = found.reshape(-1, values.shape[1])[: len(point)]
            # The look-ups of a point stand side by side.
            first = np.flatnonzero(np.diff(point, prepend=-1))
            values[point[first]] += np.add.reduceat(found * weight, first)
        return values

    yield Contender("OpenCV remap", run, prepare, read=lambda values: [values])
