"""What a vision-language model costs: operations of each part, and memory of the cache.

Counted are the products of matrices, two operations for each multiplication with addition: every weight matrix times
the tokens that pass it, and in each layer the two products of attention over all pairs, masked or not, as the models
compute them. Weights are those of the model itself, built from its configuration without memory.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForImageTextToText

from hra.caching import cached_property
from hra.domains.tokens.embedding.feature_grid import checked_grid
from hra.errors import ArrayError, FileError
from hra.files.json_text import parse_object
from hra.files.local_files import read_regular
from hra.integrations.transformers.encoding import parameters_of
from hra.integrations.transformers.layouts import Layout, step_of, tiles_of
from hra.integrations.transformers.prompts import ATTENTION_LAYERS
from hra.model.arrays import COUNTS, POSITIVE, indices, is_number, whole_in

# Connectors within the module of an encoder.
_CONNECTORS = ("merger", "projector", "connector", "downsample", "head_linear")
# What configurations call all experts of a layer, and those that a token is sent to.
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_PER_TOKEN = ("num_experts_per_tok", "moe_k")
# What configurations call connectors that read a picture by queries of their own.
_RESAMPLERS = ("perceiver_config", "projector_patch_to_query_dict", "qformer_config", "num_query_tokens")
_TOWERS = ("vision_tower", "vision_model", "visual")
_RATES = ("encoder", "prefill", "weight", "error")
_BYTES = 2  # of a number in the cache: bfloat16


@dataclass(frozen=True)
class Cost:
    """Operations and memory of one prompt.

    Attributes
    ----------
    tokens : visual tokens that enter the language model.
    encoder, connector, prefill : operations.
    decoding : operations of one further token after the prompt.
    cache : bytes after the prompt, in bfloat16.

    Examples
    --------
    >>> from hra.integrations.transformers import Cost
    >>> Cost(576, 4.0, 1.0, 10.0, 0.5, 100).total(answer=2)
    16.0
    """

    tokens: int
    encoder: float
    connector: float
    prefill: float
    decoding: float
    cache: int

    def total(self, answer: int = 0) -> float:
        """Operations of a prompt and an answer of this many tokens, the cache taken as long as the prompt."""
        return self.encoder + self.connector + self.prefill + self.decoding * answer


@dataclass(frozen=True, eq=False)
class CostModel:
    """Counts for one configuration.

    Parameters
    ----------
    config : of a model that takes images and text, such as ``AutoConfig.from_pretrained`` returns.

    Raises
    ------
    ArrayError : a model whose parts are not known, or no configuration of images and text.

    Examples
    --------
    >>> from transformers import LlavaConfig
    >>> from hra.integrations.transformers import CostModel
    >>> whole = CostModel(LlavaConfig()).cost(text=64)
    >>> fewer = CostModel(LlavaConfig()).cost(text=64, tokens=273)
    >>> whole.tokens, round(whole.prefill / 1e12, 1), round(whole.prefill / fewer.prefill, 2)
    (576, 8.5, 1.92)
    """

    config: Any

    def __post_init__(self) -> None:
        if not hasattr(self.config, "vision_config") or not hasattr(self.config, "get_text_config"):
            what = f"a {type(self.config).__name__} is not the configuration of a model of images and text"
            raise ArrayError(what, where="config", fix="pass model.config, or what configuration(name) returns")
        others = sorted({*(getattr(self._text, "layer_types", None) or ())} - ATTENTION_LAYERS)
        if others or getattr(self._text, "cross_attention_layers", None):
            what = f"the language model has layers of {', '.join(others) or 'cross attention'}, which are not counted"
            raise ArrayError(what, where="config", fix="use a model that reads visual tokens by self-attention alone")
        if any(getattr(self.config, name, None) is not None for name in _RESAMPLERS):
            what = "the connector has queries of its own: how many tokens leave it is not known here"
            raise ArrayError(what, where="config", fix="use a model whose tokens are patches, or patches merged")

    @cached_property
    def _model(self) -> Any:
        try:
            with torch.device("meta"):
                model = AutoModelForImageTextToText.from_config(self.config)
        except Exception as error:  # the package checks sizes in many ways, or not at all
            what = f"transformers makes no model of images and text of this configuration: {str(error)[:200]}"
            raise ArrayError(what, where="config", fix="pass the configuration of a published model") from error
        if self._text.num_hidden_layers < 1:
            raise ArrayError("the language model has no layers", where="config", fix="pass that of a published model")
        return model

    def cost(
        self,
        *,
        text: int = 64,
        tokens: int | None = None,
        pictures: int = 1,
        size: tuple[int, int] | None = None,
        layers: Sequence[int] | None = None,
    ) -> Cost:
        """The cost of one prompt.

        Parameters
        ----------
        text : tokens of the prompt beside the visual ones.
        tokens : visual tokens of each picture or tile that are kept; by default all.
        pictures : pictures or tiles.
        size : (height, width) in pixels, for encoders of any size; others know theirs. It is that of what the processor
            makes of a picture: limits such as ``min_pixels`` are not in a configuration.
        layers : visual tokens in each layer of the language model, where it drops some, see `Dropping.counts`; by
            default all that enter it. What choosing them takes is not counted.

        Raises
        ------
        ArrayError : an encoder of any size without ``size``, more tokens than there are, numbers that are not whole or
            below 0, a size without pixels, or not one number for each layer.
        """
        pictures = whole_in("pictures", pictures, POSITIVE, ArrayError)
        _ = self._model  # which refuses sizes that are none
        patches, cells = self._grid(None if size is None else checked_grid(size, "size"))
        kept = cells if tokens is None else whole_in("tokens", tokens, range(cells + 1), ArrayError)
        return self.prompt(text, pictures * kept, [patches] * pictures, layers)

    def prompt(self, text: int, visual: int, patches: Sequence[int], layers: Sequence[int] | None = None) -> Cost:
        """The cost of one prompt with ``visual`` tokens of all its pictures together.

        Parameters
        ----------
        text, layers : see `cost`.
        patches : of each picture, tile or frame that the encoder sees.

        Raises
        ------
        ArrayError : numbers that are not whole or below 0, or not one number for each layer.
        """
        text = whole_in("text", text, COUNTS, ArrayError)
        visual = whole_in("visual", visual, COUNTS, ArrayError)
        patches = indices("patches", patches, 0, sys.maxsize).tolist()
        lengths = self._lengths(text, visual, layers)
        weights, pairs = self._layer_weights / len(lengths), self._attention / len(lengths)
        return Cost(
            visual,
            sum(map(self._encoder, self._seen_at_once(patches))),
            2.0 * sum(map(self._connected, patches)) * self._connector_weights,
            sum(2.0 * weights * length + pairs * length**2 for length in lengths) + self._head * self._answers(lengths),
            sum(2.0 * weights + pairs * (length + 1) for length in lengths) + self._head,
            2 * _BYTES * self._key_heads * self._head_size * sum(lengths),
        )

    def _seen_at_once(self, patches: Sequence[int]) -> Sequence[int]:
        """Patches of each run of the encoder: Pixtral's has all pairs of all pictures, and hides those of two."""
        return [sum(patches)] if self._is_pixtral and patches else patches

    def flops(self, text: int, visual: int, patches: Sequence[int]) -> float:
        """Operations of a prompt up to the first token of its answer, see `prompt`."""
        return self.prompt(text, visual, patches).total()

    @cached_property
    def weights(self) -> float:
        """Weights of the language model that a prompt reads."""
        return self._layer_weights + self._head / 2

    def _lengths(self, text: int, visual: int, layers: Sequence[int] | None) -> list[int]:
        """Tokens in each layer."""
        depth = self._text.num_hidden_layers
        counts = [visual] * depth if layers is None else indices("layers", layers, 0, visual + 1, depth).tolist()
        return [text + count for count in counts]

    @property
    def _text(self) -> Any:
        return self.config.get_text_config()

    @property
    def _head_size(self) -> int:
        return getattr(self._text, "head_dim", None) or self._text.hidden_size // self._text.num_attention_heads

    @property
    def _key_heads(self) -> int:
        return getattr(self._text, "num_key_value_heads", None) or self._text.num_attention_heads

    @property
    def _attention(self) -> float:
        """Both products of one query and one key, of all layers of the language model."""
        return 4.0 * self._text.num_attention_heads * self._head_size * self._text.num_hidden_layers

    @cached_property
    def _head(self) -> float:
        """Logits of one token."""
        return 2.0 * self._model.get_output_embeddings().weight.numel()

    def _answers(self, lengths: Sequence[int]) -> int:
        """For how many tokens of a prompt the model makes logits: one, or all where it cannot leave them out."""
        return 1 if "logits_to_keep" in parameters_of(type(self._model).forward) else lengths[-1]

    @cached_property
    def _layer_weights(self) -> float:
        """Weights that every token passes; of experts those that it is sent to."""
        base = self._model.base_model
        language: Any = getattr(base, "language_model", getattr(base, "text_model", None))
        if not hasattr(language, "layers"):
            what = f"the language model of {type(self._model).__name__} is not known"
            raise ArrayError(what, where="config", fix="use a model with layers of attention and perceptrons")
        share = _stated(self._text, _PER_TOKEN) / _stated(self._text, _EXPERTS)
        sizes = ((each.ndim, each.numel()) for each in language.layers.parameters())
        return sum(count * (share if rank == 3 else 1.0) for rank, count in sizes if rank > 1)

    @property
    def _tower(self) -> Any:
        base = self._model.base_model
        for name in _TOWERS:
            if hasattr(base, name):
                return getattr(base, name)
        what = f"the encoder of {type(self._model).__name__} is not known"
        raise ArrayError(what, where="config", fix="use a model with one encoder of images")

    @cached_property
    def _connector_weights(self) -> int:
        """Weights that every token passes between encoder and language model."""
        others = ("language_model", "text_model", *_TOWERS)
        named = [(name, each) for name, each in self._model.base_model.named_parameters() if each.ndim > 1]
        between = [each for name, each in named if name.split(".")[0] not in others]
        within = [each for name, each in named if name.split(".")[0] in _TOWERS and _connects(name)]
        return sum(each.numel() for each in (*between, *within))

    def _encoder(self, patches: int) -> float:
        """Patches through the encoder."""
        vision, tower = self.config.vision_config, self._tower
        named = [(name, each) for name, each in tower.named_parameters() if each.ndim > 1]
        layers = sum(each.numel() for name, each in named if _in_layers(name) and not _connects(name))
        outside = [(name, each) for name, each in named if not _connects(name) and not _in_layers(name)]
        embedding = [each for name, each in outside if each.ndim > 3 or "patch_embed" in name]  # or a plain product
        first = sum(each.numel() for each in embedding)
        special = self._special
        count = getattr(vision, "depth", None) or vision.num_hidden_layers
        width = getattr(vision, "embed_dim", None) or vision.hidden_size  # Qwen2-VL calls what leaves it hidden
        pairs = sum(self._pairs(layer, patches + special) for layer in range(count))
        return 2.0 * (patches + special) * layers + 2.0 * patches * first + 4.0 * pairs * width

    @property
    def _special(self) -> int:
        """Class tokens."""
        return sum(name.endswith(("class_embedding", "cls_token")) for name, _ in self._tower.named_parameters())

    def _pairs(self, layer: int, count: int) -> float:
        """Pairs of attention in one layer: all, or those within windows."""
        vision = self.config.vision_config
        whole, window = getattr(vision, "fullatt_block_indexes", None), getattr(vision, "window_size", None)
        if not window or whole is None or layer in whole:
            return float(count) ** 2
        return float(count) * min(count, (window // vision.patch_size) ** 2)

    def _grid(self, size: tuple[int, int] | None) -> tuple[int, int]:
        """Patches that the encoder sees of a picture, and tokens that leave the connector."""
        vision, merge = self.config.vision_config, self._merge
        if merge is not None:
            if size is None:
                fix = "pass the picture's (height, width) in pixels"
                raise ArrayError("the encoder sees pictures of any size", where="size", fix=fix)
            unit = whole_in("patch_size", vision.patch_size, POSITIVE, ArrayError) * merge
            cells = max(1, round(size[0] / unit)) * max(1, round(size[1] / unit))
            return cells * merge * merge, cells
        if not hasattr(vision, "image_size"):
            fix = "use CostModel.prompt with the patches of each picture"
            raise ArrayError("the configuration does not state how patches are merged", where="size", fix=fix)
        sides = [_side(vision.image_size, axis) // _side(vision.patch_size, axis) for axis in (0, 1)]
        patches = sides[0] * sides[1]
        return patches, self._cells(patches)

    def _connected(self, patches: int) -> int:
        """Tokens that leave the connector for a picture of this many patches."""
        return self._cells(patches) if self._merge is None else patches // self._merge**2

    @property
    def _merge(self) -> int | None:
        """How many patches become one token along each side, of encoders of any size; None for all others."""
        stating = (self.config.vision_config, self.config)
        merge = next((each.spatial_merge_size for each in stating if hasattr(each, "spatial_merge_size")), None)
        return merge or (1 if self._is_pixtral else None)

    @property
    def _is_pixtral(self) -> bool:
        return getattr(self.config.vision_config, "model_type", "") == "pixtral"

    def _cells(self, patches: int) -> int:
        config = self.config
        if getattr(config, "mm_tokens_per_image", None):
            return config.mm_tokens_per_image
        return patches // step_of(config) ** 2


@dataclass(frozen=True)
class Timed:
    """Milliseconds of prompts up to the first token, by their operations, at the rates that a machine reached.

    Parameters
    ----------
    counting : of the model whose prompts are timed; rates may come from another one.
    encoder : milliseconds of an operation of the encoder.
    prefill : milliseconds of an operation of connector and prompt.
    weight : milliseconds of a weight of the language model, which any prompt reads.
    error : the largest relative error of a measured prompt that the others were fitted without.

    Raises
    ------
    ArrayError : a rate or an error that is not a finite number >= 0.

    Examples
    --------
    >>> from transformers import LlavaConfig
    >>> from hra.integrations.transformers import CostModel, Timed
    >>> timed = Timed(CostModel(LlavaConfig()), encoder=1e-11, prefill=2e-11, weight=1e-9, error=0.05)
    >>> round(timed.milliseconds(text=64, visual=576, patches=[576]))
    181
    """

    counting: CostModel
    encoder: float
    prefill: float
    weight: float
    error: float

    def __post_init__(self) -> None:
        for name in _RATES:
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= sys.float_info.max:
                raise ArrayError(f"{name} is {value!r}", where=name, fix="pass finite numbers >= 0")

    @classmethod
    def fitted(cls, counting: CostModel, measured: Sequence[tuple[Cost, float, float]]) -> Timed:
        """Fit the times by least relative squares.

        Parameters
        ----------
        measured : costs of prompts of the model, and milliseconds of encoder and prompt; of at least three lengths.

        Raises
        ------
        ArrayError : fewer, or a time that is not a finite number above 0.
        """
        for number, (_, *times) in enumerate(measured):
            if not all(0 < time < np.inf for time in times):
                what = f"a prompt took {' and '.join(map(str, times))} milliseconds"
                raise ArrayError(what, where=f"measured[{number}]", fix="pass finite times above 0")
        if len({cost.prefill for cost, _, _ in measured}) < 3:
            raise ArrayError(
                f"{len(measured)} prompts", where="measured", fix="measure prompts of three lengths or more"
            )
        left_out = []
        for number, (cost, *times) in enumerate(measured):
            rest = cls(counting, *_rates(counting, [*measured[:number], *measured[number + 1 :]]), error=0.0)
            left_out.append(abs(rest.of(cost) / sum(times) - 1))
        return cls(counting, *_rates(counting, measured), error=max(left_out))

    @classmethod
    def read(cls, file: str | Path, config: Any) -> Timed:
        """Rates from what ``hra bench models --names calibration --json FILE`` wrote, for another configuration.

        Raises
        ------
        FileError : a file without them, or with some that are not finite numbers >= 0.
        """
        rows = parse_object(read_regular(file), "record of benchmarks", str(file)).get("rows")
        rows = rows if isinstance(rows, list) else []
        found = [row for row in rows if isinstance(row, dict) and row.get("name") == "calibration"]
        fix = "hra bench models --names calibration --json FILE"
        if not found:
            raise FileError("no calibration", where=str(file), fix=fix)
        try:
            rates: dict[str, Any] = {name: found[0].get(name) for name in _RATES}
            return cls(CostModel(config), **rates)
        except ArrayError as error:
            raise FileError(f"no calibration: {error.what}", where=str(file), fix=fix) from error

    def of(self, cost: Cost) -> float:
        """Milliseconds of a prompt of that cost."""
        prompt = self.prefill * (cost.prefill + cost.connector) + self.weight * self.counting.weights
        return self.encoder * cost.encoder + prompt

    def milliseconds(self, text: int, visual: int, patches: Sequence[int]) -> float:
        """Up to the first token of an answer, see `CostModel.prompt`."""
        return self.of(self.counting.prompt(text, visual, patches))


def _rates(counting: CostModel, measured: Sequence[tuple[Cost, float, float]]) -> tuple[float, float, float]:
    """Milliseconds of an operation of the encoder, of one of the prompt, and of a weight; none below 0."""
    encoder = float(np.median([time / cost.encoder for cost, time, _ in measured]))
    times = np.array([time for _, _, time in measured])
    sizes = np.array([[cost.prefill + cost.connector, counting.weights] for cost, _, _ in measured]) / times[:, None]
    scale = sizes.max(axis=0)
    best = np.linalg.lstsq(sizes / scale, np.ones(len(times)), rcond=None)[0] / scale
    if best.min() < 0:
        best = np.array([1 / sizes[:, 0].mean(), 0.0])
    return encoder, float(best[0]), float(best[1])


def patches_of(model: Any, inputs: Mapping[str, Any], layout: Layout) -> list[list[int]]:
    """Patches of every picture, tile or frame that the encoder sees of each image, then of each video."""
    vision, images = model.config.vision_config, iter(layout.images)
    found: list[list[int]] = []
    for kind, name in (("image", "pixel_values"), ("video", "pixel_values_videos")):
        pixels, sizes = inputs.get(name), inputs.get(f"{kind}_grid_thw")
        if sizes is not None:
            found += [[rows * columns] * steps for steps, rows, columns in sizes.tolist()]
        elif pixels is not None and kind == "video":
            found += [[_patches(vision, pixels.shape[-2:])] * pixels.shape[1]] * len(pixels)
        elif pixels is not None and inputs.get("image_sizes") is not None:
            for size in inputs["image_sizes"].tolist():
                several = len(next(images)) > 1
                single = vision.model_type == "pixtral"
                each = _patches(vision, size if single else pixels.shape[-2:])
                found.append([each] * (1 + (tiles_of(model.base_model, size) if several else 0)))
        elif pixels is not None:
            videos = inputs.get("pixel_values_videos")
            count = len(layout.images) - (0 if videos is None else len(videos))
            found += [[_patches(vision, pixels.shape[-2:])]] * count
    return found


def _patches(vision: Any, size: Sequence[int]) -> int:
    return size[0] // _side(vision.patch_size, 0) * (size[1] // _side(vision.patch_size, 1))


def _stated(config: Any, names: Sequence[str]) -> int:
    """The first of these that a configuration states, the larger where text and pictures have their own; 1 of none."""
    values = (getattr(config, name, None) for name in names)
    value = next((value for value in values if value), 1)
    return max(value) if isinstance(value, (list, tuple)) else value


def _in_layers(name: str) -> bool:
    return any(part in name for part in ("layers.", "layer.", "blocks."))


def _connects(name: str) -> bool:
    return any(part in name for part in _CONNECTORS)


def _side(value: Any, axis: int) -> int:
    return value[axis] if isinstance(value, (list, tuple)) else value
