"""What settings of token methods change: shares, orders, regions, directions, bases; one group for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations
from string import Template
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.methods.multi_fixation import look_at_centre, look_at_gaps, look_at_target
from hra.domains.tokens.methods.regions.region_sources import GridRegions, SlicRegions
from hra.errors import BudgetTooSmall, InfeasibleShares, MissingExtra
from hra_lab.evaluation.token_methods.images import Picture, pictures
from hra_lab.evaluation.token_methods.run import budget_for

_WITH_BASE = 529
_LOOKS = {"centre": look_at_centre, "target": look_at_target, "gaps": look_at_gaps}
# Regions and tokens of each: 273, or nearly.
_PAIRS = ((273, 1), (136, 2), (91, 3), (54, 5), (27, 10), (18, 15))

_PAGE = Template("""# Settings of token methods

Written by one command:

    hra eval settings --out examples/lab/docs

Means over $documents crops of documents and $photos of photos of $side x $side pixels, at the same share of the
patches as 273 is of 4,096 (529 with a base): PSNR in dB of the picture that the tokens give back, and their gain,
which is how much of the squared error they remove, weighted by relevance (`tokens.measure`). The first row of each
group is the default.

$table
""")
"""Placeholders are filled in by `page`."""


@dataclass(frozen=True)
class SettingsSizes:
    """How much of the evaluation to run: crops of each sample and their side in pixels."""

    crops: int = 6
    side: int = 1024


FULL = SettingsSizes()
# Shows that everything runs.
SMALL = SettingsSizes(crops=1, side=320)

Allocators = Mapping[str, tokens.TokenAllocator[Any]]


def groups() -> dict[str, Allocators]:
    """The settings by what is asked of them."""
    return {
        "foveal share of log-polar rings": {
            f"{share:.0%}": tokens.LogPolar(foveal_share=share) for share in (0.3, 0.2, 0.4, 0.6)
        },
        "minimum shares of levels": _level_shares(),
        "regions and tokens of each": _pairs(),
        "segmenter of the semantic atlas": {
            "Ward's linkage of patches": tokens.SemanticAtlas(),
            "SLIC, 600 segments": tokens.SemanticAtlas(SlicRegions()),
            "SLIC, 300 segments": tokens.SemanticAtlas(SlicRegions(segments=300)),
            "a grid": tokens.SemanticAtlas(GridRegions()),
        },
        "segmenter of the semantic tree": {
            "Ward's linkage of patches": tokens.SemanticTree(),
            "SLIC, 600 segments": tokens.SemanticTree(SlicRegions()),
            "a grid": tokens.SemanticTree(GridRegions()),
        },
        "directions of bands": {
            "steerable, four directions": tokens.FrequencyAware(),
            "Laplacian, none": tokens.FrequencyAware(frame=tokens.LaplacianFrame()),
            "steerable, space first": tokens.FrequencyAware(first="space"),
        },
        "order of fixations": {
            ", ".join(order): tokens.MultiFixation(fixations=[_LOOKS[name] for name in order], threshold=1.0)
            for order in permutations(_LOOKS)
        },
        "pooling of the base, with 529 tokens": {
            "smaller image": tokens.GestaltSaccades(),
            "tokens averaged": tokens.GestaltSaccades(gestalt=tokens.CompressedGestalt()),
            "smaller image, 8 x 8": tokens.GestaltSaccades(gestalt=tokens.ResizedGestalt(8, 8)),
            "smaller image, 20 x 20": tokens.GestaltSaccades(gestalt=tokens.ResizedGestalt(20, 20)),
        },
    }


def _level_shares() -> Allocators:
    """Minimums in shares of the budget, level 0 being the finest."""
    shares = ({}, {0: 0.25}, {0: 0.5}, {2: 0.25}, {1: 0.3, 2: 0.3}, {0: 0.25, 1: 0.25, 2: 0.25})
    return {
        ", ".join(f"{share:.0%} of level {level}" for level, share in given.items()) or "none": tokens.PyramidSampling(
            minimum_shares=given or None
        )
        for given in shares
    }


def _pairs() -> Allocators:
    fixed = {
        f"{regions} x {each}": tokens.SemanticAtlas(allocation="fixed", regions=regions, per_region=each)
        for regions, each in _PAIRS
    }
    return {"100, by importance": tokens.SemanticAtlas(), **fixed}


def run(sizes: SettingsSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: mean PSNR and gain of every setting, by kind of picture; what is ``skipped`` and why."""
    shown = [picture for picture in pictures(sizes.crops, sizes.side) if not picture.small or sizes.side < FULL.side]
    kinds = ("documents", "photos")
    counts = {kind: sum(picture.kind == kind for picture in shown) for kind in kinds}
    contexts = [tokens.PyramidSampling().context(picture.image, picture.query) for picture in shown]
    rows, skipped = [], []
    for group, settings in groups().items():
        for name, allocator in settings.items():
            progress(f"{group}: {name}")
            budget = _WITH_BASE if "529" in group else 273
            try:
                found = np.array([_judged(allocator, *one, budget) for one in zip(shown, contexts, strict=True)])
            except (BudgetTooSmall, InfeasibleShares, MissingExtra) as error:
                skipped.append({"group": group, "setting": name, "reason": error.what})
                continue
            means = {kind: found[[picture.kind == kind for picture in shown]].mean(axis=0).tolist() for kind in kinds}
            rows.append({"group": group, "setting": name, **means})
    return {"rows": rows, "skipped": skipped, "counts": counts, "side": sizes.side}


def _judged(
    allocator: tokens.TokenAllocator[Any], picture: Picture, judging: tokens.TokenContext, budget: int
) -> tuple[float, float]:
    """PSNR in dB and gain in percent, at the same share of the patches as ``budget`` is of 4,096."""
    count = budget_for(judging.relevance.size, budget)
    report = tokens.measure(allocator.realize(allocator.allocate((picture.image, picture.query), count)), judging)
    return report.psnr_db, 100 * report.gain


def table(record: dict[str, Any]) -> str:
    """One table for each group."""
    parts = []
    for group in dict.fromkeys(row["group"] for row in record["rows"]):
        lines = [f"| {group} | documents, dB | photos, dB | documents, % | photos, % |", "| --- |" + " ---: |" * 4]
        for row in (row for row in record["rows"] if row["group"] == group):
            signal, gain = zip(row["documents"], row["photos"], strict=True)
            cells = [*(f"{value:.2f}" for value in signal), *(f"{value:.1f}" for value in gain)]
            lines.append(f"| {row['setting']} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def page(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    text = _PAGE.substitute(table=table(record), side=f"{record['side']:,}", **record["counts"])
    return {"settings.md": text.encode()}
