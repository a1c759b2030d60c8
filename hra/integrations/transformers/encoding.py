"""What a model's own encoder makes of its images: features in the order of the placeholders, and their grids."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError
from hra.integrations.transformers.layouts import Grid, Layout


@dataclass(frozen=True, eq=False)
class Encoded:
    """Features of all images of a batch, in the order in which their placeholders stand in the prompts.

    Attributes
    ----------
    output : what the encoder returned; a copy of its type carries fewer tokens to the model.
    levels : [N, D] of the connector, then of each DeepStack level.
    layout : which of them are the cells of each image or tile.
    """

    output: Any
    levels: tuple[Tensor, ...]
    layout: Layout

    @classmethod
    def of(cls, model: Any, inputs: Mapping[str, Any], grids: Sequence[Grid] | None = None, **options: Any) -> Encoded:
        """Run the encoder of ``model`` once on a processor's ``inputs``.

        Raises
        ------
        ArrayError : no images, or features whose grids are not known.
        """
        output = _run(model, inputs, options)
        if output.pooler_output is None:
            what = f"the encoder of {type(model).__name__} returns no features of its connector"
            raise ArrayError(what, where="model", fix="use a model whose get_image_features fills pooler_output")
        pooled = flat(output.pooler_output)
        levels = (pooled, *(flat(level) for level in getattr(output, "deepstack_features", None) or ()))
        layout = Layout.of_grids(grids) if grids is not None else Layout.stated(model, inputs, output, len(pooled))
        if len(layout.owners) != len(pooled):
            what = f"grids {layout.grids} have another number of cells than the {len(pooled)} features"
            raise ArrayError(what, where="grids", fix="pass (rows, columns) of each image or tile, in their order")
        return cls(output, levels, layout)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """(rows, columns) of each image or tile."""
        return self.layout.grids

    def counts(self, slots: Sequence[Any]) -> Tensor:
        """How many tokens take the place of each feature, int64 [N]; a line break stays where its row has some.

        Parameters
        ----------
        slots : int64 [K] of each grid, the cells whose places its tokens take.
        """
        result = torch.zeros(len(self.layout.owners), dtype=torch.int64)
        for places, taken in zip(self.layout.places, slots, strict=True):
            result.index_add_(0, places[torch.as_tensor(taken)], torch.ones(len(taken), dtype=torch.int64))
        for feature, number, row in self.layout.breaks:
            columns = self.layout.grids[number][1]
            result[feature] = int(bool((torch.as_tensor(slots[number]) // columns == row).any()))
        return result

    def with_features(self, slots: Sequence[Any], parts: Sequence[Sequence[Tensor]]) -> Any:
        """The encoder's output with other features: of each grid, [K, D] for every level, at ascending ``slots``.

        A list stays a list. Where the model reads one tensor, each token is an entry of its own, [K, 1, D]: `generate`
        then finds out which tokens belong to which prompt when it repeats prompts for beams.
        """
        counts = self.counts(slots)
        kept = [[] for _ in self.layout.images]
        for image, numbers in enumerate(self.layout.images):
            places = [self.layout.places[number][torch.as_tensor(slots[number])] for number in numbers]
            ends = torch.tensor(
                [f for f, number, _ in self.layout.breaks if number in numbers and counts[f]], dtype=torch.int64
            )
            order = torch.cat([*places, ends]).argsort(stable=True)
            for level, whole in enumerate(self.levels):
                own = [parts[number][level] for number in numbers]
                kept[image].append(torch.cat([*own, whole[ends.to(whole.device)]])[order.to(whole.device)])
        pooled, *deep = zip(*kept, strict=True)
        one = isinstance(self.output.pooler_output, Tensor)
        fields = {"pooler_output": torch.cat(list(pooled))[:, None] if one else list(pooled)}
        if deep:
            fields["deepstack_features"] = [list(level) for level in deep]
        return type(self.output)(**fields)


def flat(features: Any) -> Tensor:
    """Features of all images below each other, [N, D]."""
    parts = [features] if isinstance(features, Tensor) else list(features)
    return torch.cat([part.reshape(-1, part.shape[-1]) for part in parts])


def encoder_of(model: Any) -> Any:
    """The method that makes features of images; `generate` calls it, too.

    Raises
    ------
    ArrayError : a model without one, or one that does not take its outputs back.
    """
    takes = "mm_encoder_outputs" in _parameters(type(model).forward)
    encoder = getattr(model.base_model, "get_image_features", None)
    if not takes or encoder is None:
        what = f"{type(model).__name__} does not take outputs of its image encoder"
        raise ArrayError(what, where="model", fix="use a ...ForConditionalGeneration with `mm_encoder_outputs`")
    return encoder


@cache
def _parameters(function: Any) -> tuple[str, ...]:
    """Names of a function's parameters; reading a signature of these models takes as long as choosing tokens."""
    return tuple(inspect.signature(function).parameters)


def _function(method: Any) -> Any:
    return getattr(method, "__func__", method)


def _run(model: Any, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    encoder = encoder_of(model)
    if inputs.get("pixel_values_videos") is not None:
        raise ArrayError("videos are not reduced", where="pixel_values_videos", fix="pass frames as images")
    if inputs.get("pixel_values") is None:
        raise ArrayError("there are no images", where="pixel_values", fix="pass what the model's processor returns")
    names = _parameters(_function(encoder))
    given = {name: inputs[name] for name in names if inputs.get(name) is not None}
    return encoder(**given, **options, return_dict=True)


def image_arguments(model: Any) -> set[str]:
    """Names of inputs that only the encoder reads; beside its outputs the model wants none of them."""
    return set(_parameters(_function(encoder_of(model)))) | {"pixel_values"}
