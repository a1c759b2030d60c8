"""What selection, compression and both leave of features, at equal counts of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.methods.gestalt.compressed import Compressor
from hra.domains.tokens.pyramid.blocks import cell_means
from hra.model.arrays import to_numpy
from hra_lab.evaluation.compressors.decoder import Decoder
from hra_lab.evaluation.compressors.inputs import PATCH, Pictures, encoder
from hra_lab.evaluation.compressors.training import trained

# Of the patches: those of most relevance, which single patches are for.
_MATTERS = 0.1
Grid = tuple[int, int]


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
