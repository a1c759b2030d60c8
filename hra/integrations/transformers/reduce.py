"""Fewer visual tokens for an unmodified model: its inputs, and what was done to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.compiling import Stopwatch
from hra.domains.tokens import Flops, Reducer, TokenAllocator
from hra.domains.tokens.embedding.pictures import load_if_path
from hra.domains.tokens.methods.reducers.named import reads_features
from hra.errors import ArrayError, BudgetTooSmall, HraWarning, InvalidBudget, check_kind, warn
from hra.files.images.arrays import as_image
from hra.integrations.reduction import Positions, Realisation, check_known
from hra.integrations.transformers.choosing import Choosing, Chosen, Given
from hra.integrations.transformers.cost import patches_of
from hra.integrations.transformers.encoding import Encoded, check_model
from hra.integrations.transformers.images import as_inputs, cell_side, check_order, shown, unlike
from hra.integrations.transformers.layouts import Layout
from hra.integrations.transformers.positions import check_positions
from hra.integrations.transformers.prompts import Prompts, check_inputs, check_layers, padded
from hra.integrations.transformers.signals import Signals, on_grid, recorded
from hra.solvers.apportionment import largest_remainder


@dataclass(frozen=True, eq=False)
class Reduced:
    """Prompts with fewer visual tokens. Rows are padded on the left.

    Attributes
    ----------
    prompt : input ids, masks and positions.
    columns : int64 [B, L], the token of the whole prompt that stands here, -1 for padding. A token that stands for
        several has the place of the one at or before the middle of them.
    chosen : what was kept of each image or tile, in the order of the placeholders; then of each video.
    encoded : the encoder's whole output.
    following : int64 [B], position of the first token after each prompt.
    seconds : "encoding", and "selection": from features to inputs; by the clock, and with "_cpu" of all processors.
    rows : the prompt of each of ``chosen``.

    Examples
    --------
    See `reduce`.

    >>> from hra.integrations.transformers import Reduced
    >>> sorted(Reduced.__dataclass_fields__)
    ['chosen', 'columns', 'encoded', 'following', 'prompt', 'rows', 'seconds']
    """

    prompt: Mapping[str, Tensor]
    columns: Tensor
    chosen: tuple[Chosen, ...]
    encoded: Encoded
    following: Tensor
    seconds: Mapping[str, float]
    rows: tuple[int, ...]

    @property
    def inputs(self) -> dict[str, Any]:
        """Inputs for ``model(**inputs)`` and ``model.generate(**inputs)``; made again, since `generate` edits them."""
        outputs = self.encoded.with_features(
            [each.slots for each in self.chosen], [each.levels for each in self.chosen]
        )
        # Models read a mask as "not 0", but `generate` drops one that is 1 everywhere. Without it and without a cache
        # they take holes between positions for the ends of packed prompts (`find_packed_sequence_indices`).
        seen = 1 if self.prompt["position_ids"].ndim > 2 else 2
        return {**self.prompt, "attention_mask": seen * self.prompt["attention_mask"], "mm_encoder_outputs": outputs}

    @property
    def counts(self) -> tuple[int, ...]:
        """Tokens that enter the language model, of each image or tile, then of each video; line breaks not counted."""
        return tuple(len(each.slots) for each in self.chosen)

    @property
    def breaks(self) -> tuple[int, ...]:
        """Line breaks that stay, of each image or tile, then of each video; they enter beside `counts`."""
        kept, breaks = self.encoded.counts([one.slots for one in self.chosen]), self.encoded.layout.breaks
        numbers = [number for feature, number, _ in breaks if kept[feature]]
        return tuple(np.bincount(np.array(numbers, np.int64), minlength=len(self.chosen)).tolist())

    @property
    def counts_in_time(self) -> tuple[tuple[int, ...], ...]:
        """`counts` of each step of time: of pictures a single one."""
        layout, counts = self.encoded.layout, []
        for one, (rows, columns), steps in zip(self.chosen, layout.grids, layout.steps, strict=True):
            counts.append(tuple(np.bincount(one.slots // (rows // steps * columns), minlength=steps).tolist()))
        return tuple(counts)

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
    budget: float | Sequence[float] | Flops,
    realize: Realisation = "pool",
    positions: Positions = "original",
    images: Sequence[Any] | None = None,
    query: str | Sequence[str] = "",
    processor: Any = None,
    grids: Sequence[Sequence[int]] | None = None,
) -> Reduced:
    """Encode images and videos once and keep ``budget`` tokens of each: inputs for the unpatched model.

    For models of Hugging Face that take ``mm_encoder_outputs``, with any attention. Text, line and tile markers of the
    prompt stay; of a batch, rows come back padded on the left. In layers that see a window only, the window counts the
    tokens that are left.

    Parameters
    ----------
    model : a ``...ForConditionalGeneration``.
    inputs : what its processor returns: ids, mask, pixels ... of any number of prompts and images.
    allocator : see `hra.domains.tokens`; its finest patches are the model's own tokens.
    budget : whole number of tokens of each image, of each tile that is a grid of its own, and of each video; or one for
        each of them, images first. An image with line breaks (AnyRes of LLaVA-NeXT and OneVision) has one budget for
        its small copy and its tiles: pyramids and methods that read features choose among all of them, others share it
        by their cells. Breaks stay with rows that keep tokens and are not counted. Or
        `hra.domains.tokens.Flops` or `Milliseconds` of each prompt.
    realize, positions : see `Choosing` and `hra.integrations.transformers.positions`.
    images : what each image or tile shows, in any form that `TokenAllocator.context` takes, and the frames of each
        video, as many for each step of time, the last of which its last frame may fill up; by default what `shown`
        makes of the pixels with the help of ``processor``. They are stretched over the model's grid, so that where a
        processor crops, only ``processor`` is right. `hra.domains.tokens.REDUCERS` look at none, except "pixelprune".
    query : the question, for allocators that read it; or one for each prompt.
    processor : states how colours were normalised; needed for "encode", and where ``images`` are left out.
    grids : (rows, columns) of the model's tokens of each image, (steps, rows, columns) of each video, where nothing
        states them (`hra.integrations.transformers.layouts`).

    Raises
    ------
    ArrayError : a model, inputs or grids that do not fit, an unknown realisation, or "encode" for an allocator that
        looks at no pictures.
    HraError : see `TokenAllocator.allocate`.

    Warns
    -----
    HraWarning : images, or the first or last frames of videos, are not what the encoder sees, stretched; or "encode"
        with patches of fewer pixels than the model's tokens have.

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
    _check(model, inputs, allocator, realize, positions)
    check_inputs(inputs)
    check_model(model, inputs)
    check_layers(model)
    if positions == "original":
        check_positions(model)
    reads = reads_features(allocator)
    if realize == "encode":
        _check_again(inputs, reads)
        if images is not None:  # else `shown` does
            check_order(model, inputs, processor)
    watch = Stopwatch()
    with recorded(model, _read(allocator)) as projected:
        encoded = Encoded.of(model, inputs, grids)
    if encoded.levels[0].is_cuda:
        torch.cuda.synchronize()  # or what the encoder takes would be counted as selection
    seconds = {"encoding": watch.wall, "encoding_cpu": watch.cpu}
    if realize == "encode":
        _check_detail(model, inputs, allocator, encoded.layout)
    watch = Stopwatch()
    prompts = Prompts.of(model, inputs, encoded.layout.owners)
    pictures = [None] * len(encoded.grids) if reads else _pictures(model, inputs, images, processor, encoded)
    if isinstance(budget, Flops):
        budget = _bought(budget, prompts, encoded.layout, patches_of(model, inputs, encoded.layout))
    units, budgets = _budgets(budget, encoded.layout, reads or allocator.builder.with_copy)
    given = _given(allocator, Signals(model, inputs, encoded, prompts, projected), pictures, query, units)
    choosing = Choosing(allocator, realize, partial(_encode, model, inputs, processor))
    chosen = [one for pair in zip(given, budgets, strict=True) for one in choosing.choose(*pair)]
    columns = prompts.columns(encoded.counts([one.slots for one in chosen]).to(prompts.mask.device))
    prompt, following = prompts.reduced(model, columns, positions)
    seconds |= {"selection": watch.wall, "selection_cpu": watch.cpu}
    rows = prompts.rows(len(chosen))
    return Reduced(
        prompt, padded(columns, prompt["input_ids"].shape[1]), tuple(chosen), encoded, following, seconds, rows
    )


