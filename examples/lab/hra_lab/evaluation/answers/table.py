"""Scores as tables: means with intervals, differences from down-sampling, tokens for equal scores.

Tokens that a method needs for the score that another one reaches with so many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from hra_lab.bootstrap import Interval, around, difference, mean_of, resampled
from hra_lab.evaluation.answers.methods import DOWN
from hra_lab.evaluation.answers.run import FULL

Curve = Mapping[str, Sequence[float]]
Groups = Sequence[Hashable] | None


def tokens_for(budgets: Sequence[int], scores: Sequence[float], level: float) -> float:
    """The least number of tokens at which the line through the scores, over the logarithm of tokens, is at a level.

    Parameters
    ----------
    budgets : rising. scores : of each.

    Returns
    -------
    The first budget where already that is enough (fewer were not tried), infinity where none is.

    Examples
    --------
    >>> tokens_for([16, 64, 256], [0.0, 0.5, 1.0], 0.75), tokens_for([16, 64], [0.1, 0.2], 0.3)
    (128.0, inf)
    """
    enough = np.flatnonzero(np.asarray(scores) >= level)
    if not enough.size:
        return float("inf")
    after = int(enough[0])
    if after == 0:
        return float(budgets[0])
    share = (level - scores[after - 1]) / (scores[after] - scores[after - 1])
    return round(budgets[after - 1] * (budgets[after] / budgets[after - 1]) ** float(share), 6)


def needed(curve: Curve, reference: Curve, budget: str, groups: Groups = None) -> Interval:
    """Tokens for the score of ``reference`` at ``budget``, with the interval over resampled tasks.

    Parameters
    ----------
    curve, reference : from tokens to the scores of the same tasks.
    groups : see `hra_lab.bootstrap.resampled`.
    """
    budgets = [int(name) for name in curve]
    scores = np.array([curve[name] for name in curve], float)
    wanted = np.asarray(reference[budget], float)
    means = resampled(np.vstack((scores, wanted)), groups=groups)
    curves, levels = means[:, :-1], means[:, -1]
    found = [tokens_for(budgets, row, level) for row, level in zip(curves, levels, strict=True)]
    return around(tokens_for(budgets, scores.mean(axis=1).tolist(), float(wanted.mean())), np.array(found))


Curves = dict[str, Curve]
"""Method and tokens to the scores of all tasks, of one measure."""


def ceiling(curves: Curves) -> Interval:
    """The mean score of the images themselves."""
    return mean_of(curves[FULL]["0"])


def means_table(curves: Curves, groups: Groups = None) -> str:
    """Mean score and interval, percent, one line per method; tasks of a group, such as an image, are drawn together."""
    return _table(curves, lambda method, budget: _percent(mean_of(curves[method][budget], groups)))


def differences_table(curves: Curves) -> str:
    """Mean score less that of down-sampling with as many tokens, points of percent."""
    down = curves[DOWN]
    return _table(curves, lambda method, budget: _points(difference(curves[method][budget], down[budget])), {DOWN})


def failed_table(curves: Curves) -> str:
    """Mean score where down-sampling with as many tokens scores below a half, percent."""
    failed = {budget: np.asarray(scores) < 0.5 for budget, scores in curves[DOWN].items()}

    def cell(method: str, budget: str) -> str:
        chosen = np.asarray(curves[method][budget])[failed[budget]]
        return f"{chosen.mean():.0%}" if chosen.size else "-"

    counts = " | ".join(str(int(lost.sum())) for lost in failed.values())
    return f"{_table(curves, cell, {DOWN})}\n| tasks | {counts} |"


def needed_table(curves: Curves, groups: Groups = None) -> str:
    """Tokens for the score that down-sampling reaches with so many, one line per method; ``groups`` as of means."""
    first = next(iter(curves[DOWN]))

    def cell(method: str, budget: str) -> str:
        found = needed(curves[method], curves[DOWN], budget, groups)
        return f"{_tokens(found.value, first)} ({_tokens(found.low, first)} to {_tokens(found.high, first)})"

    return _table(curves, cell, {DOWN})


def splits_tables(splits: Mapping[str, Curve]) -> str:
    """One table for each group: mean score, and points of percent more than its first row."""
    parts = []
    for group, rows in splits.items():
        first = next(iter(rows.values()))
        cells = [
            f"| {name} | {_percent(mean_of(found))} | {'' if found is first else _points(difference(found, first))} |"
            for name, found in rows.items()
        ]
        parts.append("\n".join([f"| {group} | read | more |", "| --- | ---: | ---: |", *cells]))
    return "\n\n".join(parts)


def _table(curves: Curves, cell: Callable[[str, str], str], without: Any = frozenset()) -> str:
    methods = [method for method in curves if method != FULL and method not in without]
    budgets = list(curves[methods[0]])
    lines = ["| chosen by | " + " | ".join(f"{budget} tokens" for budget in budgets) + " |"]
    lines.append("| --- |" + " ---: |" * len(budgets))
    return "\n".join(
        lines + [f"| {name} | " + " | ".join(cell(name, one) for one in budgets) + " |" for name in methods]
    )


def _percent(found: Interval) -> str:
    return f"{found.value:.0%} ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _points(found: Interval) -> str:
    return f"{100 * found.value:+.0f} ({100 * found.low:+.0f} to {100 * found.high:+.0f})"


def _tokens(count: float, first: str) -> str:
    """A number of tokens, where fewer than the first were not tried, and infinity is more than were tried."""
    if np.isinf(count):
        return "more"
    return f"<= {first}" if count <= int(first) else f"{count:.0f}"
