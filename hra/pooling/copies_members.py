"""Copies one by one: what each of them is as a problem of its own, and the union of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem, refinement_peak_of
from hra.model.solution import Solution
from hra.model.units import rescale
from hra.pooling.joint import join_problems
from hra.pooling.union import edge_order, union
from hra.solvers.copies.blocks import Shares, shares_of_copy
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.states import cuts_of


@dataclass(frozen=True, eq=False)
class Kind:
    """Copies of one hierarchy that one metric judges.

    Attributes
    ----------
    contexts : one for each of I copies.
    previous : bool [R, I], what the copies' last step took, or None outside of a sequence.
    """

    hierarchy: Hierarchy
    metric: ErrorMetric
    contexts: Sequence[Any]
    previous: np.ndarray | None = None


def problem_of(kind: Kind, gain: np.ndarray, least_error: np.ndarray, i: int) -> Problem:
    """The problem of one copy of a ``kind``, with an infinite budget."""
    metric, context = kind.metric, kind.contexts[i]
    peak = partial(refinement_peak_of, kind.hierarchy, metric, context)
    previous = None if kind.previous is None else np.ascontiguousarray(kind.previous[:, i])
    own, left = np.ascontiguousarray(gain[:, i]), float(least_error[i])
    return Problem(
        kind.hierarchy, own, left, np.inf, metric.unit, metric.additive, peak, previous=previous, metric=metric
    )


def cuts_each(kind: Kind, selected: np.ndarray) -> list[np.ndarray]:
    """Ids of the active nodes of each copy of a ``kind``, ascending."""
    ends, nodes = cuts_of(kind.hierarchy.added_by, kind.hierarchy.removed_by, selected)
    return [nodes[begin:end] for begin, end in pairwise(ends.tolist())]


def lane_shares(copies: Copies, share: Shares) -> list[np.ndarray]:
    """How each copy splits surplus, float64 [E] each, kind by kind."""
    return [shares_of_copy(copies.rows, share, kind, i) for kind, n in enumerate(copies.counts) for i in range(n)]


def join_copies(
    problems: Sequence[Problem],
    taken: Sequence[np.ndarray],
    prices: tuple[float, Sequence[np.ndarray]],
    budget: float,
    seconds: float,
    contexts: tuple[Any, ...],
) -> Allocation:
    """The allocation over the union of some copies.

    Parameters
    ----------
    taken : bool [R], of each; ``prices`` : per unit, and the shares [E] of each that belong to it.
    """
    hierarchies = [problem.hierarchy for problem in problems]
    whole, places = union(hierarchies)
    problem = join_problems(whole, problems, places, budget)
    selected = np.empty(len(whole), np.bool_)
    selected[np.concatenate(places)] = np.concatenate(taken)
    price = rescale(prices[0], hierarchies[0].units.size, whole.units.size)
    share = None if whole.parent is not None else np.concatenate(prices[1])[edge_order(hierarchies, places)]
    return Allocation(problem, Solution(selected, price, share=share), seconds, contexts)
