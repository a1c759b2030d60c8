"""Attention that new tokens pay to a prompt whose keys are in a cache."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from hra.integrations.transformers.inside.columns import Columns
from hra.integrations.transformers.language_attention import heads


def paid_in_step(
    layer: Any, hidden: Tensor, rotary: tuple[Tensor, Tensor], keys: Tensor, columns: Columns, real: Tensor
) -> Tensor:
    """Mean over heads of the attention of the last new token among what is cached, [B, L] of the whole prompts.

    Parameters
    ----------
    hidden : [B, q, D], what enters the layer.
    rotary : of the new tokens.
    keys : the layer's cache, [B, heads, n, d]: tokens ``columns`` of the prompt, then those of the answer.
    real : bool [B, L], False for padding of the prompts.
    """
    attention, last = layer.self_attn, slice(hidden.shape[1] - 1, None)
    rotate = sys.modules[type(attention).__module__].apply_rotary_pos_emb
    queries = heads(attention, "q", layer.input_layernorm(hidden[:, last]))
    queries, _ = rotate(queries, queries, *(each[:, last] for each in rotary))
    grouped = queries.reshape(len(keys), keys.shape[1], -1, keys.shape[3])
    logits = (grouped @ keys.transpose(2, 3)).float().flatten(1, 2) * attention.scaling
    prompt = columns.places.shape[1]
    there = columns.take(real) & ~columns.gone
    seen = torch.nn.functional.pad(there, (0, keys.shape[2] - prompt), value=True)
    paid = logits.masked_fill(~seen[:, None], -torch.inf).softmax(-1).mean(dim=1)[:, :prompt]
    whole = torch.zeros(len(keys), columns.prompt + 1, device=paid.device)
    return whole.scatter(1, columns.places.where(~columns.gone, columns.prompt), paid)[:, :-1]
