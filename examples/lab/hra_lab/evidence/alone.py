"""Tokens one by one: what a reader's stem learns before the reader is asked anything."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from hra_lab.evidence.stem import Stem
from hra_lab.evidence.stock import Stock
from hra_lab.evidence.views import view

_CANVASES, _EACH = 16, 48
_RATE, _WARM_UP = 2e-3, 100
# So many of the tokens that show nothing are left out: most do.
_LEFT_OUT = 0.7


def learn_tokens(stem: Stem, stock: Stock, steps: int, seed: int) -> None:
    """Train ``stem`` to tell what tokens of all levels show, for ``steps`` batches of 16 canvases."""
    optimiser = torch.optim.AdamW(stem.parameters(), lr=_RATE, weight_decay=0.02)
    for step in range(steps):
        random = np.random.default_rng((seed, step, 1))
        pixels, shown = _batch(stock, random)
        for group in optimiser.param_groups:
            group["lr"] = _RATE * min((step + 1) / _WARM_UP, 0.5 * (1 + math.cos(math.pi * step / steps)))
        device = next(stem.parameters()).device
        loss = loss_of_tokens(stem, pixels.to(device), shown.to(device))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _batch(stock: Stock, random: np.random.Generator) -> tuple[Tensor, Tensor]:
    seen = view(stock, random.integers(0, len(stock.ground), _CANVASES), _EACH, random)
    pixels, shown = seen.pixels.flatten(0, 1), seen.shown.flatten(0, 1)
    kept = (shown[:, 0] != 0) | torch.from_numpy(random.random(len(shown)) > _LEFT_OUT)
    return pixels[kept], shown[kept]


def loss_of_tokens(stem: Stem, pixels: Tensor, shown: Tensor) -> Tensor:
    """Mean cross entropy of each part of the labels [M, 3] that is known."""
    loss = pixels.new_zeros(())
    for part, scores in enumerate(stem.see(pixels)[1]):
        known = shown[:, part] >= 0
        if bool(known.any()):
            loss = loss + cross_entropy(scores[known], shown[known, part])
    return loss