def _read(allocator: TokenAllocator[Any]) -> tuple[str, ...]:
    """The signals that an allocator reads."""
    return (allocator.reads, *allocator.signals) if isinstance(allocator, Reducer) else ()


def _given(
    allocator: TokenAllocator[Any],
    signals: Signals,
    pictures: Sequence[Any],
    query: str | Sequence[str],
    units: Sequence[tuple[int, ...]],
) -> list[Given]:
    """What the allocator gets to know of the grids of each unit."""
    layout, names = signals.encoded.layout, {}
    if isinstance(allocator, Reducer) and allocator.reads:
        names = {name: signals.maps(name) for name in (allocator.reads, *allocator.signals)}
        if allocator.reads in ("attention", "joint") and allocator.merges:
            names["keys"] = signals.keys(allocator.reads)
    queries = _queries(query, signals.prompts, len(pictures))
    given = []
    for numbers in units:
        places = torch.cat([layout.places[number] for number in numbers])
        read = {
            name: np.concatenate([on_grid(maps[i], layout.grids[i]) for i in numbers]) for name, maps in names.items()
        }
        relevance = read.pop(allocator.reads) if isinstance(allocator, Reducer) and allocator.reads else None
        one = Given(
            tuple(layout.grids[number] for number in numbers),
            tuple(level[places.to(level.device)] for level in signals.encoded.levels),
            queries[numbers[-1]], pictures[numbers[-1]], None, read, layout.steps[numbers[-1]],
        )  # fmt: skip
        given.append(one if relevance is None else replace(one, relevance=relevance.reshape(one.grid)))
    return given


