"""What reducers read of a model beside its features: attention of its encoder, of its language model, and words.

Attention is computed from the queries and keys that the encoder itself made of one layer, for the rows that are needed.
So any implementation of attention will do, no table of all pairs is kept, and nothing is projected twice.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.domains.tokens.embedding.features import check_features
from hra.errors import ArrayError
from hra.integrations.transformers.encoding import Encoded, Grid
from hra.integrations.transformers.language_attention import last_token_attention
from hra.integrations.transformers.layouts import pair
from hra.integrations.transformers.prompts import Prompts

# Encoders whose queries, keys and values are one projection, turned by places, and which were tested.
_FUSED = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")
# Which layers of so many: the next-to-last, that of a quarter, as VScan's sixth of 24, and all up to the next-to-last.
_LAYERS: Mapping[str, Callable[[int], Sequence[int]]] = {
    "attention": lambda count: [count - 2],
    "joint": lambda count: [count - 1],
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
    projected: Mapping[tuple[int, str], list[Any]]

    def maps(self, name: str) -> list[np.ndarray]:
        """A map [h, w] of each image, tile or video, of any grid over it; frames are below each other.

        Parameters
        ----------
        name : "attention", "joint", "shallow", "flow", "text" or "language", see `hra.domains.tokens.Reducer`.

        Raises
        ------
        ArrayError : an encoder or language model whose layers are not known.
        """
        if name in _LAYERS and any(len(grids) > 1 for grids in self.encoded.layout.images):
            what = f"the encoder attends to single tiles, but {type(self.model).__name__} packs them into one picture"
            raise ArrayError(what, where="allocator", fix="use a method that reads no attention, such as divprune")
        if name in _LAYERS:
            layers = _chosen(self.model, name)
            if _is_fused(self.model):
                return self._on_grids(self._fused(layers[0], partial(_attention_of, joint=name == "joint")))
            if name == "flow":
                return self._by_frames(self._flow())
            return self._by_frames(self._encoder_attention(*layers, joint=name == "joint"))
        return self._on_grids(self._text() if name == "text" else self._language())

    def _on_grids(self, flat: np.ndarray) -> list[np.ndarray]:
        """Values of every feature, [N] or [N, D], on the grid of each image, tile or video."""
        pairs = zip(self.encoded.layout.places, self.encoded.grids, strict=True)
        return [flat[places.numpy()].reshape(*grid, *flat.shape[1:]) for places, grid in pairs]

    def _by_frames(self, maps: np.ndarray) -> list[np.ndarray]:
        """Maps [pictures, h, w, ...], one for each image or tile, and those of a video's frames below each other."""
        ends = np.cumsum(self.encoded.layout.steps)
        return [part.reshape(-1, *part.shape[2:]) for part in np.split(maps, ends[:-1])]

    def keys(self, name: str = "attention") -> list[np.ndarray]:
        """Keys of the layer whose attention is read, before any turn: [h, w, D] of each image, tile or video.

        Parameters
        ----------
        name : "attention", the mean over heads, or "joint", all heads side by side.
        """
        layer, joint = _chosen(self.model, name)[0], name == "joint"
        if _is_fused(self.model):
            return self._on_grids(
                self._fused(layer, lambda queries, keys, *_: keys.flatten(1) if joint else keys.mean(dim=1))
            )
        keys = self._heads(layer, "k_proj", joint=joint).mean(dim=1)
        grid, special = self._grid(keys.shape[1])
        return self._by_frames(_host(keys[:, special:]).reshape(len(keys), *grid, -1))

    def _fused(self, layer: int, read: Callable[..., Tensor]) -> np.ndarray:
        """What ``read`` makes of queries, keys [patches, heads, D], both turned, and ends of frames, by token."""
        tower = self.model.base_model.visual
        attention, merge = tower.blocks[layer].attn, tower.config.spatial_merge_size**2
        turn = sys.modules[type(attention).__module__].apply_rotary_pos_emb_vision
        parts = []
        sizes = [
            self.inputs[name] for name in ("image_grid_thw", "video_grid_thw") if self.inputs.get(name) is not None
        ]
        for projected, given, size in zip(
            self.projected[layer, "qkv"], self.projected[layer, "given"], sizes, strict=True
        ):
            queries, keys, _ = projected.unflatten(1, (3, attention.num_heads, -1)).unbind(1)
            turned = turn(queries, keys, *given["position_embeddings"])
            values = read(queries, keys, *turned, given["cu_seqlens"].tolist())
            tokens = values.unflatten(0, (-1, merge)).mean(dim=1)
            parts.append(tokens[_order(tower, size)])
        return _host(torch.cat(parts))

    def _encoder_attention(self, layer: int, *, joint: bool) -> np.ndarray:
        """Attention of the class token, or where there is none the mean over all tokens: [pictures, h, w]."""
        queries, keys = (self._heads(layer, name, joint=joint) for name in _PROJECTIONS[:2])
        grid, special = self._grid(keys.shape[2])
        queries = queries[:, :, :special] if special else queries
        total = keys.new_zeros(len(keys), keys.shape[2])
        for begin in range(0, queries.shape[2], 256):  # a table of all pairs would not fit
            some = queries[:, :, begin : begin + 256]
            total += (some @ keys.transpose(2, 3) * some.shape[-1] ** -0.5).softmax(-1).mean(1).sum(1)
        return _host(total[:, special:] / queries.shape[2]).reshape(-1, *grid)

    def _grid(self, count: int) -> tuple[Grid, int]:
        """(rows, columns) of the patches of a picture, and how many of ``count`` tokens stand before them.

        Raises
        ------
        ArrayError : pictures of several sizes, or patches that the configuration does not state.
        """
        pixels = self.inputs.get("pixel_values")
        pixels = self.inputs["pixel_values_videos"] if pixels is None else pixels
        patch = pair(getattr(self.model.config.vision_config, "patch_size", None))
        if patch is not None and pixels.ndim >= 4:
            rows, columns = pixels.shape[-2] // patch[0], pixels.shape[-1] // patch[1]
            if 0 <= count - rows * columns < columns:
                return (rows, columns), count - rows * columns
        raise _unread(self.model)

    def _heads(self, layer: int, name: str, *, joint: bool = False) -> Tensor:
        """Queries, keys or values of a layer, [pictures, heads, N, D]; ``joint`` ones are those of a single head."""
        attention = _attention(_layers(self.model)[layer])
        if any(each.ndim != 3 for each in self.projected[layer, name]):  # patches of several pictures in one row
            raise _unread(self.model)
        normalised = getattr(attention, name.replace("proj", "norm"), torch.nn.Identity())
        heads = 1 if joint else attention.num_heads
        return normalised(torch.cat(self.projected[layer, name])).unflatten(2, (heads, -1)).transpose(1, 2)

    def _flow(self) -> np.ndarray:
        """Attention of the class token and softmax of its values' products with all, as shares, times the sizes of mean
        values: of all layers up to the next-to-last, each half of what came before it: [pictures, h, w].

        Source: J. Tong et al., "FlowCut" (2025), without dropping on the way.
        """
        total: Any = None
        for layer in _LAYERS["flow"](len(_layers(self.model))):
            score = self._flow_of(*(self._heads(layer, name) for name in _PROJECTIONS))
            total = score if total is None else (total + score) / 2
        return _host(total).reshape(-1, *self._grid(total.shape[1])[0])

    def _flow_of(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """The scores of one layer, [pictures, N]."""
        if self._grid(keys.shape[2])[1] != 1:
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
        paid = last_token_attention(self.model, self.inputs, self.encoded.outputs)
        rows, columns = self.prompts.slots.T
        return _host(paid[rows, columns])


def _is_fused(model: Any) -> bool:
    return model.config.model_type in _FUSED


def _chosen(model: Any, name: str) -> Sequence[int]:
    """The layers that a signal reads. Of encoders that see windows, only layers that see all of a picture count.

    The tokens of fused ones come from the last layer, which is theirs as the next-to-last one is that of LLaVA.

    Raises
    ------
    ArrayError : an encoder that does not have what is read.
    """
    if not _is_fused(model):
        return _LAYERS[name](len(_layers(model)))
    if name == "flow":
        what = f"the encoder of {type(model).__name__} has no class token"
        raise ArrayError(what, where="allocator", fix="use a method that reads none, such as visionzip or divprune")
    tower = model.base_model.visual
    whole = sorted(getattr(tower.config, "fullatt_block_indexes", None) or range(len(tower.blocks)))
    quarter = _LAYERS["shallow"](len(tower.blocks))[0]
    return [whole[-1] if name != "shallow" else min(whole, key=lambda layer: abs(layer - quarter))]


def _order(tower: Any, size: Tensor) -> Tensor:
    """Where each token is among those of the layers, which an encoder with windows sorts by them: int64 [N]."""
    if not hasattr(tower, "fullatt_block_indexes"):
        return torch.arange(int(size.prod(1).sum()) // tower.config.spatial_merge_size**2)
    by_window = sys.modules[type(tower).__module__].get_vision_window_index
    return by_window(size, tower.spatial_merge_size, tower.window_size, tower.patch_size)[0].argsort()


def _attention_of(
    queries: Tensor, keys: Tensor, turned: Tensor, other: Tensor, ends: list[int], *, joint: bool
) -> Tensor:
    """The mean over heads and queries of what each patch is paid within its frame, [patches]."""
    if joint:
        turned, other = turned.flatten(1)[:, None], other.flatten(1)[:, None]
    total = keys.new_zeros(len(keys))
    for low, high in pairwise(ends):
        own = other[low:high].transpose(0, 1)
        for begin in range(low, high, 256):  # a table of all pairs would not fit
            some = turned[begin : min(begin + 256, high)].transpose(0, 1)
            paid = (some @ own.transpose(1, 2) * some.shape[-1] ** -0.5).softmax(-1)
            total[low:high] += paid.mean(0).sum(0) / (high - low)
    return total


def _layers(model: Any) -> Any:
    """The layers of the encoder.

    Raises
    ------
    ArrayError : an encoder without separate projections of queries and keys.
    """
    base = model.base_model
    encoder = getattr(getattr(base, "vision_tower", getattr(base, "vision_model", None)), "encoder", None)
    layers = getattr(encoder, "layers", getattr(encoder, "layer", None))
    if layers is None or not all(hasattr(_attention(layers[0]), name) for name in _PROJECTIONS):
        raise _unread(model)
    return layers


def _unread(model: Any) -> ArrayError:
    what = f"the attention of the encoder of {type(model).__name__} is not read"
    return ArrayError(what, where="allocator", fix="use a method that reads no attention, such as divprune")


@contextmanager
def recorded(model: Any, names: Collection[str]) -> Iterator[dict[tuple[int, str], list[Any]]]:
    """Queries, keys and values [pictures, N, D] that the encoder projects meanwhile, by layer and name, run by run.

    Of fused projections they are "qkv" [patches, 3 D], and "given" are the arguments of the attention.

    Parameters
    ----------
    names : of signals; those that read no attention of the encoder need none.

    Raises
    ------
    ArrayError : an encoder that does not have what is read.
    """
    made: dict[tuple[int, str], list[Any]] = defaultdict(list)
    handles = []
    for layer in sorted({layer for name in names if name in _LAYERS for layer in _chosen(model, name)}):
        if _is_fused(model):
            attention = model.base_model.visual.blocks[layer].attn
            handles.append(attention.qkv.register_forward_hook(partial(_record, made[layer, "qkv"])))
            hook = partial(_record_arguments, made[layer, "given"])
            handles.append(attention.register_forward_pre_hook(hook, with_kwargs=True))
            continue
        attention = _attention(_layers(model)[layer])
        handles += [
            getattr(attention, name).register_forward_hook(partial(_record, made[layer, name])) for name in _PROJECTIONS
        ]
    try:
        yield made
    finally:
        for handle in handles:
            handle.remove()


def _record(made: list[Any], module: Any, given: Any, output: Tensor) -> None:
    made.append(output)


def _record_arguments(made: list[Any], module: Any, given: Any, named: dict[str, Any]) -> None:
    made.append(named)


def _attention(layer: Any) -> Any:
    return getattr(layer, "self_attn", getattr(layer, "attention", None))


def on_grid(values: np.ndarray, grid: Grid) -> np.ndarray:
    """A map [h, w] or vectors [h, w, D] by area on the grid of the model's tokens, [N] or [N, D]."""
    fitted = check_features(values.reshape(*values.shape[:2], -1), grid)
    return fitted.reshape(grid[0] * grid[1], *values.shape[2:])


def _unit_range(values: np.ndarray) -> np.ndarray:
    """Scale values to 0 .. 1; all are 1 where all are alike."""
    return (values - values.min()) / np.ptp(values) if np.ptp(values) > 0 else np.ones_like(values)


def _host(values: Tensor) -> np.ndarray:
    return values.detach().float().cpu().numpy()
