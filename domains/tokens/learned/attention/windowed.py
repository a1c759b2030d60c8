"""Attention within windows, and to the mean of every window."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from hra.domains.tokens.learned.attention.base import check_heads
from hra.errors import ArrayError


@dataclass(frozen=True)
class WindowedAttention:
    """Every token attends to those of its window of consecutive tokens, and to one mean token for each window.

    Local windows with global tokens (J. Ainslie et al., "ETC: Encoding long and structured inputs in transformers",
    2020). Takes O(N (window + N / window)) in place of O(N**2). A mean token counts as the tokens that it stands for;
    one window for all is full attention.

    Parameters
    ----------
    window : consecutive tokens, at least 1: order tokens so that neighbours lie near, level by level or by place.

    Raises
    ------
    ArrayError : a window below 1.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> tokens = torch.randn(1, 4, 273, 16, generator=torch.Generator().manual_seed(0))
    >>> learned.WindowedAttention(32)(tokens, tokens, tokens).shape
    torch.Size([1, 4, 273, 16])
    """

    window: int = 32

    def __post_init__(self) -> None:
        if self.window < 1:
            raise ArrayError(f"a window of {self.window}", where="window", fix="use 1 or more")

    def __call__(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The mixed values [..., N, D] for query, key and value [..., N, D].

        Raises
        ------
        ArrayError : they differ in shape, or hold no token.
        """
        check_heads(query, key, value)
        count = query.shape[-2]
        queries, keys, values = (self._windows(part) for part in (query, key, value))
        windows, wide = keys.shape[-3:-1]
        there = self._windows(query.new_ones(count, 1))[..., 0]
        held = there.sum(-1)
        means = [part.sum(-2) / held[:, None] for part in (keys, values)]
        near, far = _spread(keys, means[0]), _spread(values, means[1])
        # A mean stands for the tokens of its window but for one's own, whose tokens are there themselves.
        own = torch.eye(windows, dtype=torch.bool, device=query.device)
        pooled = held.log().expand(windows, windows).masked_fill(own, -torch.inf)
        bias = torch.cat([there.log(), pooled], dim=-1)[:, None].expand(windows, wide, wide + windows)
        mixed = functional.scaled_dot_product_attention(queries, near, far, attn_mask=bias.to(query.dtype))
        return mixed.flatten(-3, -2)[..., :count, :]

    def _windows(self, part: Tensor) -> Tensor:
        """[..., N, D] as [..., windows, window, D], filled up with zeros."""
        wide = min(self.window, part.shape[-2])
        return functional.pad(part, (0, 0, 0, -part.shape[-2] % wide)).unflatten(-2, (-1, wide))


def _spread(windows: Tensor, means: Tensor) -> Tensor:
    """Tokens of each window with all means behind them."""
    everywhere = means[..., None, :, :].expand(*means.shape[:-1], *means.shape[-2:])
    return torch.cat([windows, everywhere], dim=-2)
