"""Where the features of each picture lie, as the model, its configuration and its inputs state it; nothing is guessed.

Three things are stated: sizes of grids or of pictures among the inputs, the model's own function that packs tiles and
line breaks (AnyRes of LLaVA-NeXT and OneVision), or encoders that see pictures of one size, cut them into patches and
merge a stated number of these. What states none of it needs ``grids``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import isqrt, prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.caching import cached_property
from hra.errors import ArrayError

Grid = tuple[int, int]
"""(rows, columns) of the tokens that a model makes of one image, or of one tile of it; of a video, of all its steps of
time below each other."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The cells of each grid among the features, which stand in the order of the placeholders.

    Attributes
    ----------
    grids : (rows, columns) of each.
    steps : of time in each, below each other: 1 of pictures.
    places : int64 [rows * columns] of each grid, the feature of each cell, row by row.
    images : the grids of each image that share its budget: one, or the whole image small and its tiles as one picture.
    breaks : (feature, grid, row) of each line break; a break at the end of an image without tiles ends its last row,
        and one at the end of a video, row -1, stays with any of its tokens.
    """

    grids: tuple[Grid, ...]
    steps: tuple[int, ...]
    places: tuple[Tensor, ...]
    images: tuple[tuple[int, ...], ...]
    breaks: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def of_grids(cls, grids: Sequence[Sequence[int]]) -> Layout:
        """Grids one behind the other, each an image of its own, or a video of (steps, rows, columns).

        Raises
        ------
        ArrayError : other than two or three whole numbers of at least 1.
        """
        _check_grids(grids)
        ends = accumulate(map(prod, grids), initial=0)
        places = tuple(torch.arange(*pair) for pair in pairwise(ends))
        whole = tuple((prod(grid[:-1]), grid[-1]) for grid in grids)
        steps = tuple(grid[0] if len(grid) == 3 else 1 for grid in grids)
        return cls(whole, steps, places, tuple((i,) for i in range(len(places))))

    @classmethod
    def stated(cls, model: Any, inputs: Mapping[str, Any], output: Any, count: int) -> Layout:
        """What is known of ``count`` features.

        Parameters
        ----------
        output : of the encoder.

        Raises
        ------
        ArrayError : nothing is stated, or what is stated does not fit the features.
        """
        if inputs.get("image_grid_thw") is not None:
            sizes = zip(inputs["image_grid_thw"].tolist(), merge_sizes(model, inputs), strict=True)
            return cls.of_grids([(t, h // merge, w // merge) for (t, h, w), merge in sizes])
        if hasattr(model.base_model, "pack_image_features") and inputs.get("image_sizes") is not None:
            return _packed(
                model.base_model, inputs["image_sizes"].tolist(), [len(each) for each in output.pooler_output]
            )
        vision = getattr(model.config, "vision_config", None)
        if (
            vision is not None
            and getattr(vision, "model_type", "") == "pixtral"
            and inputs.get("image_sizes") is not None
        ):
            side = vision.patch_size * getattr(model.config, "spatial_merge_size", 1)
            return cls.of_grids([(height // side, width // side) for height, width in inputs["image_sizes"].tolist()])
        return cls.of_grids(_equal(model, vision, inputs, output, count))

    @classmethod
    def of_videos(cls, model: Any, inputs: Mapping[str, Any], output: Any) -> Layout:
        """What is known of the features of videos: their sizes, or frames that are pooled two by two (OneVision).

        Parameters
        ----------
        output : of the encoder.

        Raises
        ------
        ArrayError : nothing is stated, or what is stated does not fit the features.
        """
        sizes = inputs.get("video_grid_thw")
        if sizes is not None:
            _check_whole(inputs.get("video_compression_mask"))
            step = getattr(model.config.vision_config, "temporal_merge_size", 1)
            sizes = zip(sizes.tolist(), merge_sizes(model, inputs, "video"), strict=True)
            return cls.of_grids([(t // step, h // merge, w // merge) for (t, h, w), merge in sizes])
        pixels, pooled = inputs["pixel_values_videos"], output.pooler_output
        if (
            hasattr(model.base_model, "apply_pooling")
            and hasattr(model.base_model, "image_newline")
            and pixels.ndim == 5
        ):
            vision, frames = model.config.vision_config, pixels.shape[1]
            side = -(-(vision.image_size // vision.patch_size) // 2)
            length = frames * side * side
            if tuple(pooled.shape[:2]) == (len(pixels), length + 1):
                starts = [video * (length + 1) for video in range(len(pixels))]
                return cls(
                    tuple((frames * side, side) for _ in starts), (frames,) * len(starts),
                    tuple(start + torch.arange(length) for start in starts), tuple((i,) for i in range(len(starts))),
                    tuple((start + length, video, -1) for video, start in enumerate(starts)),
                )  # fmt: skip
        what = f"the places of the features of videos of {type(model).__name__} are unknown"
        raise ArrayError(what, where="pixel_values_videos", fix="pass grids=[(steps, rows, columns), ...]")

    def followed_by(self, other: Layout) -> Layout:
        """Both, the features of ``other`` behind the own."""
        cells, count = len(self.owners), len(self.grids)
        return Layout(
            self.grids + other.grids, self.steps + other.steps,
            self.places + tuple(cells + places for places in other.places),
            self.images + tuple(tuple(count + grid for grid in grids) for grids in other.images),
            self.breaks + tuple((cells + feature, count + grid, row) for feature, grid, row in other.breaks),
        )  # fmt: skip

    @cached_property
    def owners(self) -> Tensor:
        """The number of the grid of each feature, a line break's too, int64 [N]."""
        result = torch.empty(sum(map(len, self.places)) + len(self.breaks), dtype=torch.int64)
        for number, places in enumerate(self.places):
            result[places] = number
        for feature, number, _ in self.breaks:
            result[feature] = number
        return result


