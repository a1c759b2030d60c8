"""Ways to spend tokens: each makes the picture that so many tokens of an image give back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.errors import BudgetTooSmall, InfeasibleShares
from hra_lab.evaluation.answers.tasks import Task
from hra_lab.evaluation.splits import groups

ORACLE, GUIDED, EVEN = "pyramid, oracle", "pyramid, question", "pyramid, uniform"
GRID, SPREAD, RANDOM, DOWN = "grid, question", "uniform grid", "random", "down-sampling"
STRATA = {f"strata {side} x {side}, question": tokens.Stratified(rows=side, columns=side) for side in (4, 8)}
METHODS = (ORACLE, GUIDED, EVEN, GRID, *STRATA, SPREAD, RANDOM, DOWN)


def contexts(task: Task) -> Iterator[tuple[str, tokens.TokenAllocator[Any], tokens.TokenContext]]:
    """Each method with its allocator and context; the patches of the image and the guide's scores are made once."""
    pyramid, grid = tokens.PyramidSampling(), tokens.GridTopK()
    base = pyramid.context(task.image, task.query)
    guided = replace(base, scorer=task.guide)
    even = replace(base, scorer=tokens.UniformRelevance())
    yield ORACLE, pyramid, replace(base, scorer=tokens.OracleRelevance([task.box]))
    yield GUIDED, pyramid, guided
    yield EVEN, pyramid, even
    yield GRID, grid, guided
    for name, allocator in STRATA.items():
        yield name, allocator, guided
    yield SPREAD, tokens.preset("uniform-grid"), even
    yield RANDOM, tokens.preset("random"), even


def pictures(task: Task, budgets: tuple[int, ...]) -> Iterator[tuple[str, int, np.ndarray]]:
    """Method, tokens and the picture that they give back, float32 [H, W, 3]; one after the other."""
    for method, allocator, context in contexts(task):
        for budget in budgets:
            yield method, budget, allocator.realize(allocator.allocate(context, budget)).reconstruct()
    for budget in budgets:
        yield DOWN, budget, tokens.uniform_downsample(task.image, budget)


def split_pictures(task: Task) -> Iterator[tuple[str, str, np.ndarray]]:
    """Group, setting and picture of what `hra_lab.evaluation.splits` compares, guided by the question."""
    known: dict[int | None, tokens.TokenContext] = {}
    for group, settings in groups(directions=False).items():
        for name, (allocator, budget) in settings.items():
            if allocator.levels not in known:
                known[allocator.levels] = replace(allocator.context(task.image, task.query), scorer=task.guide)
            context = known[allocator.levels]
            if isinstance(allocator, tokens.Downsample):
                context = replace(context, scorer=tokens.UniformRelevance())
            try:
                chosen = allocator.allocate(context, budget)
            except (BudgetTooSmall, InfeasibleShares):
                continue
            yield group, name, allocator.realize(chosen).reconstruct()


Scores = Mapping[str, Mapping[str, Mapping[str, list[float]]]]
"""Measure, method, tokens as text (JSON has no other keys): one score per task."""
