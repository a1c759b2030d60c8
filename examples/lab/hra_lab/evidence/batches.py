"""What a reader is asked in one step of its training: half of the steps views, half tokens of a method drawn at random.

One step in sixteen shows grey tokens in their places, one in sixteen no places either: what can be answered then is
learned as well as all else, so that the controls are no guesses of a reader that never had to do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hra_lab.evidence.canvas import SIDE
from hra_lab.evidence.shards import Shard
from hra_lab.evidence.stock import Stock
from hra_lab.evidence.views import view

COUNTS = (10, 17, 34, 34, 68, 256)
_EACH = 16
_GREY = 0.5


class Batch(NamedTuple):
    """Pixels float32 [B, K, 768] in 0 .. 1, boxes int16 [B, K, 4], words int64 [B, Q, 3], answers int64 [B, Q]."""

    pixels: Tensor
    boxes: Tensor
    words: Tensor
    answers: Tensor


def batch_at(stock: Stock, shards: Sequence[Shard], tokens: int, random: np.random.Generator) -> Batch:
    """A batch of about ``tokens`` tokens in all."""
    blind = int(random.integers(_EACH))
    if shards and random.random() < 0.5:
        batch = _of_shard(shards[int(random.integers(len(shards)))], tokens, random)
    else:
        count = int(random.choice(COUNTS))
        seen = view(stock, random.integers(0, len(stock.ground), tokens // count), count, random)
        batch = Batch(seen.pixels, seen.boxes, seen.words, seen.answers)
    return without(batch, values=blind > 1, places=blind > 0)


def _of_shard(shard: Shard, tokens: int, random: np.random.Generator) -> Batch:
    return of_shard(shard, random.integers(0, len(shard), tokens // shard.pixels.shape[1]))


def of_shard(shard: Shard, rows: np.ndarray) -> Batch:
    """Some canvases of a shard."""
    return Batch(
        torch.from_numpy(shard.pixels[rows]).float() / 255,
        torch.from_numpy(shard.boxes[rows]),
        torch.from_numpy(shard.words[rows].astype(np.int64)),
        torch.from_numpy(shard.answers[rows].astype(np.int64)),
    )


def without(batch: Batch, *, values: bool, places: bool) -> Batch:
    """The same in grey unless there are ``values``, and all over the canvas unless there are ``places``."""
    if not values:
        batch = batch._replace(pixels=torch.full_like(batch.pixels, _GREY))
    if not places:
        batch = batch._replace(boxes=torch.tensor([0, 0, SIDE, SIDE]).to(batch.boxes).expand_as(batch.boxes))
    return batch
