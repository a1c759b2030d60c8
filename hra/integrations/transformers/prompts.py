"""Prompts whose placeholders are as many as the tokens that are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError
from hra.integrations.reduction import Positions
from hra.integrations.transformers.encoding import PIXELS, image_arguments
from hra.integrations.transformers.positions import compacted, for_model, whole_positions

# Layers in which a token that is gone is one that is not seen. What passes a state from token to token is none of them.
ATTENTION_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}
# Inputs with one entry for each token: its kind, by which models mask, place it, or choose experts.
TYPES = ("token_type_ids", "mm_token_type_ids", "moe_mm_token_type_ids")
_ALONG = ("input_ids", "attention_mask", *TYPES, "labels")
_SIZES = ("image_grid_thw", "video_grid_thw")
_PADDING = {"labels": -100}


@dataclass(frozen=True, eq=False)
class Prompts:
    """Whole prompts with the places of their images.

    Attributes
    ----------
    inputs : of the model's processor.
    mask : int64 [B, L].
    image : int64 [B, L], the number of the image or tile whose placeholder stands here, -1 for other tokens.
    slots : int64 [N, 2], row and column of every placeholder, those of videos after those of images.
    """

    inputs: Mapping[str, Any]
    mask: Tensor
    image: Tensor
    slots: Tensor

    @classmethod
    def of(cls, model: Any, inputs: Mapping[str, Any], owners: Tensor) -> Prompts:
        """Find the placeholders.

        Parameters
        ----------
        owners : int64 [N], the number of the image or tile of each feature.

        Raises
        ------
        ArrayError : their number is not that of the features, an image or video has placeholders of both kinds, or
            inputs that `reduce` cannot shorten.
        """
        ids = inputs["input_ids"]
        _check(model, inputs)
        mask = inputs.get("attention_mask")
        mask = torch.ones_like(ids) if mask is None else mask
        tokens = [model.config.image_token_id]
        tokens += [model.config.video_token_id] if inputs.get("pixel_values_videos") is not None else []
        slots = torch.cat([(ids == token).nonzero() for token in tokens])
        if len(slots) != len(owners):
            what = f"{len(slots)} placeholders for {len(owners)} features"
            raise ArrayError(what, where="input_ids", fix="pass ids and pixels of one call of the processor")
        if not bool(mask[slots[:, 0], slots[:, 1]].all()):
            what, fix = "the mask hides placeholders of images", "pass ids and mask of one call of the processor"
            raise ArrayError(what, where="attention_mask", fix=fix)
        kinds = {*zip(owners.tolist(), ids[slots[:, 0], slots[:, 1]].tolist(), strict=True)}
        if len(kinds) > len({number for number, _ in kinds}):
            what = "the prompts have other numbers of placeholders of images and of videos than there are features"
            raise ArrayError(what, where="input_ids", fix="pass ids and pixels of one call of the processor")
        image = torch.full_like(ids, -1)
        image[slots[:, 0], slots[:, 1]] = owners.to(ids)
        return cls(inputs, mask, image, slots)

    def rows(self, count: int) -> tuple[int, ...]:
        """The prompt of each of ``count`` images or tiles."""
        numbers = self.image[self.slots[:, 0], self.slots[:, 1]].tolist()
        known = dict(zip(numbers, self.slots[:, 0].tolist(), strict=True))
        return tuple(known[number] for number in range(count))

    def columns(self, counts: Tensor) -> list[Tensor]:
        """Tokens of each prompt that stay, in order, and as often as ``counts`` int64 [N] says of placeholders."""
        repeats = self.mask.long().clone()
        repeats[self.slots[:, 0], self.slots[:, 1]] = counts
        every = torch.arange(repeats.shape[1], device=repeats.device)
        return [every.repeat_interleave(row) for row in repeats]

    def reduced(self, model: Any, columns: Sequence[Tensor], positions: Positions) -> tuple[dict[str, Tensor], Tensor]:
        """Inputs without those of the encoder, and the position that follows each prompt, int64 [B]."""
        whole = whole_positions(model, self.inputs, self.mask)
        places = [whole[:, row, kept] for row, kept in enumerate(columns)]
        if positions == "compact":
            images = [self.image[row, kept] for row, kept in enumerate(columns)]
            places = [compacted(*pair) for pair in zip(places, images, strict=True)]
            following = torch.stack([each.max() for each in places]) + 1
        else:
            # As `generate` counts. Times of a video may be larger, and a model alone would count from the largest.
            last = (self.mask * torch.arange(self.mask.shape[1], device=self.mask.device)).argmax(dim=1)
            following = whole[:, torch.arange(len(last), device=last.device), last].amax(dim=0) + 1
        longest = max(map(len, columns)) + _read_as_packed(model, places)
        named = {name: self.inputs[name] for name in _ALONG if self.inputs.get(name) is not None}
        named = {**named, "attention_mask": self.mask}
        shorter = {name: padded([values[row, kept] for row, kept in enumerate(columns)], longest, _PADDING.get(name, 0))
                   for name, values in named.items()}  # fmt: skip
        stacked = torch.stack([padded(list(axis), longest, 0) for axis in zip(*places, strict=True)])
        rest = {name: value for name, value in self.inputs.items() if name not in {*_ALONG, *image_arguments(model)}}
        return {**rest, **shorter, "position_ids": for_model(stacked, shorter["attention_mask"])}, following


def _read_as_packed(model: Any, places: Sequence[Tensor]) -> bool:
    """Whether flash attention would take holes in the positions of a single prompt for ends of packed ones.

    It looks at the positions of batches of one row without padding (`_is_packed_sequence`), so that one column of
    padding settles it.
    """
    flash = "flash" in str(getattr(model.config.get_text_config(), "_attn_implementation", ""))
    return flash and len(places) == 1 and len(places[0]) == 1 and bool((places[0].diff() != 1).any())


def padded(rows: Sequence[Tensor], longest: int, padding: int = -1) -> Tensor:
    """Rows of one length, padded on the left."""
    return torch.stack([torch.nn.functional.pad(row, (longest - len(row), 0), value=padding) for row in rows])


def check_layers(model: Any) -> None:
    """Refuse models in which dropping is not masking.

    Raises
    ------
    ArrayError : layers other than attention, or an encoder of the text.
    """
    types = getattr(model.config.get_text_config(), "layer_types", None)
    others = sorted({*(types or ())} - ATTENTION_LAYERS)
    if others or getattr(model, "_is_stateful", False) or getattr(model.config, "is_encoder_decoder", False):
        what = (
            f"{type(model).__name__} has layers of {', '.join(others) or 'another kind'}: dropping is not masking there"
        )
        raise ArrayError(what, where="model", fix="use a model that decodes by attention alone")


def check_inputs(inputs: Mapping[str, Any]) -> None:
    """Refuse inputs that are not tensors, and ids and masks that are not prompts.

    Raises
    ------
    ArrayError : names the input.
    """
    ids: Any = inputs.get("input_ids")
    fix = 'pass what the model\'s processor returns with return_tensors="pt"'
    for name in ("input_ids", "attention_mask", *PIXELS.values()):
        value = inputs.get(name)
        if not isinstance(value, Tensor) and (value is not None or name == "input_ids"):
            kind = "missing" if value is None else f"a {type(value).__name__}, not a tensor"
            raise ArrayError(f"{name} is {kind}", where=name, fix=fix)
    if ids.ndim != 2 or ids.is_floating_point():
        what = f"ids of shape {tuple(ids.shape)} and {ids.dtype} are not prompts"
        raise ArrayError(what, where="input_ids", fix="pass int64 [B, L]: a row for each prompt")
    for name in TYPES:
        types = inputs.get(name)
        if types is not None and not (isinstance(types, Tensor) and types.shape == ids.shape):
            what = f"{name} is not a tensor of shape {tuple(ids.shape)}, that of the ids"
            raise ArrayError(what, where=name, fix=fix)
    for name in _SIZES:
        sizes = inputs.get(name)
        if sizes is not None and not _is_sizes(sizes):
            what = f"{name} are not whole numbers (steps, rows, columns) of at least 1 of each"
            raise ArrayError(what, where=name, fix=fix)
    mask = inputs.get("attention_mask")
    if mask is not None and mask.shape != ids.shape:
        what = f"a mask of shape {tuple(mask.shape)} for ids of shape {tuple(ids.shape)}"
        raise ArrayError(what, where="attention_mask", fix="pass [B, L], or leave it out where nothing is padding")


def _is_sizes(sizes: Any) -> bool:
    whole = isinstance(sizes, Tensor) and not sizes.is_floating_point() and sizes.ndim == 2 and sizes.shape[1] == 3
    return whole and bool((sizes >= 1).all())


def _check(model: Any, inputs: Mapping[str, Any]) -> None:
    """Refuse what runs along the prompt and is not known here: shortened wrongly, it would be wrong in silence."""
    known = {*_ALONG, *image_arguments(model)}
    for name, value in inputs.items():
        along = isinstance(value, Tensor) and value.ndim >= 2 and inputs["input_ids"].shape[1] in value.shape
        if name in ("position_ids", "inputs_embeds", "cache", "past_key_values") or (along and name not in known):
            what = f"{name!r} cannot be shortened"
            raise ArrayError(what, where="inputs", fix="pass what the model's processor returns, for a new prompt")
