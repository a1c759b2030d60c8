"""How far every rule's answer to one problem is from the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hra.allocating.allocation import Allocation
from hra.model.precise import ceiling, precise_difference, precise_total, up
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.duals import shortfall_of
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class Loss:
    """Shares of what is possible, 0 at best.

    Attributes
    ----------
    gain_lost : (bound - gain) / bound.
    residual_excess : (residual - least residual) / least residual; infinite if only the latter is 0.
    unspent : share of the budget that was not spent.
    """

    gain_lost: float
    residual_excess: float
    unspent: float


@dataclass(frozen=True)
class Judged:
    """Losses of all rules on one problem.

    Attributes
    ----------
    losses : by rule.
    proven : whether some rule reached the bound, so that losses are exact and not only upper limits.
    """

    losses: dict[str, Loss]
    proven: bool


def judge(problem: Problem, rules: Mapping[str, Traversal]) -> Judged:
    """Solve ``problem`` by every rule and compare with the least bound that any of them proves.

    Raises
    ------
    HraError : an answer breaks the partial order or the budget.
    """
    solutions = {name: rule.solve(problem) for name, rule in rules.items()}
    best = min(solutions.values(), key=lambda solution: _bound(problem, solution))
    short = shortfall_of(problem, best)
    judged = {name: _bounded(problem, s, best, short) for name, s in solutions.items()}
    answers = {name: Allocation(problem, s, 0.0) for name, s in judged.items()}
    losses = {name: Loss(a.gap, a.residual_gap, 1 - a.utilisation) for name, a in answers.items()}
    return Judged(losses, any(a.status == "optimal" for a in answers.values()))


def _bound(problem: Problem, solution: Solution) -> float:
    """What the rule itself proves that no choice gains more than."""
    return ceiling((*precise_total(problem.gain, solution.selected), shortfall_of(problem, solution)))


def _bounded(problem: Problem, solution: Solution, best: Solution, shortfall: float) -> Solution:
    """``solution`` with what the ``best`` proven one and its shortfall say of it."""
    more = precise_difference(problem.gain, best.selected, solution.selected)
    return replace(solution, shortfall=max(up(more) + shortfall, 0.0) if more else shortfall, upper_bound=None)
