"""Attention that a layer of a language model would pay to its tokens, from its inputs."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from hra.integrations.transformers.language_attention import heads

# Rows of a table at a time: a whole one for every head would not fit.
_ROWS = 256
# Of PageRank, as in AIM.
_STEPS = 5


def attention_of(
    layer: Any, hidden: Tensor, rotary: tuple[Tensor, Tensor], mask: Tensor | None, rows: Tensor
) -> Tensor:
    """Mean over heads of the attention of the tokens ``rows`` int64 [Q]: [B, Q, L].

    Parameters
    ----------
    hidden : [B, L, D], what enters the layer.
    rotary : cosines and sines of the positions, [B, L, d] each.
    mask : [B, 1, L, L], boolean or to be added; None for causal attention.
    """
    attention, normal = layer.self_attn, layer.input_layernorm(hidden)
    keys = heads(attention, "k", normal)
    rotate = sys.modules[type(attention).__module__].apply_rotary_pos_emb
    cosine, sine = (each[:, rows] for each in rotary)
    queries, _ = rotate(*[heads(attention, "q", normal[:, rows])] * 2, cosine, sine)
    keys, _ = rotate(keys, keys, *rotary)
    keys = keys.repeat_interleave(queries.shape[1] // keys.shape[1], dim=1)
    seen = _causal(rows, hidden.shape[1]) if mask is None else mask[:, :, rows]
    parts = []
    for begin in range(0, len(rows), _ROWS):
        part = slice(begin, begin + _ROWS)
        logits = (queries[:, :, part] @ keys.transpose(2, 3)).float() * attention.scaling
        parts.append(_seen(logits, seen[:, :, part]).softmax(-1).mean(dim=1))
    return torch.cat(parts, dim=1)


def rank(table: Tensor, real: Tensor) -> Tensor:
    """PageRank [B, L] by a table of attention [B, L, L], from real tokens [B, L] alike."""
    ranks = real.to(table) / real.sum(dim=1, keepdim=True)
    table = table * real[:, :, None]
    for _ in range(_STEPS):
        ranks = (ranks[:, None] @ table)[:, 0]
    return ranks


def raters(hidden: Tensor, visual: Tensor, real: Tensor) -> Tensor:
    """Words after the first image that are more like the visual tokens than the average word, bool [B, L]."""
    result = torch.zeros_like(visual)
    for row in range(len(hidden)):
        words = (real[row] & ~visual[row] & (visual[row].cumsum(0) > 0)).nonzero()[:, 0]
        alike = (hidden[row, visual[row]] @ hidden[row, words].T).float().softmax(1).mean(0)
        result[row, words[alike >= alike.mean()]] = True
    return result


def _seen(logits: Tensor, mask: Tensor) -> Tensor:
    """Logits with a mask of either kind."""
    return logits.masked_fill(~mask, torch.finfo(logits.dtype).min) if mask.dtype == torch.bool else logits + mask


def _causal(rows: Tensor, length: int) -> Tensor:
    return (torch.arange(length, device=rows.device) <= rows[:, None])[None, None]
