"""Few tokens of all that a real encoder puts out: single ones, means, a learned compressor, and both together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.domains.tokens.learned import Resampler
from hra.domains.tokens.pyramid.blocks import cell_means
from hra.model.arrays import to_numpy
from hra_lab.evaluation.compressors.decoder import Decoder
from hra_lab.evaluation.encoder.reading import CELLS, Reading, reading_of
from hra_lab.evaluation.encoder.vit import VisionTransformer, grid_centres, whole
from hra_lab.evaluation.encoder.ways import TOKENS, Encoded, Row

SIDE = CELLS // 2
_MEANS, _LEARNED, _TRAINED = "means of 2 x 2", "trained compressor", 400
_DECODED = ", decoded"
_BOTH = "both: 32 of {}, decoded, 32 single"
SAID = (
    (_LEARNED, _MEANS),
    (_LEARNED + _DECODED, _MEANS + _DECODED),
    (_BOTH.format(_LEARNED), _BOTH.format(_MEANS)),
)
"""What was trained, and what it is told beside."""
# All three were chosen on a part of the development half.
_RATE, _DECAY, _PRICE = 3e-4, 0.1, 1.0
Compress = Callable[[np.ndarray, tuple[int, int]], Any]
Told = Callable[[np.ndarray], np.ndarray]
"""From the features [16, 16, d] of a photo to what few tokens tell of them."""


def rows(
    vit: VisionTransformer, images: Sequence[np.ndarray], steps: int, progress: Callable[[str], None]
) -> Iterator[Row]:
    """What 64 of 256 tokens tell after the encoder; what is trained sees ``images`` and their mirrors alone.

    Tokens of 2 x 2 cells are interpolated, or *decoded* by a linear map that is fitted on the same images. Of both
    together 32 tokens are compressed, from 2 x 4 cells each, and 32 are those that these miss most.

    Parameters
    ----------
    steps : of training, at most 400.
    """
    features = [_features(whole(vit, each)) for image in images for each in (image, image[:, ::-1].copy())]
    corners = grid_centres(CELLS) * CELLS - 0.5
    singles = np.concatenate([corners, corners + 1], axis=1)
    even = np.arange(CELLS**2).reshape(CELLS, CELLS)[::2, ::2].ravel()
    drawn = np.sort(np.random.default_rng(0).permutation(CELLS**2)[:TOKENS])
    for name, kept in (("uniform: every second token each way", even), ("random tokens", drawn)):
        weights = reading_of(singles[kept]).blended
        yield _row(name, lambda every, kept=kept, weights=weights: weights @ _flat(every)[kept])
    progress("compressor")
    network = trained(features, min(_TRAINED, 7 * steps))
    kinds: tuple[tuple[str, Compress], ...] = ((_MEANS, cell_means), (_LEARNED, network))
    for name, compress in kinds:
        yield _row(name, lambda every, by=compress: spread() @ to_numpy(by(every, (SIDE, SIDE))).reshape(TOKENS, -1))
        yield _row(name + _DECODED, _decoded(compress, features, 2))
    for name, compress in kinds:
        half = _decoded(compress, features, 4)
        yield _row(_BOTH.format(name), lambda every, by=half: _with_singles(by(every), every))


def trained(features: Sequence[np.ndarray], steps: int) -> Resampler:
    """A compressor to 8 x 8 whose tokens, interpolated, are like the features [16, 16, d] of one photo in each step."""
    network, draw = Resampler(features[0].shape[2]), np.random.default_rng(0)
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    weights = torch.from_numpy(spread())
    with torch.enable_grad():
        for _ in range(steps):
            every = torch.from_numpy(features[int(draw.integers(len(features)))])
            made = weights @ network(every, (SIDE, SIDE)).flatten(0, 1)
            loss = (made - every.flatten(0, 1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            falling.step()
    return network.eval().requires_grad_(False)


@cache
def spread() -> np.ndarray:
    """Weights float32 [256, 64] that interpolate 8 x 8 tokens over the cells."""
    middles = grid_centres(SIDE) * CELLS
    return reading_of(np.concatenate([middles - 1, middles + 1], axis=1)).blended


def _row(name: str, told: Told) -> Row:
    def way(vit: VisionTransformer, image: np.ndarray) -> Encoded:
        every = whole(vit, image)
        shown = np.asarray(told(_features(every)), np.float32).reshape(len(every), -1)
        lengths = (CELLS**2 + 1,) * len(vit.blocks)
        return Encoded(every[:TOKENS], _NOWHERE, lengths, CELLS**2, torch.from_numpy(shown))

    return Row("after", name, way)


_NOWHERE = Reading(*np.zeros((2, CELLS**2, TOKENS), np.float32))


def _decoded(compress: Compress, features: list[np.ndarray], across: int) -> Told:
    """Tokens of 2 x ``across`` cells through a linear map."""
    cell = (2, across)
    grid = (CELLS // cell[0], CELLS // cell[1])
    made = [to_numpy(compress(each, grid)) for each in features]
    decoder = Decoder.fitted(made, features, cell, _PRICE)
    return lambda every: decoder.decode(to_numpy(compress(every, grid)))


def _with_singles(told: np.ndarray, every: np.ndarray) -> np.ndarray:
    """The same with the features of the cells that it misses most."""
    missed = np.square(told - every).sum(axis=2)
    own = np.argsort(-missed, axis=None, kind="stable")[: TOKENS // 2]
    filled = _flat(told).copy()
    filled[own] = _flat(every)[own]
    return filled


def _features(every: Tensor) -> np.ndarray:
    return every.numpy().reshape(CELLS, CELLS, -1)


def _flat(features: np.ndarray) -> np.ndarray:
    return features.reshape(-1, features.shape[-1])
