"""A small adapter of a frozen encoder: a vector for each size of token, and a table of positions for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hra_lab.evaluation.encoder.reading import CELLS, reading_of
from hra_lab.evaluation.encoder.vit import VisionTransformer, whole
from hra_lab.evaluation.encoder.ways import Choice, Placed, Shown, by_centre

_RATE, _BATCH = 2e-3, 4


def trained(vit: VisionTransformer, choose: Choice, images: Sequence[np.ndarray], steps: int) -> Placed:
    """Positions that make the output of the few tokens like that of all, learned on images and their mirrors.

    The encoder stays as it is. The loss is the mean squared difference of the maps; Adam, its rate falling to 0.
    """
    pairs = []
    for image in (one for each in images for one in (each, np.ascontiguousarray(each[:, ::-1]))):
        shown = choose(image, vit.patch)
        with torch.no_grad():
            start = torch.cat([vit.lead[None], vit.embed(shown.values) + by_centre(vit, shown)])
            pairs.append((shown, start, torch.from_numpy(reading_of(shown.boxes).blended), whole(vit, image)))
    learned = torch.zeros(_sizes(), vit.width, requires_grad=True)
    tables = torch.zeros(_sizes(), vit.width, CELLS // 2, CELLS // 2, requires_grad=True)
    optimizer = torch.optim.Adam([learned, tables], lr=_RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    draw = np.random.default_rng(0)
    with torch.enable_grad():
        for _ in range(steps):
            optimizer.zero_grad()
            for number in draw.integers(len(pairs), size=_BATCH):
                shown, start, weights, expected = pairs[number]
                moved = torch.cat([start[:1], start[1:] + _added(shown, learned, tables)])
                loss = functional.mse_loss(weights @ vit.output(vit.layers(moved)[1:]), expected)
                (loss / _BATCH).backward()
            optimizer.step()
            falling.step()
    learned, tables = learned.detach(), tables.detach()
    return lambda encoder, shown: by_centre(encoder, shown) + _added(shown, learned, tables)


def _sizes() -> int:
    return CELLS.bit_length()


def _added(shown: Shown, learned: Tensor, tables: Tensor) -> Tensor:
    """What is added to each token, [K, d]: the vector of its size, and that size's table at its centre."""
    size = torch.from_numpy(np.rint(np.log2(np.maximum(shown.width, 1))).astype(np.int64))
    at = torch.from_numpy(np.asarray(2 * shown.centres - 1, np.float32))[None, None].expand(len(tables), -1, -1, -1)
    sampled = functional.grid_sample(tables, at, "bilinear", "border", align_corners=False)[:, :, 0]
    return learned[size] + sampled.permute(0, 2, 1)[size, torch.arange(len(size))]
