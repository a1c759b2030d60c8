"""Fewer visual tokens for an unmodified model: its inputs, and what was done to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from hra.compiling import Stopwatch
from hra.domains.tokens import Reducer, TokenAllocator
from hra.errors import ArrayError
from hra.integrations.transformers.choosing import Choosing, Chosen, Given, Realisation, reads_features
from hra.integrations.transformers.encoding import Encoded, Grid
from hra.integrations.transformers.images import as_inputs, shown
from hra.integrations.transformers.positions import Positions
from hra.integrations.transformers.prompts import Prompts, padded
from hra.integrations.transformers.signals import Signals, on_grid, recorded
from hra.model.kinds import require_kind


@dataclass(frozen=True, eq=False)
class Reduced:
    """Prompts with fewer visual tokens. Rows are padded on the left.

    Attributes
    ----------
    prompt : input ids, masks and positions.
    columns : int64 [B, L], the token of the whole prompt that stands here, -1 for padding. A token that stands for
        several has the place of the one at or before the middle of them.
    chosen : what was kept of each image or tile, in the order of the placeholders.
    encoded : the encoder's whole output.
    following : int64 [B], position of the first token after each prompt.
    seconds : "encoding", and "selection": from features to inputs; by the clock, and with "_cpu" of all processors.

    Examples
    --------
    See `reduce`.

    >>> from hra.integrations.transformers import Reduced
    >>> sorted(Reduced.__dataclass_fields__)
    ['chosen', 'columns', 'encoded', 'following', 'prompt', 'seconds']
    """

    prompt: Mapping[str, Tensor]
    columns: Tensor
    chosen: tuple[Chosen, ...]
    encoded: Encoded
    following: Tensor
    seconds: Mapping[str, float]

    @property
    def inputs(self) -> dict[str, Any]:
        """For ``model(**inputs)`` and ``model.generate(**inputs)``; made anew each time: `generate` edits them."""
        outputs = {"image": self.encoded.with_features([each.levels for each in self.chosen])}
        return {**self.prompt, "mm_encoder_outputs": outputs}

    @property
    def counts(self) -> tuple[int, ...]:
        """Tokens that enter the language model, of each image or tile."""
        return tuple(len(each.slots) for each in self.chosen)

    def mask(self, step: int) -> Tensor:
        """The attention mask of the ``step``-th token after the prompts, from 0: int64 [B, L + step + 1]."""
        mask = self.prompt["attention_mask"]
        return torch.cat([mask, mask.new_ones(len(mask), step + 1)], dim=1)

    def positions(self, step: int) -> Tensor:
        """Position ids of that token, [B, 1] or [4, B, 1]: a model would count from what it sees, or saw last."""
        places = (self.following + step)[:, None]
        if self.prompt["position_ids"].ndim == 2:
            return places
        order = self.prompt["attention_mask"].sum(dim=1)[:, None] + step
        return torch.stack([order, places, places, places])


def reduce(
    model: Any,
    inputs: Mapping[str, Any],
    *,
    allocator: TokenAllocator[Any],
    budget: float | Sequence[float],
    realize: Realisation = "pool",
    positions: Positions = "original",
    images: Sequence[Any] | None = None,
    query: str = "",
    processor: Any = None,
    grids: Sequence[Grid] | None = None,
) -> Reduced:
    """Encode images once and keep ``budget`` tokens of each: inputs for the model as it is, nothing of it is patched.

    For models of Hugging Face that take ``mm_encoder_outputs``, with any attention. Text, line and tile markers of the
    prompt stay; of a batch, rows come back padded on the left. In layers that see a window only, the window counts the
    tokens that are left.

    Parameters
    ----------
    model : a ``...ForConditionalGeneration``.
    inputs : what its processor returns: ids, mask, pixels ... of any number of prompts and images.
    allocator : see `hra.domains.tokens`; its finest patches are the model's own tokens.
    budget : tokens of each image, or of each tile where the processor cuts tiles; or one number for each of them.
    realize, positions : see `Choosing` and `hra.integrations.transformers.positions`.
    images : what each image or tile shows, in any form that `TokenAllocator.context` takes; by default what
        `shown` makes of the pixels with the help of ``processor``. `hra.domains.tokens.REDUCERS` look at none.
    query : the question, for allocators that read it.
    processor : states how colours were normalised; needed for "encode", and where ``images`` are left out.
    grids : (rows, columns) of the model's tokens of each image, where it neither says so nor has squares.

    Raises
    ------
    ArrayError : a model, inputs or grids that do not fit, or an unknown realisation.
    HraError : see `TokenAllocator.allocate`.

    Examples
    --------
    >>> import torch
    >>> from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration
    >>> sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    >>> config = LlavaConfig(vision_config=CLIPVisionConfig(image_size=56, patch_size=14, **sizes),
    ...                      text_config=LlamaConfig(vocab_size=100, **sizes), image_token_id=99)
    >>> model = LlavaForConditionalGeneration(config).eval()
    >>> ids = torch.tensor([[1] + [99] * 16 + [5, 6]])
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> from hra.integrations.transformers import reduce
    >>> picture = np.random.default_rng(0).random((56, 56, 3))
    >>> reduced = reduce(model, {"input_ids": ids, "pixel_values": torch.randn(1, 3, 56, 56)},
    ...                  allocator=tokens.PyramidSampling(), budget=5, images=[picture])
    >>> reduced.counts, reduced.prompt["input_ids"].shape, reduced.prompt["position_ids"][0, -1].item()
    ((5,), torch.Size([1, 8]), 18)
    >>> model.generate(**reduced.inputs, max_new_tokens=3, do_sample=False).shape[0]
    1
    """
    _check(realize, positions, allocator)
    watch = Stopwatch()
    reads = reads_features(allocator)
    with recorded(model, _read(allocator)) as projected:
        encoded = Encoded.of(model, inputs, grids)
    if encoded.levels[0].is_cuda:
        torch.cuda.synchronize()  # or what the encoder takes would be counted as selection
    seconds = {"encoding": watch.wall, "encoding_cpu": watch.cpu}
    watch = Stopwatch()
    prompts = Prompts.of(model, inputs, encoded.grids)
    pictures = [None] * len(encoded.grids) if reads else _pictures(model, inputs, images, processor, encoded)
    given = _given(allocator, Signals(model, inputs, encoded, prompts, projected), pictures)
    choosing = Choosing(allocator, realize, query, partial(_encode, model, inputs, processor))
    chosen = [choosing.choose(*pair) for pair in zip(given, _budgets(budget, len(given)), strict=True)]
    columns = prompts.columns(_counts(chosen, encoded.grids).to(prompts.mask.device))
    prompt, following = prompts.reduced(model, columns, positions)
    seconds |= {"selection": watch.wall, "selection_cpu": watch.cpu}
    return Reduced(prompt, padded(columns), tuple(chosen), encoded, following, seconds)


def _read(allocator: TokenAllocator[Any]) -> tuple[str, ...]:
    """The signals that an allocator reads."""
    return (allocator.reads, *allocator.signals) if isinstance(allocator, Reducer) else ()


def _given(allocator: TokenAllocator[Any], signals: Signals, pictures: Sequence[Any]) -> list[Given]:
    """What the allocator gets to know of each image or tile."""
    encoded, count = signals.encoded, len(pictures)
    relevance, further = [None] * count, [{}] * count
    if isinstance(allocator, Reducer) and allocator.reads:
        relevance = signals.maps(allocator.reads)
        names = {name: signals.maps(name) for name in allocator.signals}
        further = [{name: on_grid(maps[i], encoded.grids[i]) for name, maps in names.items()} for i in range(count)]
    if isinstance(allocator, Reducer) and allocator.reads == "attention" and allocator.merges:
        keys = signals.keys()
        further = [{**one, "keys": on_grid(keys[i], encoded.grids[i])} for i, one in enumerate(further)]
    levels = [tuple(level[part] for level in encoded.levels) for part in encoded.bounds]
    parts = zip(encoded.grids, levels, pictures, relevance, further, strict=True)
    return [Given(*each) for each in parts]


def _check(realize: str, positions: str, allocator: Any) -> None:
    require_kind("allocator", allocator, TokenAllocator, "pass an allocator of hra.domains.tokens")
    for name, value, known in (("realize", realize, Realisation), ("positions", positions, Positions)):
        if value not in get_args(known):
            raise ArrayError(f"there is no {name}={value!r}", where=name, fix=f"use one of {get_args(known)}")


def _budgets(budget: float | Sequence[float], count: int) -> list[float]:
    """The budget of each image or tile."""
    budgets: list[float] = list(budget) if isinstance(budget, Sequence) else [budget] * count
    if len(budgets) != count:
        what = f"{len(budgets)} budgets for {count} images or tiles"
        raise ArrayError(what, where="budget", fix="pass one number for all, or one for each")
    return budgets


def _pictures(model: Any, inputs: Mapping[str, Any], images: Any, processor: Any, encoded: Encoded) -> list[Any]:
    count = len(encoded.grids)
    pictures = shown(model, inputs, processor) if images is None else list(images)
    if len(pictures) != count:
        what = f"{len(pictures)} pictures for {count} images or tiles"
        raise ArrayError(what, where="images", fix="pass one for each, in the order of the prompts")
    return pictures


def _counts(chosen: Sequence[Chosen], grids: Sequence[Grid]) -> Tensor:
    """How many tokens take the place of each placeholder, int64 [N]."""
    each = [
        np.bincount(one.slots, minlength=rows * columns) for one, (rows, columns) in zip(chosen, grids, strict=True)
    ]
    return torch.as_tensor(np.concatenate(each))


def _encode(model: Any, inputs: Mapping[str, Any], processor: Any, picture: np.ndarray) -> Tensor:
    """Features of another picture [rows, columns, D], levels side by side."""
    again = Encoded.of(model, as_inputs(model, inputs, picture, processor))
    if len(again.grids) != 1:
        raise ArrayError(f"the encoder made {len(again.grids)} grids of one picture", where="encode")
    return torch.cat(again.levels, dim=1).reshape(*again.grids[0], -1)
