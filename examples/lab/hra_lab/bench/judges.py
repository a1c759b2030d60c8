"""How far answers are from the best possible; each answer is checked on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra_lab.bench.harness import Gaps


def judge_solutions(problem: Problem, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """Gaps of selections [R] against the upper bound of the library's own `Solution`, which comes first.

    Where the traversal gives none, the bound is that of the relaxation.

    Raises
    ------
    HraError : a selection breaks the partial order or the budget.
    """
    own = next(iter(outputs.values()))
    bound = Allocation(problem, replace(own, selected=own.selected.copy()), seconds=0.0).upper_bound
    return {name: gaps(problem, _select(output), bound) for name, output in outputs.items()}


def judge_batch(problems: Sequence[Problem], outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """The worst gaps over a batch: outputs are sequences of selections, the library's of `Solution`.

    A peer that solved only the first problems is judged by these.
    """
    own = next(iter(outputs.values()))
    bounds = [
        Allocation(p, replace(s, selected=s.selected.copy()), 0.0).upper_bound
        for p, s in zip(problems, own, strict=False)
    ]
    worst = {}
    for name, output in outputs.items():
        worst[name] = Gaps(0.0, 0.0)
        for problem, answer, bound in zip(problems, output, bounds, strict=False):
            worst[name] = worst[name].worst(gaps(problem, _select(answer), bound))
    return worst


def gaps(problem: Problem, selected: np.ndarray, bound: float | None) -> Gaps:
    """Gaps of one selection, in a fresh `Allocation`, which checks it."""
    allocation = Allocation(problem, Solution(selected.copy(), upper_bound=bound), seconds=0.0)
    return Gaps(allocation.gap, allocation.residual_gap)


def relative_excess(value: float, least: float) -> Gaps:
    """For what has one best value rather than a gain: how much larger ``value`` is."""
    excess = (value - least) / least if value > least else 0.0
    return Gaps(excess, excess)


def _select(output: Any) -> np.ndarray:
    return output.selected if isinstance(output, Solution) else output
