"""What a frame of tokens or a texture is built with, from its pixels to the errors of its parts, beside torch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hra.domains.textures.detail_error import detail_of_image
from hra.domains.textures.tiles import tile_pages
from hra.domains.tokens.pyramid.pyramid import full_depth
from hra.kernels import build_pyramid, level_errors, node_errors
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender
from hra_lab.bench.kernels import peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import compare
from hra_lab.bench.kernels.levels import coarser_levels
from hra_lab.bench.kernels.peers import gather, on_two_threads

_PATCH, _TILE = 16, 128
# Relative to the largest error: all sum float32 squares.
_OWN_ERROR, _ERROR = 1e-5, 1e-4


def tokens_batch(side: int, device: Device) -> Case:
    """Patch pyramids, squared errors by level and gains of a batch of RGB images: 16 of 512 x 512 pixels, 4 of 128.

    torch pools levels and errors by avg_pool2d, and enlarges by the same average interpolation.
    """
    image, images = seeded_inputs.images(side, 3, np.float32)(0), side // 32

    def inputs(number: int) -> np.ndarray:
        return np.stack([np.roll(image, 29 * (number + 3 * one), axis=(0, 1)) for one in range(images)])

    def build(batch: Any, backend: str = "auto") -> list[Any]:
        pyramid = build_pyramid(batch, "block_mean", full_depth((side, side), _PATCH), backend)
        errors = level_errors(pyramid, _PATCH, backend=backend)
        node_errors(errors, backend=backend)
        return [errors]

    return _case(images * side**2, device, inputs, build, _torch_tokens, 4 * 3 * images * side**2)


def mips_errors(side: int, device: Device) -> Case:
    """Mip levels of an RGB texture of bytes, and the detail error of each of its tiles."""
    inputs = seeded_inputs.images(side, 3, np.uint8)
    level = tile_pages(side, side, _TILE).level

    def build(image: Any, backend: str = "auto") -> list[Any]:
        _, detail = detail_of_image(image, _TILE, backend=backend)
        return [detail[level == each] for each in range(level.max())]

    return _case(side * side, device, inputs, build, _torch_mips, 3 * side * side)


def _case(size: int, device: Device, inputs: Any, build: Any, torch_peer: Any, moved: int) -> Case:
    def scaled(output: list[Any]) -> list[np.ndarray]:
        parts = [device.fetch(part) for part in output]
        largest = max(1e-30, *(float(part.max(initial=0)) for part in parts))
        return [(part / largest).astype(np.float32) for part in parts]

    own = Contender("hra", build, device.send, read=scaled)
    peers = {"hra, 2 threads": on_two_threads(own), "torch": partial(torch_peer, read=scaled)}
    others, absent = gather(device, peers)
    judge = compare(lambda given: scaled(build(given, "reference")), _OWN_ERROR, _ERROR)
    return Case((own, *others), inputs, judge, size, moved, absent)


def _torch_tokens(device: Device, *, read: Any) -> Iterator[Contender]:
    torch = peers_torch.load(device)
    functional = torch.nn.functional
    near, far = 22 / 128, 3 / 128

    def split(cells: Any) -> Any:
        """Twice as many columns, whose pairs have the means of the cells."""
        right, left = (functional.pad(cells, side, mode="replicate") for side in ((0, 2, 0, 0), (2, 0, 0, 0)))
        slope = near * (right[..., 1:-1] - left[..., 1:-1]) - far * (right[..., 2:] - left[..., :-2])
        return torch.stack([cells - slope, cells + slope], dim=-1).flatten(-2)

    def run(pixels: Any) -> Any:
        side = pixels.shape[-1]
        depth = (side // _PATCH).bit_length()
        levels = coarser_levels(pixels, lambda level: functional.avg_pool2d(level, 2), depth - 1)
        errors = [torch.zeros((len(pixels), side // _PATCH, side // _PATCH), device=device.name)]
        for level in levels:
            while level.shape[-1] < side:
                level = split(split(level.transpose(2, 3)).transpose(2, 3))
            squares = (level.clamp(0, 1) - pixels).square().sum(dim=1)
            pooled = functional.avg_pool2d(squares[:, None], _PATCH)[:, 0] * _PATCH**2
            errors.append(torch.maximum(errors[-1], pooled))
        for finer, coarser in pairwise(errors):
            _ = coarser - finer
        return torch.stack(errors, dim=1)

    def prepare(batch: np.ndarray) -> Any:
        return torch.as_tensor(batch, device=device.name).permute(0, 3, 1, 2).contiguous()

    yield from peers_torch.contenders(
        device, "torch avg_pool2d", run, prepare, lambda found: read([found.double().cpu().numpy()])
    )


def _torch_mips(device: Device, *, read: Any) -> Iterator[Contender]:
    torch = peers_torch.load(device)
    functional = torch.nn.functional

    def tiles(level: Any, side: int) -> Any:
        channels, rows, columns = level.shape[1], level.shape[2] // side, level.shape[3] // side
        cut = level.reshape(channels, rows, side, columns, side).permute(1, 3, 0, 2, 4)
        return cut.reshape(rows * columns, channels, side, side)

    def run(pixels: Any) -> Any:
        fine, found = pixels.float(), []
        while fine.shape[-1] > _TILE:
            coarse = functional.avg_pool2d(fine, 2).round()
            # A view interpolates within a tile of the coarser level.
            shown = functional.interpolate(tiles(coarse, _TILE), scale_factor=2, mode="bilinear", align_corners=False)
            band = (tiles(fine, 2 * _TILE) - shown).square().mean(dim=1, keepdim=True) / 255**2
            count = coarse.shape[-1] // _TILE
            each = functional.avg_pool2d(band, _TILE).reshape(count, count, 2, 2).permute(0, 2, 1, 3)
            found.append(each.reshape(-1))
            fine = coarse
        return found

    def prepare(image: np.ndarray) -> Any:
        return torch.as_tensor(image, device=device.name).permute(2, 0, 1)[None].contiguous()

    yield from peers_torch.contenders(
        device, "torch avg_pool2d", run, prepare, lambda found: read([part.double().cpu().numpy() for part in found])
    )
