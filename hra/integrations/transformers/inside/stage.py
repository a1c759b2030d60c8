"""Where tokens are dropped inside a language model, how many, and by whose attention; published ones by name.

>>> from hra.integrations.transformers import INSIDE
>>> [(stage.layer, stage.keep) for stage in INSIDE["pyramiddrop"](layers=32)]
[(8, 0.5), (16, 0.25), (24, 0.125)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import torch
from torch import Tensor

from hra.domains.tokens import REDUCERS, Reducer
from hra.errors import ArrayError
from hra.integrations.transformers.language_attention import cache_of

Asking = Literal["last", "raters", "rank"]


@dataclass(frozen=True, eq=False)
class Stage:
    """Before one layer some of the visual tokens go.

    Parameters
    ----------
    layer : the first that no longer sees them, from 1.
    keep : share, in [0, 1], of the visual tokens that entered the language model; of n stay the whole part of keep n.
    asking : whose attention counts: that of the "last" token of the prompt, of the "raters" (SparseVLM: words after the
        first image that are more like the visual tokens than the average word), or the "rank" of tokens in the whole
        table of attention (AIM: PageRank in five steps).
    ahead : whether the attention is that of ``layer`` itself, as it would be; else that of the layer before.
    reducer : picks the tokens by that attention, and says what becomes of the others.

    Raises
    ------
    ArrayError : a share outside [0, 1], or a layer below 1.

    Examples
    --------
    >>> from hra.integrations.transformers import Stage
    >>> Stage(layer=2, keep=0.5).asking
    'last'
    """

    layer: int
    keep: float
    asking: Asking = "last"
    ahead: bool = False
    reducer: Reducer = field(default_factory=lambda: REDUCERS["fastv"](patch=2))  # pyright: ignore

    def __post_init__(self) -> None:
        if not 0 <= self.keep <= 1 or self.layer < 1:
            what = f"a share of {self.keep} from layer {self.layer} keeps no tokens"
            raise ArrayError(what, where="Stage", fix="keep a share in [0, 1] from layer 1 or later")


def fastv(layers: int, *, layer: int = 2, keep: float = 0.5) -> tuple[Stage, ...]:
    """FastV: after two layers half stays, by the attention that the last token paid in the second.

    L. Chen et al. (ECCV 2024). As the public code, which gives up a layer's attention for it: here one row is computed.
    """
    return (Stage(min(layer, layers - 1), keep),)


def pyramiddrop(layers: int, *, keep: float = 0.5) -> tuple[Stage, ...]:
    """PyramidDrop: at a quarter, half and three quarters of the layers half of what is left stays.

    L. Xing et al. (CVPR 2025). As the public code: by the last token's attention in the layer that comes next.
    """
    return tuple(Stage(max(1, layers * part // 4), keep**part, ahead=True) for part in (1, 2, 3))


def sparsevlm(layers: int, *, keep: tuple[float, ...] = (300 / 576, 200 / 576, 110 / 576)) -> tuple[Stage, ...]:
    """SparseVLM: after layers 2, 6 and 15 of 32, by the attention of the words that the image concerns.

    Y. Zhang et al. (ICML 2025). The schedule of 192 tokens of 576; of what is kept 30 % take up the dropped ones like
    them, while the public code adds clusters of them beside the count.
    """
    places = [max(1, round(layer * layers / 32)) for layer in (3, 7, 16)]
    reducer = REDUCERS["sparsevlm"](patch=2)
    return tuple(Stage(place, share, "raters", reducer=reducer) for place, share in zip(places, keep, strict=True))  # pyright: ignore


def vscan(layers: int, *, keep: float = 1 / 3) -> tuple[Stage, ...]:
    """VScan's second stage: in the middle a third stays, by the last token's attention in the layer that comes next.

    C. Zhang et al. (2025). Its first stage is `REDUCERS["vscan"]` in `reduce`.
    """
    return (Stage(max(1, layers // 2), keep, ahead=True),)


def aim(layers: int) -> tuple[Stage, ...]:
    """AIM: from the middle on fewer in each layer, until after three quarters none is left, by rank.

    Y. Zhong et al. (2024). Its merging before the language model is `REDUCERS["tome"]` in `reduce`.
    """
    first, last = max(1, layers // 2), max(1, round(layers * 22 / 28))
    steps = range(first, last + 1)
    return tuple(Stage(layer, (last - layer) / (last - first + 1), "rank") for layer in steps)


INSIDE: Mapping[str, Callable[..., tuple[Stage, ...]]] = MappingProxyType(
    {"fastv": fastv, "pyramiddrop": pyramiddrop, "sparsevlm": sparsevlm, "vscan": vscan, "aim": aim}
)
"""Name to stages for a number of layers."""


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
        what = "another Dropping or Reallocating is active on this model"
        raise ArrayError(what, where="model", fix="leave its with block first")


def strictest(stages: Sequence[Stage]) -> list[Stage]:
    """Stages by layer; of several before one layer, the one that keeps least."""
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


def ids_and_cache(options: dict[str, Any]) -> tuple[Tensor, Any]:
    """The ids [B, L] that a model is called with, and its cache, which grows with the tokens, or None.

    Raises
    ------
    ArrayError : no ids, or a cache of one size.
    """
    ids, cache = options.get("input_ids"), cache_of(options)
    if ids is None:
        raise ArrayError("there are no input_ids", where="inputs", fix="pass ids by name, and no embeddings")
    if getattr(cache, "is_compileable", False):
        what, fix = "a static cache has no layers of different lengths", "use a dynamic cache, which is the default"
        raise ArrayError(what, where="past_key_values", fix=fix)
    return ids, cache
