"""What a model's own encoder makes of its images and videos: features in the order of placeholders, and their grids."""

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

PIXELS: Mapping[str, str] = {"image": "pixel_values", "video": "pixel_values_videos"}
# What models read of videos beside the arguments of their encoders.
_BESIDE = {"second_per_grid_ts", "image_sizes_videos", "video_compression_mask"}


@dataclass(frozen=True, eq=False)
class Encoded:
    """Features of all images of a batch, then of all videos, each in the order of their placeholders in the prompts.

    Attributes
    ----------
    outputs : what the encoder returned for "image" and "video", of which copies carry fewer tokens to the model.
    levels : [N, D] of the connector, then of each DeepStack level.
    layout : which of them are the cells of each image, tile or video.
    """

    outputs: Mapping[str, Any]
    levels: tuple[Tensor, ...]
    layout: Layout

    @classmethod
    def of(
        cls, model: Any, inputs: Mapping[str, Any], grids: Sequence[Sequence[int]] | None = None, **options: Any
    ) -> Encoded:
        """Run the encoder of ``model`` once on a processor's ``inputs``.

        Raises
        ------
        ArrayError : no images, or features whose grids are not known.
        """
        outputs = _run(model, inputs, options)
        if any(output.pooler_output is None for output in outputs.values()):
            what = f"the encoder of {type(model).__name__} returns no features of its connector"
            raise ArrayError(what, where="model", fix="use a model whose get_image_features fills pooler_output")
        levels = tuple(torch.cat(parts) for parts in zip(*map(_levels, outputs.values()), strict=True))
        layout = _layout(model, inputs, outputs, grids)
        if len(layout.owners) != len(levels[0]):
            what = f"grids {layout.grids} have another number of cells than the {len(levels[0])} features"
            raise ArrayError(what, where="grids", fix="pass (rows, columns) of each image or tile, in their order")
        return cls(outputs, levels, layout)

    @property
    def output(self) -> Any:
        """What the encoder returned for images, or for videos where there are no images."""
        return next(iter(self.outputs.values()))

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
            rows = torch.as_tensor(slots[number]) // columns
            result[feature] = int(bool(((rows == row) | (row < 0)).any()))
        return result

    def with_features(self, slots: Sequence[Any], parts: Sequence[Sequence[Tensor]]) -> dict[str, Any]:
        """The encoder's outputs with other features: of each grid, [K, D] for every level, at ascending ``slots``.

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
        # Features of images come before those of videos.
        videos = len(flat(self.output.pooler_output)) if "image" in self.outputs else 0
        are_videos = [int(self.layout.places[numbers[0]][0]) >= videos for numbers in self.layout.images]
        return {
            name: _like(
                output, [each for each, is_video in zip(kept, are_videos, strict=True) if is_video == (name == "video")]
            )
            for name, output in self.outputs.items()
        }


def _like(output: Any, kept: Sequence[Sequence[Tensor]]) -> Any:
    """An encoder's output with other features: of each image or video, those of every level."""
    pooled, *deep = zip(*kept, strict=True)
    one = isinstance(output.pooler_output, Tensor)
    fields = {"pooler_output": torch.cat(list(pooled))[:, None] if one else list(pooled)}
    if deep:
        fields["deepstack_features"] = [list(level) for level in deep]
    return type(output)(**fields)


def _levels(output: Any) -> tuple[Tensor, ...]:
    """Features of the connector and of each DeepStack level, [N, D] each."""
    return (flat(output.pooler_output), *map(flat, getattr(output, "deepstack_features", None) or ()))


def _layout(
    model: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any], grids: Sequence[Sequence[int]] | None
) -> Layout:
    """Where the features lie: as model and inputs state it; as ``grids`` do where nothing else does."""
    try:
        stated = _stated(model, inputs, outputs)
    except ArrayError:
        if grids is None:
            raise
        return Layout.of_grids(grids)
    given = stated if grids is None else Layout.of_grids(grids)
    if (given.grids, given.steps) != (stated.grids, stated.steps):
        what = f"grids {given.grids} where the model and its inputs state {stated.grids}"
        raise ArrayError(what, where="grids", fix="leave grids out")
    return stated


def _stated(model: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Layout:
    """What model and inputs say of the places of all features."""
    parts = []
    if "image" in outputs:
        count = len(flat(outputs["image"].pooler_output))
        parts.append(Layout.stated(model, inputs, outputs["image"], count))
    if "video" in outputs:
        parts.append(Layout.of_videos(model, inputs, outputs["video"]))
    return parts[0] if len(parts) == 1 else parts[0].followed_by(parts[1])


def flat(features: Any) -> Tensor:
    """Features of all images below each other, [N, D]."""
    parts = [features] if isinstance(features, Tensor) else list(features)
    return torch.cat([part.reshape(-1, part.shape[-1]) for part in parts])


def encoder_of(model: Any, kind: str = "image") -> Any:
    """The method that makes features of images, or of videos; `generate` calls it, too.

    Raises
    ------
    ArrayError : a model without one, or one that does not take its outputs back.
    """
    takes = "mm_encoder_outputs" in parameters_of(type(model).forward)
    encoder = getattr(model.base_model, f"get_{kind}_features", None) if takes else None
    if encoder is None:
        what = f"{type(model).__name__} does not take outputs of an encoder of {kind}s"
        raise ArrayError(what, where="model", fix="use a ...ForConditionalGeneration with `mm_encoder_outputs`")
    return encoder


@cache
def parameters_of(function: Any) -> tuple[str, ...]:
    """Names of a function's parameters; reading a signature of these models takes as long as choosing tokens."""
    return tuple(inspect.signature(function).parameters)


def check_model(model: Any, inputs: Mapping[str, Any]) -> None:
    """Refuse models without an encoder for what is among ``inputs``, and inputs without pictures; see `encoder_of`.

    Raises
    ------
    ArrayError : the model or the inputs.
    """
    kinds = [kind for kind, pixels in PIXELS.items() if inputs.get(pixels) is not None]
    for kind in kinds:
        sizes = f"{kind}_grid_thw"
        if sizes in parameters_of(_function(encoder_of(model, kind))) and inputs.get(sizes) is None:
            raise ArrayError(f"{sizes} is missing", where=sizes, fix="pass what the model's processor returns")
    if not kinds:
        raise ArrayError("there are no images", where="pixel_values", fix="pass what the model's processor returns")


def _function(method: Any) -> Any:
    return getattr(method, "__func__", method)


def _run(model: Any, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    check_model(model, inputs)
    outputs = {}
    for kind, pixels in PIXELS.items():
        if inputs.get(pixels) is not None:
            encoder = encoder_of(model, kind)
            names = parameters_of(_function(encoder))
            given = {name: inputs[name] for name in names if inputs.get(name) is not None}
            outputs[kind] = encoder(**given, **options, return_dict=True)
    return outputs


def image_arguments(model: Any) -> set[str]:
    """Names of inputs that only the encoder reads; beside its outputs the model wants none of them."""
    videos = getattr(model.base_model, "get_video_features", None)
    names = {*PIXELS.values(), *_BESIDE, *(parameters_of(_function(videos)) if videos is not None else ())}
    return {*names, *parameters_of(_function(encoder_of(model)))}
