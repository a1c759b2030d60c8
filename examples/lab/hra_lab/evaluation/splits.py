"""What strata, splits of levels, fewer log-polar tokens, budgets and shares of directions change, in pixels.

Each group is told beside its first row, by the paired bootstrap over pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.errors import BudgetTooSmall, InfeasibleShares
from hra_lab.bootstrap import difference
from hra_lab.evaluation.settings import SettingsSizes
from hra_lab.evaluation.token_methods.images import Picture, pictures
from hra_lab.evaluation.token_methods.run import budget_for
from hra_lab.templates import template

FULL = SettingsSizes()
# Shows that everything runs.
SMALL = SettingsSizes(crops=1, side=160)
_EVEN = tokens.UniformRelevance()
Setting = tuple[tokens.TokenAllocator[Any], int]
"""A method and its tokens of 4,096."""
KINDS = ("documents", "photos")
BUDGETS = (64, 150, 273, 400, 576)
_PAGE = template(__package__, "splits.page.txt")


def groups(directions: bool = True) -> dict[str, Mapping[str, Setting]]:
    """The settings by what is asked of them, with shares of directions; the first of each is what others are beside."""
    directed: Mapping[str, Setting] = {
        "105, 26, 26, 27 and 40 without direction": (_directed(224 / 273), 224),
        "as asked, 128, 32, 32, 32 and none": (_directed(1.0), 224),
        "64, 16, 16, 16 and 112": (_directed(0.5), 224),
        "none has direction": (_directed(0.0), 224),
    }
    return {
        "strata, 273 tokens": {
            "4 x 4": (tokens.Stratified(), 273),
            "none (T1 grid top-K)": (tokens.GridTopK(), 273),
            "8 x 8": (tokens.Stratified(rows=8, columns=8), 273),
            "16 x 16": (tokens.Stratified(rows=16, columns=16), 273),
            "adaptive": (tokens.AdaptiveStratified(), 273),
        },
        "levels of independent patches, 273 tokens": {
            "the best of all levels": (tokens.PyramidTopK(), 273),
            "64, 128, 64, 17 from fine to coarse": (tokens.PyramidTopK(level_split=(64, 128, 64, 17)), 273),
            "64, 64, 81, 64": (tokens.PyramidTopK(level_split=(64, 64, 81, 64)), 273),
            "17, 64, 128, 64": (tokens.PyramidTopK(level_split=(17, 64, 128, 64)), 273),
        },
        "least share of the coarsest of four levels, 273 tokens": {
            "none": (tokens.PyramidSampling(levels=4), 273),
            "10 %": (tokens.PyramidSampling(levels=4, minimum_shares={3: 0.1}), 273),
            "20 %": (tokens.PyramidSampling(levels=4, minimum_shares={3: 0.2}), 273),
        },
        "150 log-polar tokens for 273 of the grid": {
            "T1 grid top-K, 273": (tokens.GridTopK(), 273),
            "log-polar, 150": (tokens.LogPolar(), 150),
            "log-polar, 273": (tokens.LogPolar(), 273),
            "down-sampling, 150": (tokens.Downsample(_EVEN), 150),
        },
        **({"shares of directions, 224 tokens": directed} if directions else {}),
        **{f"{budget} tokens": _by_budget(budget) for budget in BUDGETS},
    }


def _directed(oriented: float) -> tokens.TokenAllocator[Any]:
    made = tokens.FrequencyAware()
    made.builder = replace(made.builder, oriented=oriented)  # pyright: ignore[reportArgumentType]
    return made


def _by_budget(budget: int) -> Mapping[str, Setting]:
    methods = {
        "down-sampling": tokens.Downsample(_EVEN), "T2 pyramid": tokens.PyramidSampling(),
        "T2.5 foveated pyramid": tokens.FoveatedPyramid(), "T6 log-polar": tokens.LogPolar(),
        "T9 stratified": tokens.Stratified(), "T1 grid top-K": tokens.GridTopK(),
    }  # fmt: skip
    return {name: (allocator, budget) for name, allocator in methods.items()}


def run(sizes: SettingsSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: PSNR of each picture, by group, setting and kind; what is ``skipped`` and why."""
    settings = [(group, name, *setting) for group, of in groups().items() for name, setting in of.items()]
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    skipped: dict[tuple[str, str], str] = {}
    for picture in pictures(sizes.crops, sizes.side):
        if picture.small and sizes.side >= FULL.side:
            continue
        progress(picture.source)
        base = tokens.PyramidSampling().context(picture.image, picture.query)
        for group, name, allocator, budget in settings:
            try:
                signal = _signal(allocator, base, picture, budget)
            except (BudgetTooSmall, InfeasibleShares) as error:
                skipped[group, name] = error.what
                continue
            found.setdefault((group, name), {kind: [] for kind in KINDS})[picture.kind].append(signal)
    rows = [{"group": g, "setting": n, **found[g, n]} for g, n, *_ in settings if (g, n) not in skipped]
    told = [{"group": group, "setting": name, "reason": why} for (group, name), why in skipped.items()]
    counts = {kind: len(rows[0][kind]) for kind in KINDS}
    return {"rows": rows, "skipped": told, "counts": counts, "side": sizes.side}


def _signal(allocator: tokens.TokenAllocator[Any], base: tokens.TokenContext, picture: Picture, budget: int) -> float:
    """PSNR in dB of what the tokens give back, at the same share of the patches as ``budget`` is of 4,096."""
    count, context = budget_for(base.relevance.size, budget), base
    if allocator.levels is not None and allocator.levels != 1:
        context = allocator.context(picture.image, picture.query)
    elif allocator.relevance != base.scorer:
        context = replace(base, scorer=allocator.relevance)
    shown = allocator.realize(allocator.allocate(context, count)).reconstruct()
    return float(-10 * np.log10(max(np.mean((shown - base.pyramid.image) ** 2), 1e-10)))


def table(record: dict[str, Any]) -> str:
    """One table for each group: dB, and how much more than the first row."""
    parts = []
    for group in dict.fromkeys(row["group"] for row in record["rows"]):
        rows = [row for row in record["rows"] if row["group"] == group]
        lines = [f"| {group} | documents, dB | more | photos, dB | more |", "| --- |" + " ---: |" * 4]
        for row in rows:
            cells = [cell for kind in KINDS for cell in _beside(row[kind], None if row is rows[0] else rows[0][kind])]
            lines.append(f"| {row['setting']} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _beside(values: list[float], first: list[float] | None) -> tuple[str, str]:
    if not values:
        return "-", "-"
    if first is None:
        return f"{np.mean(values):.2f}", ""
    more = difference(values, first)
    return f"{np.mean(values):.2f}", f"{more.value:+.2f} ({more.low:+.2f} to {more.high:+.2f})"


def page(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    gone = "\n".join(f"Skipped: {one['group']}, {one['setting']} ({one['reason']})." for one in record["skipped"])
    text = _PAGE.substitute(table=table(record), skipped=gone, side=f"{record['side']:,}", **record["counts"])
    return {"splits.md": (text.rstrip() + "\n").encode()}
