"""Visual tokens at every budget: the picture that they give back, beside what other methods give back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.patches.metrics import pyramid_numbers
from hra.domains.tokens.pyramid.blocks import block_squares
from hra.domains.tokens.pyramid.downsample import downsampling_squares, patch_grid
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.kernels.row_blocks import for_each
from hra.pages.explore.packed import jpeg, packed
from hra.pages.explore.track import STEPS, USUAL, Track, allocate_all, budgets_between, slider, tracks

_SLIDE_STEPS, _MOST_TOKENS = 24, 4096  # budgets of an image of any size
_OURS = "hra: least error within the budget"


def token_view(context: tokens.TokenContext, budget: int) -> dict[str, Any]:
    """What a page needs to show an image's tokens for a question, from a single patch to all.

    Parameters
    ----------
    context : what belongs to its image alone is kept with its pyramid, so that another question takes less.
    budget : where the slider begins, one of its steps.
    """
    allocator = tokens.PyramidSampling(context.scorer)
    hierarchy = allocator.builder.build(context)
    budgets = budgets_between(hierarchy.base_cost, hierarchy.total_cost, STEPS, (budget,))
    number = pyramid_numbers(hierarchy, context)
    made = [
        replace(track, cuts=[np.sort(number[cut]) for cut in track.cuts])
        for track in tracks(allocator.problem(context, np.inf), budgets, {**USUAL, _OURS: allocator.traversal})
    ]
    made += [_grid(context, budgets), _downsampled(context, budgets)]
    return {
        **drawn_tokens(context),
        "query": context.query,
        **slider(budgets, budget, "tokens", "error, weighted by relevance"),
        "tracks": [track.record() for track in made],
    }


def slide_view(path: Path, query: str, budget: int, relevance: tokens.Relevance) -> dict[str, Any]:
    """What a page needs to show tokens of an image of any size: every patch that a budget up to 4,096 shows, once."""
    image, allocator = tokens.StreamedImage.open(path), tokens.StreamedPyramid(relevance)
    least = allocator.allocate((image, query), budget).hierarchy.base_cost
    made, number, places = [], dict[tuple[int, ...], int](), list[np.ndarray]()
    for step in budgets_between(least, max(_MOST_TOKENS, budget), _SLIDE_STEPS, (budget,)):
        allocation = allocator.allocate((image, query), float(step))
        cut = np.stack([allocation.hierarchy.attribute(name)[allocation.cut] for name in ("level", "x", "y")], axis=1)
        new = [place for place in map(tuple, cut.tolist()) if place not in number]
        number.update(zip(new, range(len(number), len(number) + len(new)), strict=True))
        places += [np.array(new, np.int64).reshape(-1, 3)]
        made.append((allocation, np.sort([number[place] for place in map(tuple, cut.tolist())])))
    every, side = np.concatenate(places), image.patch
    columns = int(np.ceil(np.sqrt(len(every))))
    atlas = np.full((-(-len(every) // columns) * side, columns * side, 3), 0.5, np.float32)
    for n, value in enumerate(image.values(every)):
        top, left = (side * k for k in divmod(n, columns))
        atlas[top : top + side, left : left + side] = value.reshape(side, side, 3)
    track = Track.of(_OURS, (allocation for allocation, _ in made))
    budgets = track.budgets
    return {
        "kind": "slide",
        "name": "tokens",
        "query": query,
        "size": list(image.size),
        "patch": side,
        "places": packed(every.astype(np.uint32)),
        "columns": columns,
        "atlas": jpeg(atlas),
        **slider(budgets, budget, "tokens", "error, weighted by relevance"),
        "tracks": [replace(track, cuts=[cut for _, cut in made]).record()],
    }


def drawn_tokens(context: tokens.TokenContext) -> dict[str, Any]:
    """What the browser draws patches from."""
    pyramid = context.pyramid
    return pyramid.once(drawn_tokens, lambda: _drawn(pyramid))


def _drawn(pyramid: PatchPyramid) -> dict[str, Any]:
    return {
        "kind": "tokens",
        "name": "tokens",
        "size": list(pyramid.image.shape[:2]),
        "patch": pyramid.patch,
        "places": packed(pyramid.positions.astype(np.uint16)),
        "levels": [jpeg(level) for level in pyramid.levels],
    }


def _grid(context: tokens.TokenContext, budgets: np.ndarray) -> Track:
    """The most relevant finest patches on the mean colour; the error is measured on the picture."""
    grid, image = tokens.GridTopK(), context.pyramid.image
    mean = image.mean(axis=(0, 1))
    number = pyramid_numbers(grid.builder.build(context), context)
    made = allocate_all(grid.problem(context, np.inf), budgets, grid.traversal)
    cuts = [np.sort(number[allocation.cut]) for allocation in made]
    # What a patch leaves wrong while nothing shows it; the finest come first in the pyramid, row by row.
    lost = context.pyramid.once(_grid, lambda: block_squares(image - mean, context.pyramid.patch))
    squared = (context.pixel_weight * lost).ravel()
    residual = [squared.sum() - squared[cut].sum() for cut in cuts]
    canvas = np.rint(255 * mean).astype(int).tolist()
    return _measured(
        "grid: the most relevant patches", budgets, [len(cut) for cut in cuts], residual, cuts, canvas=canvas
    )


def _downsampled(context: tokens.TokenContext, budgets: np.ndarray) -> Track:
    """The whole image, made smaller; the error is measured on the picture."""
    image, patch = context.pyramid.image, context.pyramid.patch
    height, width = image.shape[:2]
    grids = [patch_grid(height, width, int(budget), patch) for budget in budgets]

    # Many budgets share a grid. The large ones, which take longest, begin first: the last thread has little left to do.
    different, left = sorted(set(grids), reverse=True), dict[tuple[int, int], float]()

    def measure(grid: tuple[int, int]) -> None:
        lost = context.pyramid.once((_downsampled, grid), lambda: downsampling_squares(image, grid, patch))
        left[grid] = float((context.pixel_weight * lost).sum())

    for_each(different, len(different) * image.nbytes, measure)
    cost = [rows * columns for rows, columns in grids]
    return _measured("down-sampled", budgets, cost, [left[grid] for grid in grids], grids=grids)


def _measured(
    name: str, budgets: np.ndarray, cost: list[int], residual: list[float], cuts: Sequence[np.ndarray] = (), **more: Any
) -> Track:
    """A method without a bound, whose error was measured on what it gives back."""
    unknown = np.full(len(budgets), np.nan)
    return Track(name, budgets, np.array(cost, float), np.maximum(residual, 0.0), unknown, cuts, more)
