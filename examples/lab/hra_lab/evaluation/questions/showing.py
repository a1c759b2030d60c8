"""How much of an answer's box tokens show in full detail, by preset and relevance."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.errors import BudgetTooSmall, MissingExtra
from hra_lab.evaluation.questions.pairs import Pair

BUDGETS = (16, 64, 137, 273)
NO_RELEVANCE = "-"
# These choose by image and budget alone, whatever the relevance says.
_BLIND = frozenset(("downsample", "uniform-grid", "random", "even-pyramid", "difficulty-aware", "residual-scales"))

Pyramids = Callable[[int | None], tokens.PatchPyramid]


def relevances(pair: Pair) -> dict[str, tokens.Relevance]:
    """The relevances that are compared, by name; ImageNet's only for canvases, where it applies and is installed."""
    found: dict[str, tokens.Relevance] = {
        "uniform": tokens.UniformRelevance(),
        "cues": tokens.CueRelevance(),
        "phrase": tokens.PhraseRelevance(),
        "oracle": tokens.OracleRelevance([pair.box]),
    }
    if pair.kind == "canvas":
        with suppress(MissingExtra):
            found["imagenet"] = _imagenet()
    return found


def shown_rows(pair: Pair, number: int, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """One row per preset, relevance and budget: the share of the box at full detail, None where refused."""
    base = tokens.TokenContext.of(pair.image, pair.query)
    maps = {name: np.asarray(relevance(base)) for name, relevance in relevances(pair).items()}
    pyramid = cache(lambda levels: tokens.PatchPyramid.build(pair.image, levels=levels))
    rows = []
    for preset in tokens.PRESETS:
        progress(f"question {number}: {preset}")
        for name, scores in _for_preset(preset, maps).items():
            rows += _rows(pair, preset, name, scores, pyramid)
    return rows


def _for_preset(preset: str, maps: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {NO_RELEVANCE: maps["uniform"]} if preset in _BLIND else dict(maps)


def _rows(pair: Pair, preset: str, name: str, scores: np.ndarray, pyramid: Pyramids) -> list[dict[str, Any]]:
    kind = tokens.PRESETS[preset]
    takes = "relevance" in inspect.signature(kind).parameters
    # A constant map is meant here.
    relevance = tokens.UniformRelevance() if name in ("uniform", NO_RELEVANCE) else lambda context: scores
    allocator = kind(relevance=relevance) if takes else kind()
    # What the image alone decides is computed once for all presets of as many levels.
    context = tokens.TokenContext(pyramid(allocator.levels), pair.query, allocator.relevance, allocator.encoder)
    about = {"kind": pair.kind, "adversarial": pair.adversarial, "preset": preset, "relevance": name}
    return [{**about, "budget": budget, "share": _share(allocator, context, budget, pair.box)} for budget in BUDGETS]


def _share(
    allocator: tokens.TokenAllocator[Any], context: tokens.TokenContext, budget: int, box: tuple[int, int, int, int]
) -> float | None:
    try:
        chosen = allocator.realize(allocator.allocate(context, budget))
    except BudgetTooSmall:
        return None
    x0, y0, x1, y1 = box
    return float((chosen.shown_detail()[y0:y1, x0:x1] <= 0).mean())


@cache
def _imagenet() -> tokens.Relevance:
    """The networks, loaded once."""
    return tokens.ImageNetRelevance()
