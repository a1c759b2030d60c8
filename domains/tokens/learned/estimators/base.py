"""What every estimator does: the loss of a task on a cut, with a gradient by the gains that the cut was made by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from torch import Tensor

from hra.solvers.soft.distribution import CutDistribution, budgets_of
from hra.solvers.soft.forest import SoftForest

Task = Callable[[Tensor], Tensor]
"""A selection [..., R] in [0, 1] -> its loss [...]."""


class Estimator(Protocol):
    """The loss of a task, whose gradient by the gains is an estimate of that of its expectation over cuts."""

    def __call__(self, forest: SoftForest, gain: Tensor, budget: float | Tensor, task: Task) -> Tensor:
        """The loss [...] of cuts by ``gain`` [..., R] at a budget.

        Raises
        ------
        ArrayError, InvalidBudget, BudgetTooSmall : see `hra.traversals.soft_cut.SoftCut.distribution`.
        """
        ...


def cuts(forest: SoftForest, gain: Tensor, budget: float | Tensor, temperature: float) -> CutDistribution:
    """The distribution over cuts, its temperature in units of the mean size of the gains (which get no gradient).

    So one temperature serves images of much and of little error.
    """
    mean = gain.detach().abs().mean(-1, keepdim=True).clamp_min(1e-12)
    return CutDistribution.of(forest, gain / mean, budgets_of(budget, forest, gain), temperature)
