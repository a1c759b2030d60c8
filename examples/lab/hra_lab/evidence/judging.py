"""What a reader answers: right or wrong for every question of a shard."""

from __future__ import annotations

import numpy as np
import torch

from hra_lab.evidence.batches import of_shard, without
from hra_lab.evidence.reader import Reader
from hra_lab.evidence.shards import Shard


def right(
    reader: Reader, shard: Shard, *, values: bool = True, places: bool = True, device: str = "cpu", batch: int = 100
) -> np.ndarray:
    """Whether each answer is right, bool [N, 4]; without ``values`` in grey, without ``places`` from anywhere."""
    found = []
    with torch.no_grad():
        for start in range(0, len(shard), batch):
            part = of_shard(shard, np.arange(start, min(start + batch, len(shard))))
            shown = without(part, values=values, places=places)
            scores = reader(shown.pixels.to(device), shown.boxes.to(device), shown.words.to(device))
            found.append(scores.argmax(-1).cpu().numpy() == part.answers.numpy())
    return np.concatenate(found)
