"""Attention in less than quadratic time, in place of ``torch.nn.functional.scaled_dot_product_attention``.

Each takes query, key and value of one sequence, tokens in an order in which neighbours lie near, and has no weights:
what is trained stays with the model. Attention goes to this many means of the keys, by positive random features, or
within windows and to the mean of every window.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from hra.errors import ArrayError
from hra.model.arrays import whole_in


def check_heads(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse what is not one sequence in three roles.

    Raises
    ------
    ArrayError : query, key or value that are not [..., N, D] of one shape.
    """
    if query.ndim < 2 or not query.shape == key.shape == value.shape:
        shapes = ", ".join(str(tuple(part.shape)) for part in (query, key, value))
        raise ArrayError(f"shapes {shapes}", where="attention", fix="pass query, key and value [..., N, D] alike")
    if not query.shape[-2]:
        raise ArrayError("no token", where="attention", fix="pass one token or more")


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
        return means.transpose(1, 2).reshape(*part.shape[:-2], means.shape[-1], part.shape[-1])


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
    ArrayError : fewer than 1 feature, or a seed below 0.

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
        whole_in("seed", self.seed, kind=ArrayError)

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


@dataclass(frozen=True)
class WindowedAttention:
    """Every token attends to those of its window of consecutive tokens, and to means of the tokens of all others.

    Local windows with global tokens (J. Ainslie et al., "ETC: Encoding long and structured inputs in transformers",
    2020). Takes O(N (window + N / pooled)) in place of O(N**2). A mean token counts as the tokens that it stands for;
    one window for all is full attention.

    Parameters
    ----------
    window : consecutive tokens, at least 1: order tokens so that neighbours lie near, level by level or by place.
    pooled : consecutive tokens to a mean, a divisor of the window; by default all of it.

    Raises
    ------
    ArrayError : a window below 1, or that ``pooled`` does not divide.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> tokens = torch.randn(1, 4, 273, 16, generator=torch.Generator().manual_seed(0))
    >>> learned.WindowedAttention(32)(tokens, tokens, tokens).shape
    torch.Size([1, 4, 273, 16])
    """

    window: int = 32
    pooled: int | None = None

    def __post_init__(self) -> None:
        if self.window < 1:
            raise ArrayError(f"a window of {self.window}", where="window", fix="use 1 or more")
        if self.pooled is not None and (self.pooled < 1 or self.window % self.pooled):
            what = f"means of {self.pooled} tokens in windows of {self.window}"
            raise ArrayError(what, where="pooled", fix="use a divisor of the window")

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
        parts = wide // self.pooled if self.pooled is not None and wide == self.window else 1
        held = there.reshape(windows * parts, -1).sum(-1)
        # What fills up the last window may be a mean of no token.
        means = [
            part.unflatten(-2, (parts, -1)).sum(-2).flatten(-3, -2) / held.clamp_min(1)[:, None]
            for part in (keys, values)
        ]
        near, far = _spread(keys, means[0]), _spread(values, means[1])
        # A mean stands for its tokens except for those of one's own window, which are there themselves.
        own = torch.eye(windows, dtype=torch.bool, device=query.device).repeat_interleave(parts, dim=1)
        pooled = held.log().expand(windows, windows * parts).masked_fill(own, -torch.inf)
        bias = torch.cat([there.log(), pooled], dim=-1)[:, None].expand(windows, wide, wide + windows * parts)
        mixed = functional.scaled_dot_product_attention(queries, near, far, attn_mask=bias.to(query.dtype))
        return mixed.flatten(-3, -2)[..., :count, :]

    def _windows(self, part: Tensor) -> Tensor:
        """[..., N, D] as [..., windows, window, D], filled up with zeros."""
        wide = min(self.window, part.shape[-2])
        return functional.pad(part, (0, 0, 0, -part.shape[-2] % wide)).unflatten(-2, (-1, wide))


def _spread(windows: Tensor, means: Tensor) -> Tensor:
    """Tokens of each window with all means behind them."""
    everywhere = means[..., None, :, :].expand(*windows.shape[:-2], *means.shape[-2:])
    return torch.cat([windows, everywhere], dim=-2)
