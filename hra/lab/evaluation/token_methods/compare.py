"""All token methods on one image, and their contact sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.presets.registry import method_names
from hra.errors import BudgetTooSmall, HierarchyError, MetricError, MissingExtra
from hra.lab.evaluation.token_methods.judge import Judged, judge, warm_up
from hra.traversals.base import Traversal


@dataclass(frozen=True, eq=False)
class Compared:
    """Methods that ran, in the order of `hra.domains.tokens.PRESETS`, others last, and why the others could not."""

    judged: tuple[Judged, ...]
    skipped: dict[str, str]


def compare(
    image: np.ndarray,
    query: str,
    budget: int,
    names: Sequence[str] = (),
    progress: Callable[[str], None] = lambda name: None,
    traversal: Traversal | None = None,
) -> Compared:
    """Run methods on one image, all measured by `CueRelevance`.

    Parameters
    ----------
    names : as `hra.domains.tokens.preset` knows them; none takes all.
    progress : told the name of each method before it starts.
    traversal : in place of each method's own; those that it does not suit are skipped.

    Raises
    ------
    HraError : a name that no method has.
    """
    allocators = {name: tokens.preset(name) for name in names or method_names()}
    judging, judged, skipped = tokens.GridTopK().context(image, query), [], {}
    for name, allocator in allocators.items():
        progress(name)
        if traversal is not None:
            allocator.traversal = traversal
        try:
            warm_up(allocator, image, query)
            judged.append(judge(name, allocator, judging, budget))
        except (BudgetTooSmall, HierarchyError, MetricError, MissingExtra) as error:
            skipped[name] = error.what
    return Compared(tuple(judged), skipped)


def sheet_of(image: np.ndarray, compared: Compared) -> np.ndarray:
    """Overlay and reconstruction of every method with its numbers, uint8 [H, W, 3]."""
    panels = [
        tokens.Panel((tokens.overlay(image, one.tokens), one.tokens.reconstruct()), _lines(one.row))
        for one in compared.judged
    ]
    return tokens.contact_sheet(panels)


def _lines(row: dict) -> tuple[str, str]:
    gap = row["residual_gap"]
    proof = "no certificate" if gap is None else f"residual gap {gap:.2%}"
    shown = f"shown {row['coverage']['area']:.0%}, mean level {row['coverage']['mean_detail']:.2f}"
    return (
        f"{row['method']}: {row['count']:,} tokens, {row['psnr_db']:.2f} dB, {shown}",
        f"gain {row['gain']:.3f}, {proof}, {row['total_ms']:.0f} ms ({row['select_ms']:.1f} to select)",
    )
