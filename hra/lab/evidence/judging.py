"""What a reader answers: right or wrong for every question of a shard."""

from __future__ import annotations

import numpy as np
import torch

from hra.lab.evidence.reader import Reader
from hra.lab.evidence.shards import Shard


def right(reader: Reader, shard: Shard, *, values: bool = True, device: str = "cpu", batch: int = 250) -> np.ndarray:
    """Whether each answer is right, bool [N, 4]; without ``values`` the pixels are grey, and only boxes tell."""
    found = []
    with torch.no_grad():
        for start in range(0, len(shard), batch):
            part = slice(start, start + batch)
            pixels = torch.from_numpy(shard.pixels[part]).to(device).float() / 255
            boxes = torch.from_numpy(shard.boxes[part]).to(device)
            words = torch.from_numpy(shard.words[part].astype(np.int64)).to(device)
            scores = reader(pixels if values else torch.full_like(pixels, 0.5), boxes, words)
            found.append(scores.argmax(-1).cpu().numpy() == shard.answers[part])
    return np.concatenate(found)
