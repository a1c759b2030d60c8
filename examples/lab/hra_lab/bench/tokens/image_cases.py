"""From 273 tokens back to the image, beside a smaller image that is enlarged again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hra import samples
from hra.domains import tokens
from hra.domains.tokens.pyramid.downsample import patch_grid, resize, restore
from hra.files.images import load_image, psnr
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels.checks import require
from hra_lab.bench.kernels.peers import gather, host_only, require_host
from hra_lab.bench.tokens.selection_cases import budget_of

_CROPS = 8
_SEED = 3
_PATCH = 16


@dataclass(frozen=True, eq=False)
class Shown:
    """An image, its best tokens for plain squared error, and itself made smaller to as many."""

    image: np.ndarray
    tokens: tokens.PatchTokens
    small: np.ndarray


def reconstruction(side: int, device: Device, *, source: str) -> Case:
    """Crops of ``side`` pixels of the sample ``source``, one in each round."""
    require_host(device)
    crops = list(_crops(source, side))
    smaller = Contender("Lanczos, back-projected", lambda shown: restore(shown.small, shown.image.shape[:2]))
    others, absent = gather(device, {"Pillow": host_only(smaller)})
    own = Contender("hra", lambda shown: shown.tokens.reconstruct())
    moved = crops[0].tokens.values.nbytes + crops[0].image.nbytes
    return Case((own, *others), lambda number: crops[number % _CROPS], _judge, side * side, moved, absent)


def gain_db(side: int, *, source: str) -> dict[str, float]:
    """Mean, least and greatest PSNR over the crops, less that of uniform down-sampling to as many tokens."""
    gains = []
    for shown in _crops(source, side):
        uniform = tokens.uniform_downsample(shown.image, budget_of(side))
        gains.append(psnr(shown.tokens.reconstruct(), shown.image) - psnr(uniform, shown.image))
    return {"gain_db": float(np.mean(gains)), "least_gain_db": min(gains), "greatest_gain_db": max(gains)}


def _judge(shown: Shown, outputs: Mapping[str, np.ndarray]) -> dict[str, Gaps]:
    """Images of the right size that resemble the original more than its mean colour does."""
    blank = np.broadcast_to(shown.image.mean(axis=(0, 1)), shown.image.shape)
    floor = psnr(blank, shown.image)
    for name, image in outputs.items():
        require(name, image.shape == shown.image.shape and psnr(image, shown.image) > floor, "not the image")
    return {}


def _crops(source: str, side: int) -> Iterator[Shown]:
    image, rng = load_image(samples.path(source)), np.random.default_rng(_SEED)
    allocator, budget = tokens.PyramidSampling(tokens.UniformRelevance()), budget_of(side)
    rows, columns = patch_grid(side, side, budget)
    for _ in range(_CROPS):
        y, x = (int(rng.integers(extent - side + 1)) for extent in image.shape[:2])
        crop = np.ascontiguousarray(image[y : y + side, x : x + side])
        chosen = allocator.realize(allocator.allocate((crop, ""), budget))
        yield Shown(crop, chosen, resize(crop, (rows * _PATCH, columns * _PATCH)))
