"""Where tokens can go, and prompts that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError
from hra.integrations.transformers.inside.stage import Stage


def earliest(model: Any) -> int:
    """The first layer before which tokens can go."""
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    levels = getattr(model.config.vision_config, "deepstack_visual_indexes", None) or ()
    return max(1, len(levels), *(kinds.index(kind) + 1 for kind in set(kinds)))


def require_alone(model: Any) -> None:
    """Refuse a second run beside one that already shortens or hides what layers are given: both count from the first.

    Raises
    ------
    ArrayError : there is one.
    """
    hooks = getattr(model.base_model, "_forward_pre_hooks", {}).values()
    if any(type(getattr(hook, "__self__", None)).__module__.startswith(__package__ or "") for hook in hooks):
        what = "another Dropping or Reallocating holds this model"
        raise ArrayError(what, where="model", fix="leave its with block first")


def strictest(stages: Sequence[Stage]) -> list[Stage]:
    """By layer; of several before one layer that which keeps least."""
    least: dict[int, Stage] = {}
    for stage in sorted(stages, key=lambda stage: -stage.keep):
        least[stage.layer] = stage
    return [least[layer] for layer in sorted(least)]


def real_tokens(mask: Any, ids: Tensor) -> Tensor:
    """Which tokens are not padding, bool [B, L]."""
    if mask is None:
        return torch.ones_like(ids, dtype=torch.bool)
    if not isinstance(mask, Tensor) or mask.ndim != 2:
        raise ArrayError("the mask is not one of tokens", where="attention_mask", fix="pass [B, L] of 0 and 1")
    if not bool(mask[:, -1].all()):
        raise ArrayError("prompts are padded on the right", where="attention_mask", fix="pad on the left")
    return mask.bool()


def require_growing(cache: Any) -> None:
    """Refuse caches of one size."""
    if getattr(cache, "is_compileable", False):
        what, fix = "a static cache has no layers of different lengths", "use a dynamic cache, which is the default"
        raise ArrayError(what, where="past_key_values", fix=fix)
