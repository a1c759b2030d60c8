"""SoftCut: a differentiable selection for training, and the hard one that belongs to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from hra.errors import HraError, MissingExtra, check_kind
from hra.model.arrays import is_number
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.sets import total
from hra.model.solution import Solution
from hra.solvers.fill import complete
from hra.traversals.base import Traversal

if TYPE_CHECKING:
    from torch import Tensor

    from hra.solvers.soft.distribution import CutDistribution
    from hra.solvers.soft.forest import SoftForest


@dataclass(frozen=True)
class SoftCut(Traversal):
    """Choose each valid cut S with probability proportional to exp((gain(S) - lambda * cost(S)) / temperature).

    Lambda is solved for, so that the expected cost equals what the budget leaves for refinements. It is never negative:
    where even a free choice costs less on average, lambda is 0 and the expected cost stays below the budget. All
    probabilities are exact, and differentiable by the gains and by the budget. As the temperature falls they approach
    the hull point of `Hull`; as it rises every valid cut of a given cost becomes equally likely.

    Forests only. Needs torch (``pip install 'hra[torch]'``), and computes in float64 on the device of the gains. A
    sweep takes a few operations per level: chains of many thousand refinements are slow.

    Parameters
    ----------
    temperature : > 0, in the unit of the gains.

    Examples
    --------
    >>> import torch, hra
    >>> from hra.traversals.soft_cut import SoftCut
    >>> pixels = hra.Hierarchy.flat([1.0, 1.0, 1.0])
    >>> score = torch.tensor([3.0, 1.0, 1.0], requires_grad=True)
    >>> probabilities = SoftCut(temperature=0.5).probabilities(pixels, score, budget=2)
    >>> [round(p, 3) for p in probabilities.tolist()]
    [0.983, 0.509, 0.509]
    """

    temperature: float

    def __post_init__(self) -> None:
        if not is_number(self.temperature) or not 0 < self.temperature < math.inf:
            what = f"the temperature must be a finite number > 0, got {self.temperature!r}"
            raise HraError(what, where="SoftCut", fix="start with a tenth of a typical gain")

    def distribution(self, hierarchy: Hierarchy | SoftForest, gain: Tensor, budget: float | Tensor) -> CutDistribution:
        """The distribution over all cuts: probabilities, price, log-partition, samples and a hard cut.

        Parameters
        ----------
        hierarchy : a forest; a `SoftForest` on the device of the gains saves its transfer in every step.
        gain : floating point [..., R], of any sign; leading dimensions are a batch.
        budget : as in `allocate`, a number or [...]; it covers the base.

        Raises
        ------
        MissingExtra : torch is not installed.
        HraError : something else in the place of the hierarchy or of the gains.
        HierarchyError : the hierarchy is a DAG.
        ArrayError : gains of a wrong shape, or not finite.
        InvalidBudget, BudgetTooSmall : as in `allocate`.
        """
        soft_cut = _soft_cut()
        import torch

        kinds = (("hierarchy", hierarchy, (Hierarchy, soft_cut.SoftForest)), ("gain", gain, torch.Tensor))
        for name, value, wanted in kinds:
            check_kind(name, value, wanted, "call distribution(hierarchy, gain, budget), gain a torch tensor")
        forest = soft_cut.SoftForest.of(hierarchy, gain.device) if isinstance(hierarchy, Hierarchy) else hierarchy
        budgets = soft_cut.budgets_of(budget, forest, gain)
        return soft_cut.CutDistribution.of(forest, gain, budgets, self.temperature)

    def probabilities(self, hierarchy: Hierarchy | SoftForest, gain: Tensor, budget: float | Tensor) -> Tensor:
        """How likely each refinement is taken, [..., R]; arguments and errors as of `distribution`."""
        return self.distribution(hierarchy, gain, budget).probabilities

    def select(self, problem: Problem) -> Solution:
        """The better of two cuts that begin with what is more likely than not, as far as it fits.

        One goes on in falling probability, the other best-first by gain per cost.
        """
        soft_cut = _soft_cut()
        import torch

        forest = soft_cut.SoftForest.of(problem.hierarchy, cost=problem.cost)
        gain, capacity = (torch.tensor(part, dtype=torch.float64) for part in (problem.gain, problem.capacity))
        distribution = soft_cut.CutDistribution.of(forest, gain, capacity, self.temperature)
        probable = distribution.hard().numpy()
        likely = probable & (distribution.probabilities > 0.5).numpy()
        dense = complete(problem, likely, problem.ratio, spend_all=False)
        best = max(probable, dense, key=lambda selected: total(problem.gain, selected))
        return Solution(best, float(distribution.price))


def _soft_cut() -> ModuleType:
    try:
        from hra.solvers.soft import distribution
    except ModuleNotFoundError as error:
        raise MissingExtra.of("torch", "torch") from error
    return distribution
