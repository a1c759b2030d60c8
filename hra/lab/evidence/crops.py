"""Crops of single plates: what the reader's stem learns to read before it sees tokens that hold parts of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, grid_sample

from hra.lab.evidence.canvas import PATCH, SIDE
from hra.lab.evidence.questions import ANSWERS
from hra.lab.evidence.reader import Reader
from hra.lab.evidence.stock import Stock

_CANVASES = 32
_EACH = 8
_RATE = 2e-3
# At random: how much wider than a plate a crop is, and how far its middle is from the plate's, in sides of the plate.
_WIDER = (0.85, 1.15)
_ASIDE = 0.12


def learn_crops(reader: Reader, stock: Stock, steps: int, seed: int) -> None:
    """Train the stem of ``reader`` on crops, with a head that is thrown away, for ``steps`` batches of up to 256."""
    width = reader.size.width
    device = next(reader.parameters()).device
    head = nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, len(ANSWERS))
    )
    head.to(device)
    optimiser = torch.optim.AdamW([*reader.pixels.parameters(), *head.parameters()], lr=_RATE, weight_decay=0.02)
    for step in range(steps):
        random = np.random.default_rng((seed, step, 1))
        pixels, answers = crops(stock, random.integers(0, len(stock.ground), _CANVASES), random)
        loss = cross_entropy(head(reader.pixels(2 * pixels[None].to(device) - 1)), answers.to(device))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def crops(stock: Stock, rows: np.ndarray, random: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Pixels float32 [M, 768] in 0 .. 1 of up to eight plates of each of the canvases ``rows``, and answers [M]."""
    order = np.argsort(random.random((len(rows), stock.things.shape[1])), axis=1)[:, :_EACH]
    things = stock.things[rows[:, None], order].astype(np.float32)
    side = things[..., 2] - things[..., 0]
    middle = (things[..., :2] + things[..., 2:4]) / 2
    middle += random.uniform(-_ASIDE, _ASIDE, middle.shape).astype(np.float32) * side[..., None]
    side *= random.uniform(*_WIDER, side.shape).astype(np.float32)
    steps = (np.arange(PATCH, dtype=np.float32) + 0.5) / PATCH - 0.5
    down, across = np.meshgrid(steps, steps, indexing="ij")
    at = middle[..., None, None, :] + side[..., None, None, None] * np.stack([across, down], axis=-1)
    images = torch.from_numpy(stock.images[rows]).permute(0, 3, 1, 2).float() / 255
    found = grid_sample(images, torch.from_numpy(2 * at / SIDE - 1).flatten(1, 2), align_corners=False)
    found = found.unflatten(2, (-1, PATCH)).permute(0, 2, 3, 4, 1).flatten(2)
    there = torch.from_numpy(things[..., 4] >= 0)
    return found[there], torch.from_numpy(things[..., 5].astype(np.int64))[there]
