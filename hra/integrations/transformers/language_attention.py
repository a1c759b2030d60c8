"""Attention in an early layer of a language model, from a run that ends there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError
from hra.integrations.transformers.prompts import TYPES

# The second layer: FastV drops after it, SparseVLM begins with it.
_LAYER = 1


class _Reached(Exception):
    """Ends a run at the layer that is read."""


def last_token_attention(model: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Tensor:
    """Mean over heads of the attention that the last token of each prompt pays, [B, L].

    Parameters
    ----------
    inputs : of the processor, padded on either side.
    outputs : of the encoder for "image" and "video"; it does not run again.

    Raises
    ------
    ArrayError : a language model whose layers are not known.
    """
    attention = decoder_layers(model)[_LAYER].self_attn
    given: dict[str, Any] = {}

    def read(module: Any, arguments: tuple, options: dict[str, Any]) -> None:
        given.update(options, hidden_states=arguments[0] if arguments else options["hidden_states"])
        raise _Reached

    handle = attention.register_forward_pre_hook(read, with_kwargs=True)
    names = ("input_ids", "attention_mask", *TYPES, "image_grid_thw", "video_grid_thw", "second_per_grid_ts")
    text = {name: inputs[name] for name in names if inputs.get(name) is not None}
    try:
        given_back = {name: type(output)(**dict(output)) for name, output in outputs.items()}
        model(**text, mm_encoder_outputs=given_back, use_cache=False)
    except _Reached:
        pass
    finally:
        handle.remove()
    return _paid(attention, given["hidden_states"], given["position_embeddings"], inputs)


def decoder_layers(model: Any) -> Any:
    """The layers of the language model.

    Raises
    ------
    ArrayError : a language model without layers of attention with separate projections.
    """
    base = model.base_model
    language = getattr(base, "language_model", getattr(base, "text_model", None))
    layers: Any = getattr(language, "layers", ())
    if len(layers) <= _LAYER or not hasattr(getattr(layers[_LAYER], "self_attn", None), "k_proj"):
        what = f"the attention of the language model of {type(model).__name__} is not read"
        raise ArrayError(what, where="allocator", fix="use a method that reads no attention, such as divprune")
    return layers


def cache_of(given: Any) -> Any:
    """The cache among arguments or in an output, None where there is none, as in a tensor of answers.

    Its name is ``cache`` from Transformers 5.24 on, ``past_key_values`` before.
    """
    if not isinstance(given, Mapping):
        return None
    return given["cache"] if "cache" in given else given.get("past_key_values")


def cache_argument(output: Any) -> dict[str, Any]:
    """The cache of an output by its name, as the next step of the model takes it."""
    return {"cache" if "cache" in output else "past_key_values": cache_of(output)}


def _paid(attention: Any, hidden: Tensor, rotary: tuple[Tensor, Tensor], inputs: Mapping[str, Any]) -> Tensor:
    """Softmax over what the last token may see."""
    queries, keys = (heads(attention, name, hidden) for name in ("q", "k"))
    rotate = sys.modules[type(attention).__module__].apply_rotary_pos_emb
    queries, keys = rotate(queries, keys, *rotary)
    keys = keys.repeat_interleave(queries.shape[1] // keys.shape[1], dim=1)
    mask = inputs.get("attention_mask")
    mask = torch.ones_like(inputs["input_ids"]) if mask is None else mask
    # The last real token sees every real token: prompts are causal.
    last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(dim=1)
    logits = queries[torch.arange(len(last)), :, last][:, :, None] @ keys.transpose(2, 3) * attention.scaling
    return logits.masked_fill(mask[:, None, None] == 0, -torch.inf).softmax(-1)[:, :, 0].mean(dim=1)


def heads(attention: Any, name: str, hidden: Tensor) -> Tensor:
    """Queries or keys, [B, heads, L, D]; where a model normalises them, it does so for each head."""
    values = getattr(attention, f"{name}_proj")(hidden).unflatten(2, (-1, attention.head_dim))
    return getattr(attention, f"{name}_norm", torch.nn.Identity())(values).transpose(1, 2)