def _check_whole(kept: Tensor | None) -> None:
    """Refuse videos of which the processor left out tokens: what stays is not a grid (VideoLLaMA 3)."""
    if kept is not None and not bool(kept.all()):
        what = f"the processor left out {int((~kept.bool()).sum())} of the {kept.numel()} tokens of the videos"
        fix = "pass use_token_compression=False to the processor: the allocator chooses"
        raise ArrayError(what, where="video_compression_mask", fix=fix)


def _check_grids(grids: Any) -> None:
    fix = "pass a list with (rows, columns) of each image or tile, (steps, rows, columns) of each video"
    if not isinstance(grids, (list, tuple)):
        raise ArrayError(f"grids {grids!r} are not a list", where="grids", fix=fix)
    for number, grid in enumerate(grids):
        whole = isinstance(grid, (list, tuple)) and all(isinstance(side, (int, np.integer)) for side in grid)
        if not whole or len(grid) not in (2, 3) or min(grid) < 1:
            raise ArrayError(f"{grid!r} is not a grid", where=f"grids[{number}]", fix=fix)


def _packed(base: Any, sizes: Sequence[Sequence[int]], lengths: Sequence[int]) -> Layout:
    """AnyRes: the model's own function packs numbers in place of features, and says so where each of them went."""
    vision = base.config.vision_config
    side = vision.image_size // vision.patch_size
    options = {
        name: getattr(base.config, name, None) for name in ("vision_feature_select_strategy", "vision_aspect_ratio")
    }
    taken = inspect.signature(base.pack_image_features).parameters
    options = {name: value for name, value in options.items() if name in taken and value is not None}
    grids: list[Grid] = []
    places, images, breaks, start = [], [], [], 0
    for size, length in zip(sizes, lengths, strict=True):
        tiles = tiles_of(base, size) if length > side * side + 1 else 0
        numbers = torch.arange((1 + tiles) * side * side, dtype=torch.float32).reshape(1 + tiles, side * side, 1)
        packed = base.pack_image_features([numbers], [size], image_newline=-torch.ones(1), **options)[0][0][:, 0]
        if len(packed) != length:
            what = f"an image of {size[0]} x {size[1]} pixels has {length} features, {len(packed)} by its size"
            raise ArrayError(what, where="image_sizes", fix="pass sizes and pixels of one call of the processor")
        first, fine = len(grids), packed[side * side :]
        ends = (fine == -1).nonzero()[:, 0].tolist()
        if tiles and not ends:
            what = f"{type(base).__name__} packs tiles without line breaks, which tell their rows"
            raise ArrayError(what, where="model", fix="pass grids=[(rows, columns), ...]")
        grids.append((side, side))
        places.append(start + torch.arange(side * side))
        if tiles:
            grids.append((len(ends), len(fine) // len(ends) - 1))
            places.append(start + side * side + (fine != -1).nonzero()[:, 0])
            breaks += [(start + side * side + end, first + 1, row) for row, end in enumerate(ends)]
        else:
            breaks += [(start + side * side + end, first, side - 1) for end in ends]
        images.append(tuple(range(first, len(grids))))
        start += length
    return Layout(tuple(grids), (1,) * len(grids), tuple(places), tuple(images), tuple(breaks))


def tiles_of(base: Any, size: Sequence[int]) -> int:
    """The number of tiles into which a model with AnyRes cuts an image of (height, width) pixels."""
    shape = sys.modules[type(base).__module__].get_anyres_image_grid_shape
    return prod(shape(size, base.config.image_grid_pinpoints, base.config.vision_config.image_size))


def _equal(model: Any, vision: Any, inputs: Mapping[str, Any], output: Any, count: int) -> list[Grid]:
    """Grids of pictures of one size: patches, merged as the configuration says.

    Raises
    ------
    ArrayError : the configuration has no patches, or the features are others.
    """
    pixels, patch = inputs["pixel_values"], pair(getattr(vision, "patch_size", None))
    pictures, grid = len(output.last_hidden_state), None
    if patch is not None and pixels.ndim >= 4:
        rows, columns = pixels.shape[-2] // patch[0], pixels.shape[-1] // patch[1]
        merged = getattr(model.config, "mm_tokens_per_image", None)
        if merged is not None:
            grid = (isqrt(merged), isqrt(merged))
        else:
            step = step_of(model.config)
            grid = (rows // step, columns // step)
        if grid[0] * grid[1] * pictures == count:
            return [grid] * pictures
    expected = "its configuration states none" if grid is None else f"by its configuration {grid[0]} x {grid[1]}"
    what = f"the places of {count} features of {pictures} pictures are unknown: {expected} each"
    fix = (
        "pass grids=[(rows, columns), ...]; the features of a resampler have no places, so use a method that needs none"
    )
    raise ArrayError(what, where=type(model).__name__, fix=fix)


def merge_sizes(model: Any, inputs: Mapping[str, Any], kind: str = "image") -> list[int]:
    """Patches along a side of a token of each packed picture, or each "video": an input, or the same for all."""
    if inputs.get(f"{kind}_merge_sizes") is not None:
        return inputs[f"{kind}_merge_sizes"].tolist()
    return [model.config.vision_config.spatial_merge_size] * len(inputs[f"{kind}_grid_thw"])


def step_of(config: Any) -> int:
    """How many patches become one token along each side."""
    factor = getattr(config, "scale_factor", None) or getattr(config, "downsample_factor", None)
    factor = factor or getattr(config.vision_config, "hidden_stride", None)
    ratio = getattr(config, "downsample_ratio", None)
    return int(factor) if factor else round(1 / ratio) if ratio else 1


def pair(size: Any) -> tuple[int, int] | None:
    """A size for rows and columns, stated as one number or as two; None where it is not stated."""
    if size is None:
        return None
    return (size[0], size[1]) if isinstance(size, (list, tuple)) else (size, size)
