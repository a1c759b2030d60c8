"""Mean and variance of the cost of a Gibbs cut as functions of the price."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from hra.solvers.soft.forest import SoftForest
from hra.solvers.soft.sweeps import EXACT_SOFTPLUS, upwards


class CostMoments:
    """Evaluates both moments in one sweep from fine to coarse, again and again in the same memory.

    The laws of total expectation and total variance turn the moments given that a refinement is taken into those given
    that its predecessor is. The variance is also how fast the mean falls with the price.

    Parameters
    ----------
    reward : float64 [R, B], gains in units of the temperature.
    """

    def __init__(self, forest: SoftForest, reward: Tensor) -> None:
        self._forest = forest
        self._reward = reward
        # Fresh memory for every intermediate result would cost several times the arithmetic.
        self._odds, self._mean, self._variance, self._scratch = (torch.empty_like(reward) for _ in range(4))

    def at(self, price: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of the cost, each [B], at ``price`` [B] in units of the temperature."""
        forest, odds, mean, variance = self._forest, self._odds, self._mean, self._variance
        torch.addcmul(self._reward, forest.cost, price, value=-1, out=odds)
        # Given that it is taken, a refinement costs itself and what is taken after it.
        mean.copy_(forest.cost.expand_as(mean))
        variance.zero_()
        for above, fine, parent in upwards(forest):
            value = self._scratch[fine]
            softplus(odds[fine], threshold=EXACT_SOFTPLUS, out=value)  # pyright: ignore[reportCallIssue]: not in the stub
            odds[above].index_add_(0, parent, value)
            self._average(fine)
            mean[above].index_add_(0, parent, mean[fine])
            variance[above].index_add_(0, parent, variance[fine])
        self._average(forest.roots)
        return mean[forest.roots].sum(0), variance[forest.roots].sum(0)

    def _average(self, level: slice) -> None:
        """From the moments given that the refinements of a level are taken to those given their predecessors."""
        taken = self._odds[level].sigmoid_()
        mean, variance, given = self._mean[level], self._variance[level], self._scratch[level].copy_(self._mean[level])
        # With t = taken and the mean m given it: t v + t (1 - t) m**2, the second term as (t m) (m - t m).
        mean.mul_(taken)
        variance.mul_(taken).addcmul_(mean, given.sub_(mean))
