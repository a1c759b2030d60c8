"""What reducers read of a model beside its features: attention of its encoder, of its language model, and words.

Attention is computed from hidden states and the projections of one layer, for the rows that are needed. So any
implementation of attention will do, and no table of all pairs is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.domains.tokens.features import check_features
from hra.errors import ArrayError
from hra.integrations.transformers.encoding import Encoded, Grid
from hra.integrations.transformers.language_attention import last_token_attention
from hra.integrations.transformers.prompts import Prompts

# Of a quarter of the layers, as VScan's sixth of 24.
_SHALLOW = 0.25


@dataclass(frozen=True, eq=False)
class Signals:
    """Reads a model for one batch.

    Attributes
    ----------
    model, inputs : as for `reduce`.
    encoded : with the hidden states of the encoder.
    prompts : where the images are.
    """

    model: Any
    inputs: Mapping[str, Any]
    encoded: Encoded
    prompts: Prompts

    def maps(self, name: str) -> list[np.ndarray]:
        """A map [h, w] of each image or tile, of any grid over it.

        Parameters
        ----------
        name : "attention", "shallow", "flow", "text" or "language", see `hra.domains.tokens.Reducer`.

        Raises
        ------
        ArrayError : an encoder or language model whose layers are not known.
        """
        if name in ("attention", "shallow"):
            layers = len(_layers(self.model))
            return list(self._encoder_attention(layers - 2 if name == "attention" else int(_SHALLOW * layers)))
        if name == "flow":
            return list(self._flow())
        flat = self._text() if name == "text" else self._language()
        pairs = zip(self.encoded.bounds, self.encoded.grids, strict=True)
        return [flat[part].reshape(grid) for part, grid in pairs]

    def keys(self) -> list[np.ndarray]:
        """Keys of the next-to-last layer of the encoder, the mean over heads, [h, w, D] of each image or tile."""
        block = _layers(self.model)[-2]
        keys = _projected(block, "k_proj", self._hidden(len(_layers(self.model)) - 2)).mean(dim=1)
        side = isqrt(keys.shape[1])
        return [_host(each).reshape(side, side, -1) for each in keys[:, keys.shape[1] - side * side :]]

    def _encoder_attention(self, layer: int) -> np.ndarray:
        """Attention of the class token, or where there is none the mean over all tokens: [pictures, h, w]."""
        block, hidden = _layers(self.model)[layer], self._hidden(layer)
        side = isqrt(hidden.shape[1])
        special = hidden.shape[1] - side * side
        rows = hidden[:, :special] if special else hidden
        queries, keys = _projected(block, "q_proj", rows), _projected(block, "k_proj", hidden)
        total = torch.zeros_like(hidden[:, :, 0])
        for begin in range(0, queries.shape[2], 256):  # a table of all pairs would not fit
            some = queries[:, :, begin : begin + 256]
            total += (some @ keys.transpose(2, 3) * some.shape[-1] ** -0.5).softmax(-1).mean(1).sum(1)
        return _host(total[:, special:] / queries.shape[2]).reshape(-1, side, side)

    def _flow(self) -> np.ndarray:
        """Attention of the class token and softmax of its values' products with all, as shares, times the sizes of mean
        values: of all layers up to the next-to-last, each half of what came before it: [pictures, h, w].

        Source: J. Tong et al., "FlowCut" (2025), without dropping on the way.
        """
        total: Any = None
        for layer in range(len(_layers(self.model)) - 1):
            score = self._flow_of(_layers(self.model)[layer], self._hidden(layer))
            total = score if total is None else (total + score) / 2
        side = isqrt(total.shape[1])
        return _host(total).reshape(-1, side, side)

    def _flow_of(self, block: Any, hidden: Tensor) -> Tensor:
        """The scores of one layer, [pictures, N]."""
        if isqrt(hidden.shape[1] - 1) ** 2 != hidden.shape[1] - 1:
            what = f"the encoder of {type(self.model).__name__} has no class token"
            raise ArrayError(what, where="allocator", fix="use a method that reads none, such as divprune")
        query, keys = _projected(block, "q_proj", hidden[:, :1]), _projected(block, "k_proj", hidden)
        values = _projected(block, "v_proj", hidden)
        attention = (query @ keys.transpose(2, 3) * query.shape[-1] ** -0.5).softmax(-1).mean(1)[:, 0, 1:]
        likeness = (values[:, :, :1] @ values.transpose(2, 3)).softmax(-1).mean(1)[:, 0, 1:]
        shares = [each / each.sum(dim=1, keepdim=True) for each in (attention, likeness)]
        return (shares[0] + shares[1]) * values.mean(1)[:, 1:].abs().sum(dim=2)

    def _hidden(self, layer: int) -> Tensor:
        """What enters a layer, [pictures, N, D]."""
        return self.encoded.output.hidden_states[layer]

    def _text(self) -> np.ndarray:
        """Minus the mean cosine of each feature and the words of its prompt, from 0 to 1 for each prompt: [N]."""
        ids, mask = self.inputs["input_ids"], self.prompts.mask.bool() & (self.prompts.image < 0)
        features = torch.nn.functional.normalize(self.encoded.levels[0].float(), dim=1)
        result = np.empty(len(features))
        for row in range(len(ids)):
            here = self.prompts.slots[:, 0] == row
            words = self.model.get_input_embeddings()(ids[row, mask[row]]).float()
            cosine = -(features[here] @ torch.nn.functional.normalize(words, dim=1).T).mean(dim=1)
            result[_host(here).astype(bool)] = _unit_range(_host(cosine))
        return result

    def _language(self) -> np.ndarray:
        """Attention that the last token of each prompt pays to the placeholders, [N]."""
        paid = last_token_attention(self.model, self.inputs, self.encoded.output)
        rows, columns = self.prompts.slots.T
        return _host(paid[rows, columns])


def _layers(model: Any) -> Any:
    """The layers of the encoder.

    Raises
    ------
    ArrayError : an encoder without separate projections of queries and keys.
    """
    base = model.base_model
    encoder = getattr(getattr(base, "vision_tower", getattr(base, "vision_model", None)), "encoder", None)
    layers = getattr(encoder, "layers", getattr(encoder, "layer", None))
    if layers is None:
        what = f"the attention of the encoder of {type(model).__name__} is not read"
        raise ArrayError(what, where="allocator", fix="use a method that reads no attention, such as divprune")
    return layers


def _projected(block: Any, name: str, hidden: Tensor) -> Tensor:
    """Queries or keys of a layer, [pictures, heads, N, D]."""
    norm: Any = getattr(block, "layer_norm1", getattr(block, "layernorm_before", None))
    attention: Any = getattr(block, "self_attn", getattr(block, "attention", None))
    values = getattr(attention, name)(norm(hidden))
    values = getattr(attention, name.replace("proj", "norm"), torch.nn.Identity())(values)
    return values.unflatten(2, (attention.num_heads, -1)).transpose(1, 2)


def on_grid(values: np.ndarray, grid: Grid) -> np.ndarray:
    """A map [h, w] or vectors [h, w, D] by area on the grid of the model's tokens, [N] or [N, D]."""
    fitted = check_features(values.reshape(*values.shape[:2], -1), grid)
    return fitted.reshape(grid[0] * grid[1], *values.shape[2:])


def _unit_range(values: np.ndarray) -> np.ndarray:
    """From 0 to 1; all 1 where all are alike."""
    return (values - values.min()) / np.ptp(values) if np.ptp(values) > 0 else np.ones_like(values)


def _host(values: Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy()
