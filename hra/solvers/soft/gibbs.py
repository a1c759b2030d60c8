"""The Gibbs distribution over the cuts that meet a budget on average, as a differentiable function.

The price of a budget is the multiplier at which the expected cost of the cut is just what may be spent. Sweeps over the
levels give the distribution in closed form.

Every down-closed set S has probability proportional to ``exp(sum of reward over S)``. Rewards [R, B] are in units of
the temperature, one column per member of the batch: that way the refinements of a level are contiguous, and every sweep
is a few whole-level operations. The recursions are the sum-product algorithm on a tree (Pearl 1988).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import logsigmoid, softplus

from hra.solvers.soft.forest import SoftForest

# A last Newton step is taken from here, which squares the relative error; then rounding is all that is left.
_CLOSE = 1e-8
# Bisection of all floats between two of them takes about 60 steps, and the growth before it a few dozen.
_STEPS = 200
# A bracket as narrow as that holds no further float.
_COLLAPSED = 4e-16
# Beyond its threshold torch's softplus returns the value itself; at the default of 20 the ninth digit is wrong.
EXACT_SOFTPLUS = 40.0


def log_odds(forest: SoftForest, reward: Tensor) -> tuple[Tensor, Tensor]:
    """Log-odds [R, B] of taking each refinement once its predecessor is taken, and the log-partition [B]."""
    odds = reward.clone()
    for above, fine, parent in upwards(forest):
        # A subtree is left, which weighs 1, or taken, which weighs exp(odds): the logarithm of the sum is softplus,
        # and independent subtrees multiply.
        odds[above].index_add_(0, parent, softplus(odds[fine], threshold=EXACT_SOFTPLUS))
    return odds, softplus(odds[forest.roots], threshold=EXACT_SOFTPLUS).sum(0)


def marginals(forest: SoftForest, odds: Tensor) -> Tensor:
    """Probability [R, B] that each refinement is taken."""
    return descend(forest, torch.sigmoid(odds), Tensor.mul_)


def log_marginals(forest: SoftForest, odds: Tensor) -> Tensor:
    """Logarithm of `marginals`, which also ranks what is too improbable for a float."""
    return descend(forest, logsigmoid(odds), Tensor.add_)


def covariance_product(forest: SoftForest, odds: Tensor, probability: Tensor, direction: Tensor) -> Tensor:
    """Covariance of the selection [R, R], times ``direction`` [R, B]: how marginals change with rewards."""
    taken, left = torch.sigmoid(odds), torch.sigmoid(-odds)
    change = direction.clone()
    for above, fine, parent in upwards(forest):
        # Upwards: what the direction comes to beneath a refinement on average, given that it is taken. That is how its
        # log-odds change.
        change[above].index_add_(0, parent, taken[fine].mul_(change[fine]))
    # Downwards: a log-probability is the sum of log sigmoid(odds) along the path, of slope sigmoid(-odds) each.
    return descend(forest, change.mul_(left), Tensor.add_).mul_(probability)


def descend(forest: SoftForest, values: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combine every value [R, ...] with that of its predecessor, from coarse to fine, in place."""
    for above, fine, parent in zip(forest.levels, forest.levels[1:], forest.parents, strict=False):
        combine(values[fine], values[above].index_select(0, parent))
    return values


def upwards(forest: SoftForest) -> Iterator[tuple[slice, slice, Tensor]]:
    """Pairs of levels from fine to coarse: the level above, the finer one, and the positions of its parents above."""
    return zip(reversed(forest.levels[:-1]), reversed(forest.levels[1:]), reversed(forest.parents), strict=True)


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


class GibbsCut(torch.autograd.Function):
    """Marginals [R, B], price [B] and log-partition [B] from rewards [R, B] and capacities [B], in float64.

    With C the covariance of the selection, c the costs and y the gradient at a fixed price, the condition that the
    expected cost equals the capacity moves the price by ``C c / (c' C c)`` per reward and ``-1 / (c' C c)`` per unit of
    capacity (implicit function theorem). C is applied by two sweeps and never formed.
    """

    @staticmethod
    def forward(ctx: Any, reward: Tensor, capacity: Tensor, forest: SoftForest) -> tuple[Tensor, Tensor, Tensor]:
        """Solve for the price, then sweep once at it."""
        price = solve_price(forest, reward, capacity)
        odds, log_partition = log_odds(forest, reward - price * forest.cost)
        probability = marginals(forest, odds)
        ctx.forest = forest
        ctx.save_for_backward(odds, probability, price)
        ctx.set_materialize_grads(False)
        return probability, price, log_partition

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *gradients: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, None]:
        """Gradients of the rewards and of the capacities."""
        (odds, probability, price), forest = ctx.saved_tensors, ctx.forest
        by_probability, by_price, by_log_partition = gradients
        reward = torch.zeros_like(probability)
        if by_probability is not None:
            reward += covariance_product(forest, odds, probability, by_probability)
        # The gradient of a log-partition are the expectations.
        if by_log_partition is not None:
            reward += by_log_partition * probability
        pull = -(forest.cost * reward).sum(0)
        if by_price is not None:
            pull = pull + by_price
        by_cost = covariance_product(forest, odds, probability, forest.cost.expand_as(odds))
        variance = (forest.cost * by_cost).sum(0)
        # Where the budget is slack or the cut is settled, the price does not move.
        pull = torch.where((price > 0) & (variance > 0), pull / variance, 0.0)
        return reward.addcmul_(pull, by_cost), -pull, None
