"""What selection, compression and both leave of features, at equal counts of tokens.

A learned compressor, trained so that a linear map tells the features of each cell from its token.

Pictures of the samples, one part to train on and another to judge by, and features of their patches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra import samples
from hra.domains import tokens
from hra.domains.tokens.methods.gestalt.compressed import Compressor
from hra.domains.tokens.pyramid.blocks import cell_means
from hra.files.images import load_image
from hra.model.arrays import to_numpy
from hra_lab.bench.kernels.peers_torch import load
from hra_lab.evaluation.compressors.decoder import Cell, Decoder, spread

# Of the patches: those of most relevance, which single patches are for.
_MATTERS = 0.1
Grid = tuple[int, int]
# Tokens along each side of a crop; more than one, for heads see beyond their cell.
_TOKENS = 6
PATCH = 16
# Rows and columns of pixels: what is trained on and what is judged share no pixel.
_PARTS = {
    "photo.jpg": ([(0, 1024, 0, 1024)], (0, 1024, 1024, 2048)),
    "earth.jpg": ([(512, 1536, 0, 1024), (512, 1536, 1024, 2048)], (512, 1536, 2048, 3072)),
    "page.png": ([(0, 704, 0, 1024)], (730, 1754, 0, 1024)),
}


@dataclass(frozen=True, eq=False)
class Pictures:
    """Images float32 [H, W, 3], sides multiples of 64 pixels.

    Attributes
    ----------
    train : without names.
    judged : by the name of the sample.
    """

    train: list[np.ndarray]
    judged: dict[str, np.ndarray]

    @classmethod
    def of_samples(cls, side: int) -> Pictures:
        """The first ``side`` pixels of the parts of each sample, fewer where there are fewer."""
        train: list[np.ndarray] = []
        judged: dict[str, np.ndarray] = {}
        for name, (parts, last) in _PARTS.items():
            image = load_image(samples.path(name))
            train += [_cut(image, part, side) for part in parts]
            judged[name] = _cut(image, last, side)
        return cls(train, judged)


def encoder(width: int):
    """Image -> features [rows, columns, width] of its patches: their pixels, projected. Weights there are none."""

    def encode(image: np.ndarray) -> np.ndarray:
        rows, columns = image.shape[0] // PATCH, image.shape[1] // PATCH
        patches = image.reshape(rows, PATCH, columns, PATCH, 3).swapaxes(1, 2).reshape(rows, columns, -1)
        return tokens.project(patches - np.float32(0.5), width)

    return encode


def _cut(image: np.ndarray, part: tuple[int, int, int, int], side: int) -> np.ndarray:
    top, bottom, left, right = part
    return np.ascontiguousarray(image[top : min(bottom, top + side), left : min(right, left + side)])


def trained(features: list[np.ndarray], cell: Cell, steps: int, progress: Callable[[str], None]) -> Any:
    """A `Resampler`.

    Parameters
    ----------
    features : of the pictures to train on.
    steps : of Adam, on a crop each.
    """
    torch = load()
    from hra.domains.tokens.learned import Resampler

    width = features[0].shape[2]
    network = Resampler(width, heads=8)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        decoder = torch.nn.Linear(width, cell[0] * cell[1] * width)
        torch.nn.init.zeros_(decoder.weight)
    parameters = [*network.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    rng, spreads = np.random.default_rng(0), [spread(each) for each in features]
    for step in range(steps):
        crop, grid = _crop(features[step % len(features)], cell, rng)
        tokens = network(crop, grid)
        made = decoder(tokens).reshape(*grid, *cell, width) + tokens[:, :, None, None]
        wanted = torch.as_tensor(crop).reshape(grid[0], cell[0], grid[1], cell[1], width).swapaxes(1, 2)
        loss = (made - wanted).square().mean() / spreads[step % len(features)]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            progress(f"step {step}")
    return network.eval().requires_grad_(False)


def _crop(features: np.ndarray, cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, int]]:
    """Some cells side by side, and how many."""
    rows, columns = features.shape[0] // cell[0], features.shape[1] // cell[1]
    grid = (min(_TOKENS, rows), min(_TOKENS, columns))
    top, left = rng.integers(0, rows - grid[0] + 1), rng.integers(0, columns - grid[1] + 1)
    first, second = top * cell[0], left * cell[1]
    crop = features[first : first + grid[0] * cell[0], second : second + grid[1] * cell[1]]
    return np.ascontiguousarray(crop), grid


@dataclass(frozen=True)
class CompressorSizes:
    """Pixels along a side, length of a feature, steps of training, (grid of the base, single patches) of each mix."""

    side: int
    width: int
    steps: int
    alone: int
    mixes: tuple[tuple[Grid, int], ...]


FULL = CompressorSizes(1024, 64, 1500, 256, (((16, 16), 0), ((8, 16), 128), ((16, 16), 273)))
SMALL = CompressorSizes(256, 16, 3, 16, (((4, 4), 0), ((2, 4), 8)))


def run(sizes: CompressorSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """One row for each picture and mix."""
    pictures, encode = Pictures.of_samples(sizes.side), encoder(sizes.width)
    features = [encode(image) for image in pictures.train]
    rows: list[dict[str, Any]] = []
    for name, image in pictures.judged.items():
        rows += [{"picture": name, **row} for row in _selected(image, encode, sizes)]
    for grid, single in sizes.mixes:
        cell = (sizes.side // PATCH // grid[0], sizes.side // PATCH // grid[1])
        wholes = [_whole(each, cell) for each in features]
        for kind, compressor, decoder in _compressors(wholes, cell, sizes.steps, progress):
            for name, image in pictures.judged.items():
                row = _compressed(image, encode, grid, single, compressor, decoder)
                rows.append({"picture": name, "kind": kind, "base": grid[0] * grid[1], "single": single, **row})
    return {
        "side": sizes.side,
        "width": sizes.width,
        "steps": sizes.steps,
        "cells": (sizes.side // PATCH) ** 2,
        "rows": rows,
    }


def _compressors(
    features: list[np.ndarray], cell: Grid, steps: int, progress: Callable[[str], None]
) -> Iterator[tuple[str, Compressor, Decoder]]:
    """What makes tokens, and what tells features from them."""
    yield "pooling, repeated", cell_means, Decoder.repeating(features[0].shape[2], cell)
    yield "pooling, decoded", cell_means, _decoder(cell_means, features, cell)
    network = trained(features, cell, steps, progress)
    yield "learned, decoded", network, _decoder(network, features, cell)


def _decoder(compressor: Compressor, features: list[np.ndarray], cell: Grid) -> Decoder:
    grids = [(each.shape[0] // cell[0], each.shape[1] // cell[1]) for each in features]
    made = [to_numpy(compressor(*pair)) for pair in zip(features, grids, strict=True)]
    return Decoder.fitted(made, features, cell)


def _whole(features: np.ndarray, cell: Grid) -> np.ndarray:
    """Without the rows and columns of a broken cell."""
    return features[: features.shape[0] // cell[0] * cell[0], : features.shape[1] // cell[1] * cell[1]]


def _selected(image: np.ndarray, encode: Any, sizes: CompressorSizes) -> Iterator[dict[str, Any]]:
    """Single patches alone: every other patch is taken for the kept one that is next to it."""
    even = tokens.UniformGrid(tokens.UniformRelevance())
    for kind, allocator in (("even grid", even), ("most relevant", tokens.GridTopK())):
        chosen = allocator.realize(allocator.allocate((image, ""), sizes.alone))
        whole = encode(image)
        y, x = np.indices(whole.shape[:2]).reshape(2, -1)
        kept = (chosen.centres[:, ::-1] / PATCH - 0.5).round().astype(int)
        nearest = ((np.stack([y, x], axis=1)[:, None] - kept[None]) ** 2).sum(axis=2).argmin(axis=1)
        shown = chosen.pool(whole)[nearest].reshape(whole.shape)
        yield {"kind": kind, "base": 0, "single": len(chosen), **_left(image, whole, shown)}


def _compressed(
    image: np.ndarray, encode: Any, grid: Grid, single: int, compressor: Compressor, decoder: Decoder
) -> dict[str, float]:
    """Base tokens and the most relevant patches over them."""
    gestalt = tokens.CompressedGestalt(*grid, compressor=compressor)
    allocator = tokens.GestaltSaccades(gestalt=gestalt)
    chosen = allocator.realize(allocator.allocate((image, ""), grid[0] * grid[1] + single))
    made, whole = np.asarray(chosen.encode(encode, image)), encode(image)
    shown = decoder.decode(made[: len(chosen.base)].reshape(*grid, -1))
    x, y = chosen.saccades.T
    shown[y, x] = made[len(chosen.base) :]
    return _left(image, whole, shown)


def _left(image: np.ndarray, whole: np.ndarray, shown: np.ndarray) -> dict[str, float]:
    """Share of the features' variance that is not shown, everywhere and in the patches that matter most."""
    missing = ((whole - shown) ** 2).sum(axis=2)
    spread = ((whole - whole.mean(axis=(0, 1))) ** 2).sum(axis=2)
    relevance = tokens.GridTopK().context(image, "").relevance
    matters = relevance >= np.quantile(relevance, 1 - _MATTERS)
    return {
        "left": float(missing.sum() / spread.sum()),
        "left_where_it_matters": float(missing[matters].sum() / spread[matters].sum()),
    }
