"""Tokens that a method needs for the score that another one reaches with so many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hra_lab.bootstrap import Interval, around, resampled

Curve = Mapping[str, Sequence[float]]


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


def needed(curve: Curve, reference: Curve, budget: str) -> Interval:
    """Tokens for the score of ``reference`` at ``budget``, with the interval over resampled tasks.

    Parameters
    ----------
    curve, reference : from tokens to the scores of the same tasks.
    """
    budgets = [int(name) for name in curve]
    scores = np.array([curve[name] for name in curve], float)
    wanted = np.asarray(reference[budget], float)
    means = resampled(np.vstack((scores, wanted)))
    curves, levels = means[:, :-1], means[:, -1]
    found = [tokens_for(budgets, row, level) for row, level in zip(curves, levels, strict=True)]
    return around(tokens_for(budgets, scores.mean(axis=1).tolist(), float(wanted.mean())), np.array(found))
