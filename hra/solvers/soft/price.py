"""The price of a budget: the multiplier at which the expected cost of the cut is just what may be spent."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from hra.solvers.soft.forest import SoftForest
from hra.solvers.soft.sweeps import EXACT_SOFTPLUS, upwards

# A last Newton step is taken from here, which squares the relative error; then rounding is all that is left.
_CLOSE = 1e-8
# Bisection of all floats between two of them takes about 60 steps, and the growth before it a few dozen.
_STEPS = 200
# A bracket as narrow as that holds no further float.
_COLLAPSED = 4e-16


def solve_price(forest: SoftForest, reward: Tensor, capacity: Tensor) -> Tensor:
    """Smallest price [B], >= 0, at which the expected cost of the cut does not exceed ``capacity`` [B].

    Newton's method on the logarithm of the expected cost, which falls with the price and is close to linear in its
    tails. Every step outside the bracket, or that did not halve the error, is replaced by bisection.
    """
    moments = CostMoments(forest, reward)
    mean, variance = moments.at(torch.zeros_like(capacity))
    slack = mean <= capacity
    price = torch.zeros_like(capacity)
    low, high = price, torch.full_like(price, torch.inf)
    previous = high
    scale = (reward.abs().sum(0) + 1) / forest.cost.sum()
    for _ in range(_STEPS):
        # In an exponential family the mean falls with the price as fast as the variance is large: the slope of
        # log(mean) is -variance / mean, in units of the temperature.
        error = torch.log(mean / capacity)
        newton = price + error * mean / variance
        limit = torch.where(high.isinf(), 8 * price + scale, high)
        inside = (newton > low) & (newton < limit)
        close = slack | (error.abs() <= _CLOSE)
        collapsed = ~close & (high - low <= _COLLAPSED * low)
        fast = inside & (close | (error.abs() <= previous / 2))
        safe = torch.where(high.isinf(), limit, _middle(low, high))
        moved = torch.where(fast, newton, torch.where(collapsed, high, safe))
        price = torch.where(slack | (close & ~inside), price, moved)
        if bool((close | collapsed).all()):
            break
        # After a bisection the next Newton step is free to try.
        previous = torch.where(fast, error.abs(), torch.inf)
        mean, variance = moments.at(price)
        # The mean falls with the price: the price that is sought stays between these.
        low, high = torch.where(mean > capacity, price, low), torch.where(mean <= capacity, price, high)
    return price


def _middle(low: Tensor, high: Tensor) -> Tensor:
    """Geometric where the bracket spans magnitudes, arithmetic where it is narrow or begins at zero."""
    return torch.where((low > 0) & (high > 4 * low), (low * high).sqrt(), (low + high) / 2)


class CostMoments:
    """Mean and variance of the cost at a price: one sweep from fine to coarse, again and again in the same memory.

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
