"""The Gibbs distribution over the cuts that meet a budget on average, as a differentiable function."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from hra.solvers.soft.forest import SoftForest
from hra.solvers.soft.price import solve_price
from hra.solvers.soft.sweeps import covariance_product, log_odds, marginals


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
