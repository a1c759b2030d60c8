"""What a reader makes of the pixels of one token by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hra_lab.evidence.canvas import PATCH
from hra_lab.evidence.shown import PARTS


class Stem(nn.Module):
    """Two convolutions, and heads that tell what a token shows: what they say is part of what the reader gets.

    One linear map per pixel does not learn to read: what a pattern is stays the same a few pixels further.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Flatten(1),
            nn.Linear(64 * (PATCH // 4) ** 2, width),
            nn.GELU(),
            nn.LayerNorm(width),
        )
        self.shown = nn.ModuleList(nn.Linear(width, count) for count in PARTS)
        self.out = nn.Linear(width + sum(PARTS), width)

    def see(self, pixels: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Of pixels [..., 768] in 0 .. 1 features [..., width], and scores [..., P] of each of `PARTS`."""
        image = pixels.reshape(-1, PATCH, PATCH, 3).permute(0, 3, 1, 2)
        features = self.features(2 * image - 1).reshape(*pixels.shape[:-1], -1)
        return features, [head(features) for head in self.shown]

    def forward(self, pixels: Tensor) -> Tensor:
        """Pixels [..., 768] to [..., width]; what tells pixels apart learns by `see` alone, and stays as it is."""
        with torch.no_grad():
            features, scores = self.see(pixels)
            told = [score.softmax(-1) for score in scores]
        return self.out(torch.cat([features, *told], dim=-1))
