"""What a reader makes of the pixels of one token."""

from __future__ import annotations

from torch import Tensor, nn

from hra.lab.evidence.canvas import PATCH


def stem(width: int) -> nn.Sequential:
    """Pixels [B, K, 768] of each token by itself to [B, K, width], by two convolutions.

    One linear map per pixel does not learn to read: what a letter is stays the same a few pixels further.
    """
    return nn.Sequential(
        nn.Flatten(0, 1),
        nn.Unflatten(1, (PATCH, PATCH, 3)),
        _ChannelsFirst(),
        nn.Conv2d(3, 24, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(24, 48, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Flatten(1),
        nn.Linear(48 * (PATCH // 4) ** 2, width),
    )


class _ChannelsFirst(nn.Module):
    """As convolutions take images."""

    def forward(self, x: Tensor) -> Tensor:
        """[N, H, W, 3] to [N, 3, H, W]."""
        return x.permute(0, 3, 1, 2)