def _queries(query: str | Sequence[str], prompts: Prompts, count: int) -> list[str]:
    """The question about each of ``count`` images or tiles: that of its prompt."""
    queries = [query] * len(prompts.mask) if isinstance(query, str) else query
    texts = isinstance(queries, (list, tuple)) and all(isinstance(each, str) for each in queries)
    if not texts or len(queries) != len(prompts.mask):
        what = f"{len(queries)} questions" if texts else f"a query of type {type(query).__name__}"
        fix = "pass one text for all prompts, or a list with one for each"
        raise ArrayError(f"{what} for {len(prompts.mask)} prompts", where="query", fix=fix)
    return [queries[row] for row in prompts.rows(count)]


def _check(model: Any, inputs: Any, allocator: Any, realize: str, positions: str) -> None:
    check_kind("model", model, torch.nn.Module, "pass a ...ForConditionalGeneration")
    check_kind("inputs", inputs, Mapping, "pass what the model's processor returns")
    check_kind("allocator", allocator, TokenAllocator, "pass an allocator of hra.domains.tokens")
    check_known(realize, positions)


def _check_again(inputs: Mapping[str, Any], reads: bool) -> None:
    """Refuse to encode pictures again that are not known, or that would need more inputs than their pixels."""
    if reads:
        what = "an allocator that chooses by the model's features sees no pictures that could be encoded again"
    elif inputs.get("image_sizes") is not None or inputs.get("pixel_values_videos") is not None:
        what = "pictures of other sizes are not encoded again beside videos or by models that take image_sizes"
    else:
        return
    raise ArrayError(what, where="realize", fix='use realize="pool" or "select"')


def _check_detail(model: Any, inputs: Mapping[str, Any], allocator: TokenAllocator[Any], layout: Layout) -> None:
    """Tell of pictures that would be encoded again with less detail than the model has seen."""
    cell = cell_side(model, inputs, layout)
    if allocator.patch < cell:
        what = (
            f"the model sees {cell} pixels along a side of a token, and the allocator's patches have {allocator.patch}"
        )
        what = f"{what}: pictures are encoded again at {allocator.patch} / {cell} of their size"
        warn(f"{what}; pass an allocator with patch={cell}", HraWarning)


