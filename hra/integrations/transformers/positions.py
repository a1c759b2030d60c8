"""Positions that the tokens of reduced prompts keep, or get new ones.

*Original* positions are those that a token has in the whole prompt: what was dropped leaves a hole, and text after an
image stays where it was. *Compact* ones close the holes. In models with three position axes (M-RoPE) rows, columns and
time of an image are closed one by one, and text goes on after the largest.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError


def whole_positions(model: Any, inputs: Mapping[str, Tensor], mask: Tensor) -> Tensor:
    """Positions of the whole prompts, int64 [axes, B, L]; one axis, or time, row and column.

    Raises
    ------
    ArrayError : the model cannot place the tokens: their runs in the prompts are not those of the pictures and videos.
    """
    base = model.base_model
    if not hasattr(base, "get_rope_index"):
        return ordinal(mask)[None]
    names = inspect.signature(base.get_rope_index).parameters
    given = {name: inputs[name] for name in names if inputs.get(name) is not None}
    types = "mm_token_type_ids"
    if types in names and names[types].default is inspect.Parameter.empty and types not in given:
        what = f"{types} is missing, by which {type(model).__name__} places pictures and videos"
        raise ArrayError(what, where=types, fix="pass what the model's processor returns")
    try:
        return base.get_rope_index(**{**given, "attention_mask": mask})[0]
    except (LookupError, RuntimeError, StopIteration, TypeError, ValueError) as error:
        what = f"{type(model).__name__} cannot place the tokens of the prompts: {_runs_beside_sizes(inputs, mask)}"
        fix = "pass ids and sizes of one call of the processor: each picture, and each video or step of it, is one run"
        raise ArrayError(what, where="input_ids", fix=fix) from error


def _runs_beside_sizes(inputs: Mapping[str, Tensor], mask: Tensor) -> str:
    """How many runs of tokens of pictures and videos there are, and how many pictures, videos and steps of these."""
    types = inputs.get("mm_token_type_ids", torch.zeros_like(mask))
    kinds = [kind for row, seen in zip(types, mask.bool(), strict=True) for kind in row[seen].unique_consecutive()]
    pictures, videos = (inputs.get(f"{kind}_grid_thw") for kind in ("image", "video"))
    count = 0 if pictures is None else len(pictures)
    steps = [] if videos is None else videos[:, 0].tolist()
    runs = f"{kinds.count(1)} runs of tokens of pictures and {kinds.count(2)} of videos"
    return f"{runs}, for {count} pictures and {len(steps)} videos of {sum(steps)} steps"


def counts_tokens(model: Any) -> bool:
    """Whether the model's `generate` drops the positions that it is given and counts tokens."""
    ids = torch.zeros((1, 2), dtype=torch.int64, device=model.device)
    given = {"attention_mask": torch.ones_like(ids), "position_ids": ids + 3, "use_cache": True}
    return model.prepare_inputs_for_generation(ids, is_first_iteration=True, **given).get("position_ids") is None


def check_positions(model: Any) -> None:
    """Refuse models of which `counts_tokens` is true.

    Raises
    ------
    ArrayError : by name.
    """
    if counts_tokens(model):
        what = f"{type(model).__name__} counts the tokens of a prompt whatever positions it is given"
        raise ArrayError(what, where="positions", fix="pass positions='compact'")


def ordinal(mask: Tensor) -> Tensor:
    """The number of real tokens before each token, int64 [B, L]; 0 for padding."""
    return (mask.long().cumsum(-1) - 1).masked_fill(mask == 0, 0)


def compacted(positions: Tensor, image: Tensor) -> Tensor:
    """Positions [axes, n] of one prompt without holes; ``image`` int64 [n] numbers its images, -1 for text."""
    if len(positions) == 1:
        return torch.arange(positions.shape[1], device=positions.device)[None]
    result, following = torch.empty_like(positions), 0
    for run in _runs(image):
        part = positions[:, run]
        if image[run.start] < 0:
            closed = torch.arange(part.shape[1], device=part.device).expand_as(part)
        else:
            closed = torch.stack([axis.unique(return_inverse=True)[1] for axis in part])
        result[:, run] = closed + following
        following += int(closed.max()) + 1
    return result


def _runs(image: Tensor) -> list[slice]:
    """Stretches of equal numbers."""
    ends = [*(torch.nonzero(image.diff())[:, 0] + 1).tolist(), len(image)]
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False) if end > start]


def for_model(positions: Tensor, mask: Tensor) -> Tensor:
    """Positions as models take them: [B, L], or [4, B, L] with the order of the text before time, row and column."""
    return positions[0] if len(positions) == 1 else torch.cat([ordinal(mask)[None], positions])
