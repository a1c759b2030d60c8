"""What reducers read of a model beside its features: attention of its encoder, of its language model, and words.

Attention is computed from the queries and keys that the encoder itself made of one layer, for the rows that are needed.
So any implementation of attention will do, no table of all pairs is kept, and nothing is projected twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.domains.tokens.embedding.features import check_features
from hra.errors import ArrayError
from hra.integrations.transformers.encoding import Encoded, Grid
from hra.integrations.transformers.language_attention import last_token_attention
from hra.integrations.transformers.prompts import Prompts

# Which layers of so many: the next-to-last, that of a quarter, as VScan's sixth of 24, and all up to the next-to-last.
_LAYERS: Mapping[str, Callable[[int], Sequence[int]]] = {
    "attention": lambda count: [count - 2],
    "shallow": lambda count: [count // 4],
    "flow": lambda count: range(count - 1),
}
_PROJECTIONS = ("q_proj", "k_proj", "v_proj")


@dataclass(frozen=True, eq=False)
class Signals:
    """Reads a model for one batch.

    Attributes
    ----------
    model, inputs : as for `reduce`.
    encoded : what the encoder made.
    prompts : where the images are.
    projected : see `recorded`.
    """

    model: Any
    inputs: Mapping[str, Any]
    encoded: Encoded
    prompts: Prompts
    projected: Mapping[tuple[int, str], Tensor]

    def maps(self, name: str) -> list[np.ndarray]:
        """A map [h, w] of each image or tile, of any grid over it.

        Parameters
        ----------
        name : "attention", "shallow", "flow", "text" or "language", see `hra.domains.tokens.Reducer`.

        Raises
        ------
        ArrayError : an encoder or language model whose layers are not known.
        """
        if name in _LAYERS and any(len(grids) > 1 for grids in self.encoded.layout.images):
            what = f"the encoder attends to single tiles, but {type(self.model).__name__} packs them into one picture"
            raise ArrayError(what, where="allocator", fix="use a method that reads no attention, such as divprune")
        if name in ("attention", "shallow"):
            return list(self._encoder_attention(*_LAYERS[name](len(_layers(self.model)))))
        if name == "flow":
            return list(self._flow())
        flat = self._text() if name == "text" else self._language()
        pairs = zip(self.encoded.layout.places, self.encoded.grids, strict=True)
        return [flat[places.numpy()].reshape(grid) for places, grid in pairs]

    def keys(self) -> list[np.ndarray]:
        """Keys of the next-to-last layer of the encoder, the mean over heads, [h, w, D] of each image or tile."""
        layer = _LAYERS["attention"](len(_layers(self.model)))[0]
        keys = self._heads(layer, "k_proj").mean(dim=1)
        side = isqrt(keys.shape[1])
        return [_host(each).reshape(side, side, -1) for each in keys[:, keys.shape[1] - side * side :]]

    def _encoder_attention(self, layer: int) -> np.ndarray:
        """Attention of the class token, or where there is none the mean over all tokens: [pictures, h, w]."""
        queries, keys = self._heads(layer, "q_proj"), self._heads(layer, "k_proj")
        side = isqrt(keys.shape[2])
        special = keys.shape[2] - side * side
        queries = queries[:, :, :special] if special else queries
        total = keys.new_zeros(len(keys), keys.shape[2])
        for begin in range(0, queries.shape[2], 256):  # a table of all pairs would not fit
            some = queries[:, :, begin : begin + 256]
            total += (some @ keys.transpose(2, 3) * some.shape[-1] ** -0.5).softmax(-1).mean(1).sum(1)
        return _host(total[:, special:] / queries.shape[2]).reshape(-1, side, side)

    def _heads(self, layer: int, name: str) -> Tensor:
        """Queries, keys or values of a layer, [pictures, heads, N, D]."""
        attention = _attention(_layers(self.model)[layer])
        normalised = getattr(attention, name.replace("proj", "norm"), torch.nn.Identity())
        return normalised(self.projected[layer, name]).unflatten(2, (attention.num_heads, -1)).transpose(1, 2)

    def _flow(self) -> np.ndarray:
        """Attention of the class token and softmax of its values' products with all, as shares, times the sizes of mean
        values: of all layers up to the next-to-last, each half of what came before it: [pictures, h, w].

        Source: J. Tong et al., "FlowCut" (2025), without dropping on the way.
        """
        total: Any = None
        for layer in _LAYERS["flow"](len(_layers(self.model))):
            score = self._flow_of(*(self._heads(layer, name) for name in _PROJECTIONS))
            total = score if total is None else (total + score) / 2
        side = isqrt(total.shape[1])
        return _host(total).reshape(-1, side, side)

    def _flow_of(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """The scores of one layer, [pictures, N]."""
        if isqrt(keys.shape[2] - 1) ** 2 != keys.shape[2] - 1:
            what = f"the encoder of {type(self.model).__name__} has no class token"
            raise ArrayError(what, where="allocator", fix="use a method that reads none, such as divprune")
        query = queries[:, :, :1]
        attention = (query @ keys.transpose(2, 3) * query.shape[-1] ** -0.5).softmax(-1).mean(1)[:, 0, 1:]
        likeness = (values[:, :, :1] @ values.transpose(2, 3)).softmax(-1).mean(1)[:, 0, 1:]
        shares = [each / each.sum(dim=1, keepdim=True) for each in (attention, likeness)]
        return (shares[0] + shares[1]) * values.mean(1)[:, 1:].abs().sum(dim=2)

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


@contextmanager
def recorded(model: Any, names: Collection[str]) -> Iterator[dict[tuple[int, str], Tensor]]:
    """Queries, keys and values [pictures, N, D] that the encoder projects meanwhile, by layer and name.

    Parameters
    ----------
    names : of signals; those that read no attention of the encoder need none.

    Raises
    ------
    ArrayError : an encoder without separate projections of queries and keys.
    """
    made: dict[tuple[int, str], Tensor] = {}
    wanted = [_LAYERS[name] for name in names if name in _LAYERS]
    layers = _layers(model) if wanted else ()
    handles = [
        getattr(_attention(layers[layer]), name).register_forward_hook(partial(_record, made, (layer, name)))
        for layer in {layer for places in wanted for layer in places(len(layers))}
        for name in _PROJECTIONS
    ]
    try:
        yield made
    finally:
        for handle in handles:
            handle.remove()


def _record(made: dict[tuple[int, str], Tensor], key: tuple[int, str], module: Any, given: Any, output: Tensor) -> None:
    made[key] = output


def _attention(layer: Any) -> Any:
    return getattr(layer, "self_attn", getattr(layer, "attention", None))


def on_grid(values: np.ndarray, grid: Grid) -> np.ndarray:
    """A map [h, w] or vectors [h, w, D] by area on the grid of the model's tokens, [N] or [N, D]."""
    fitted = check_features(values.reshape(*values.shape[:2], -1), grid)
    return fitted.reshape(grid[0] * grid[1], *values.shape[2:])


def _unit_range(values: np.ndarray) -> np.ndarray:
    """From 0 to 1; all 1 where all are alike."""
    return (values - values.min()) / np.ptp(values) if np.ptp(values) > 0 else np.ones_like(values)


def _host(values: Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy()