def _budgets(budget: Any, layout: Layout, together: bool) -> tuple[list[tuple[int, ...]], list[float]]:
    """Grids that are allocated as one, and the budget of each: as given, or a grid's share of that of its image."""
    images, alone = list(layout.images), [(number,) for number in range(len(layout.grids))]
    budgets = _numbers(budget, len(images))
    if len(budgets) == len(images) and together:
        return images, budgets
    if len(budgets) == len(alone):
        return alone, budgets
    if len(budgets) != len(images):
        what = f"{len(budgets)} budgets for {len(images)} images or {len(alone)} images and tiles"
        raise ArrayError(what, where="budget", fix="pass one number for all, or one for each")
    shares: list[float] = []
    for number, grids in zip(budgets, images, strict=True):
        if number < len(grids):
            raise BudgetTooSmall(
                f"an image of {len(grids)} grids needs a token from each",
                where="budget",
                fix=f"pass at least {len(grids)}",
            )
        sizes = np.array([len(layout.places[grid]) for grid in grids])
        whole = int(min(number, sizes.sum()))
        shares += largest_remainder(sizes, whole, sizes).tolist()
    return alone, shares


def _numbers(budget: Any, count: int) -> list[float]:
    """Tokens of each of ``count`` images: as given, or the same number for all."""
    several = isinstance(budget, Sequence) and not isinstance(budget, str)
    several = several or (isinstance(budget, (np.ndarray, Tensor)) and budget.ndim > 0)
    numbers: list[Any] = list(budget) if several else [budget] * count
    for number in numbers:
        try:
            good = not isinstance(number, (bool, str)) and number >= 1 and (number == inf or number == int(number))
        except (TypeError, ValueError):  # of tables and what is not a number
            good = False
        if not good:
            fix = "pass a whole number of at least 1, or math.inf for all tokens"
            raise InvalidBudget(f"{number!r} tokens cannot be kept", where="budget", fix=fix)
    return [float(number) for number in numbers]


def _bought(limit: Flops, prompts: Prompts, layout: Layout, patches: Sequence[Sequence[int]]) -> list[float]:
    """The budget of each image and video: their prompts' tokens, by cells. Line breaks count as if all stayed."""
    cells = np.array([sum(len(layout.places[grid]) for grid in grids) for grids in layout.images])
    least = np.array([len(grids) for grids in layout.images])
    every = prompts.rows(len(layout.grids))
    rows = [every[grids[0]] for grids in layout.images]
    budgets = np.zeros(len(rows))
    for row in set(rows):
        own = np.flatnonzero(np.array(rows) == row).tolist()
        text = int((prompts.mask[row] != 0).sum()) - int(cells[own].sum())
        seen = [count for number in own for count in patches[number]]
        count = limit.tokens(text, int(cells[own].sum()), seen, int(least[own].sum()))
        shares = largest_remainder(cells[own], count - int((least[own] - 1).sum()), cells[own] - least[own] + 1)
        budgets[own] = shares + least[own] - 1
    return budgets.tolist()


def _pictures(model: Any, inputs: Mapping[str, Any], images: Any, processor: Any, encoded: Encoded) -> list[Any]:
    count = len(encoded.grids)
    if not isinstance(images, (list, tuple, type(None))) and np.ndim(images) != 4:
        fix = "pass a list with one for each image or tile: images=[picture]"
        raise ArrayError(f"images is a {type(images).__name__}, not a list", where="images", fix=fix)
    pictures = shown(model, inputs, processor, encoded.layout) if images is None else [*map(_opened, images)]
    if len(pictures) != count:
        what = f"{len(pictures)} pictures for {count} images or tiles"
        raise ArrayError(what, where="images", fix="pass one for each, in the order of the prompts")
    other = [] if images is None else unlike(model, inputs, pictures, encoded.layout)
    if other:
        what = f"images {other} are not what the encoder sees, stretched: others, in another order, turned or cropped"
        warn(f"{what}, and tokens lie elsewhere; pass processor= in place of images", HraWarning)
    return pictures


def _opened(image: Any) -> Any:
    """An image that is looked at several times, opened once; the frames of a video as they are, one by one."""
    if isinstance(image, (np.ndarray, Tensor)) and image.ndim == 4:
        return list(image)
    return image if isinstance(image, (list, tuple)) else as_image(load_if_path(image))


def _encode(model: Any, inputs: Mapping[str, Any], processor: Any, picture: np.ndarray) -> Tensor:
    """Features of another picture [rows, columns, D], levels side by side."""
    again = Encoded.of(model, as_inputs(model, inputs, picture, processor))
    if len(again.grids) != 1:
        raise ArrayError(f"the encoder made {len(again.grids)} grids of one picture", where="encode")
    return torch.cat(again.levels, dim=1).reshape(*again.grids[0], -1)
