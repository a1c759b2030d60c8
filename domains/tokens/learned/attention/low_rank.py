"""Attention to so many means of the keys."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from hra.domains.tokens.learned.attention.base import check_heads
from hra.errors import ArrayError


@dataclass(frozen=True)
class LowRankAttention:
    """Keys and values are averaged over stretches of the sequence: attention of rank ``rank``, O(N rank).

    The projection of S. Wang et al., "Linformer: Self-attention with linear complexity", 2020, with fixed means in
    place of a learned matrix, so that it fits any number of tokens.

    Parameters
    ----------
    rank : stretches, at least 1; as many as tokens are full attention.

    Raises
    ------
    ArrayError : a rank below 1.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> tokens = torch.randn(1, 4, 273, 16, generator=torch.Generator().manual_seed(0))
    >>> learned.LowRankAttention(32)(tokens, tokens, tokens).shape
    torch.Size([1, 4, 273, 16])
    """

    rank: int = 32

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ArrayError(f"a rank of {self.rank}", where="rank", fix="use 1 or more")

    def __call__(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """See `WindowedAttention`."""
        check_heads(query, key, value)
        keys, values = (self._means(part) for part in (key, value))
        return functional.scaled_dot_product_attention(query, keys, values)

    def _means(self, part: Tensor) -> Tensor:
        """[..., N, D] as [..., min(rank, N), D]."""
        flat = part.reshape(-1, *part.shape[-2:]).transpose(1, 2)
        means = functional.adaptive_avg_pool1d(flat, min(self.rank, part.shape[-2]))
        return means.transpose(1, 2).reshape(*part.shape[:-2], -1, part.shape[-1])
