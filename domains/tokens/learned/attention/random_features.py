"""Linear attention by positive random features."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hra.domains.tokens.learned.attention.base import check_heads
from hra.errors import ArrayError


@dataclass(frozen=True)
class RandomFeatureAttention:
    """The exponential of scalar products as a scalar product of random features: O(N features) in place of O(N**2).

    Positive orthogonal features (K. Choromanski et al., "Rethinking attention with Performers", 2021): right on
    average, and the more features, the nearer; the more so, the smaller queries and keys are.

    Parameters
    ----------
    features : at least 1.
    seed : of the features.

    Raises
    ------
    ArrayError : fewer than 1 feature.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> tokens = torch.randn(1, 4, 273, 16, generator=torch.Generator().manual_seed(0))
    >>> learned.RandomFeatureAttention(64)(tokens, tokens, tokens).shape
    torch.Size([1, 4, 273, 16])
    """

    features: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        if self.features < 1:
            raise ArrayError(f"{self.features} features", where="features", fix="use 1 or more")

    def __call__(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """See `WindowedAttention`."""
        check_heads(query, key, value)
        directions = self._directions(query.shape[-1]).to(query)
        scale = query.shape[-1] ** -0.25
        asked, held = (_logarithms(scale * part, directions) for part in (query, key))
        # What is largest in each row, or among all keys, divides out.
        asked = (asked - asked.amax(-1, keepdim=True)).exp()
        held = (held - held.amax((-2, -1), keepdim=True)).exp()
        total = (asked * held.sum(-2, keepdim=True)).sum(-1, keepdim=True)
        return asked @ (held.transpose(-2, -1) @ value) / total.clamp_min(torch.finfo(total.dtype).tiny)

    def _directions(self, width: int) -> Tensor:
        """[features, width]: orthogonal within blocks of the width, as long as normal vectors are."""
        generator = torch.Generator().manual_seed(self.seed)
        blocks = torch.randn(-(-self.features // width), width, width, generator=generator)
        lengths = torch.randn(self.features, width, generator=generator).norm(dim=-1, keepdim=True)
        return torch.linalg.qr(blocks)[0].transpose(-2, -1).flatten(0, 1)[: self.features] * lengths


def _logarithms(part: Tensor, directions: Tensor) -> Tensor:
    return part @ directions.T - part.square().sum(-1, keepdim=True) / 2
