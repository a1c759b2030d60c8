"""What a reader answers: right or wrong for every question of a shard."""

from __future__ import annotations

import numpy as np
import torch

from hra.lab.evidence.reader import Reader
from hra.lab.evidence.shards import Shard
from hra.lab.evidence.training import inputs


def right(reader: Reader, shard: Shard, *, device: str = "cpu", batch: int = 256) -> np.ndarray:
    """Whether each answer is right in whole, codes with both letters, bool [N, 4]."""
    found = []
    with torch.no_grad():
        for start in range(0, len(shard), batch):
            rows = np.arange(start, min(start + batch, len(shard)))
            first, second = (scores.argmax(-1).cpu().numpy() for scores in reader(*inputs(shard, rows, device)))
            answers, seconds = shard.answers[rows], shard.seconds[rows]
            found.append((first == answers) & ((second == seconds) | (seconds < 0)))
    return np.concatenate(found)
