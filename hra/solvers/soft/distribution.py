"""The distribution over the cuts of a forest that `SoftCut` makes: probabilities, samples, and one hard cut.

`round_cuts` goes from probabilities to one cut within the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hra.compiling import njit
from hra.errors import ArrayError, BudgetTooSmall, InvalidBudget
from hra.model.arrays import to_numpy
from hra.model.problem import check_number, exact_number
from hra.solvers.soft.forest import SoftForest
from hra.solvers.soft.gibbs import GibbsCut, descend, log_marginals, log_odds

# A budget that leaves nothing for refinements would need an infinite price; this share of the full cost stands for it.
_NOTHING = 1e-12


@njit(cache=True)
def round_cuts(parent, cost, gain, order, first, capacity):
    """Take what ``first`` asks for, then whatever else leads to a gain, each in falling probability while it fits.

    Parameters
    ----------
    parent : int [R], -1 for roots, ``parent[r] < r``; cost : float64 [R], >= 0; gain : float64 [B, R].
    order : int [B, R], refinements in falling probability, predecessors first; first : bool [B, R], down-closed.
    capacity : float64 [B], >= 0.

    Returns
    -------
    selected : bool [B, R], down-closed and within the capacity. Nothing that leads to a gain could be added.
    """
    selected = np.zeros(gain.shape, np.bool_)
    for b in range(gain.shape[0]):
        left = _take(parent, cost, order[b], first[b], capacity[b], selected[b])
        _take(parent, cost, order[b], _leads_to_gain(parent, gain[b]), left, selected[b])
    return selected


@njit(cache=True)
def _take(parent, cost, order, wanted, left, selected):
    # One pass is enough: a predecessor comes first, and what did not fit once never will.
    for r in order:
        ready = parent[r] < 0 or selected[parent[r]]
        if wanted[r] and ready and not selected[r] and cost[r] <= left:
            selected[r] = True
            left -= cost[r]
    return left


@njit(cache=True)
def _leads_to_gain(parent, gain):
    """Whether a refinement or one that needs it gains anything."""
    useful = gain > 0.0
    # Backwards, everything beneath r has reported before r does.
    for r in range(parent.size - 1, 0, -1):
        if useful[r] and parent[r] >= 0:
            useful[parent[r]] = True
    return useful


@dataclass(frozen=True, eq=False)
class CutDistribution:
    """Gibbs distribution over all valid cuts; a leading shape ``...`` is that of the gains.

    Attributes
    ----------
    forest : the refinements.
    gain : [..., R], as given.
    budget : float64 [...], as given; capacity : float64 [...], what may be spent on refinements.
    temperature : in the unit of the gains.
    probabilities : [..., R], dtype of the gains: how likely each refinement is taken. Differentiable.
    price : float64 [...], gain per cost unit, >= 0. Differentiable.
    log_partition : float64 [...], log of the sum of exp((gain(S) - price * cost(S)) / temperature) over all valid sets
        S. Differentiable. ``temperature * log_partition + price * capacity`` is a smooth upper bound on the best gain;
        its gradient by the gains are the probabilities, so less the gain of a desired cut it is a convex loss.
    """

    forest: SoftForest
    gain: Tensor
    budget: Tensor
    capacity: Tensor
    temperature: float
    probabilities: Tensor
    price: Tensor
    log_partition: Tensor

    @classmethod
    def of(cls, forest: SoftForest, gain: Tensor, budget: Tensor, temperature: float) -> CutDistribution:
        """The distribution whose expected cost is ``budget`` [...], or less where not all of it is wanted.

        Raises
        ------
        ArrayError : the gains are not finite floating-point numbers, one per refinement, or the temperature is not one
            above 0.
        """
        _check_gain(gain, len(forest))
        if not 0 < temperature < math.inf:
            what = f"the temperature must be a finite number > 0, got {temperature!r}"
            raise ArrayError(what, where="temperature", fix="start with a tenth of a typical gain")
        batch, capacity = gain.shape[:-1], budget - forest.base_cost
        reward = forest.columns(gain.reshape(batch.numel(), len(forest)).double() / temperature)
        least = _NOTHING * float(forest.cost.sum())
        probability, price, log_partition = GibbsCut.apply(reward, capacity.reshape(-1).clamp_min(least), forest)
        return cls(
            forest=forest,
            gain=gain,
            budget=budget,
            capacity=capacity,
            temperature=temperature,
            probabilities=forest.rows(probability).reshape(gain.shape).to(gain.dtype),
            price=(price * temperature).reshape(batch),
            log_partition=log_partition.reshape(batch),
        )

    @torch.no_grad()
    def sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Independent cuts, bool [count, ..., R]: always valid, within the budget only on average.

        Exact, from coarse to fine: a refinement is drawn once its predecessor was taken.
        """
        # Given its predecessor a refinement does not depend on anything else above or beside it (a Markov random field
        # on a tree), so that all can be drawn at once and what lacks a predecessor is dropped.
        taken = torch.sigmoid(self._log_odds())[:, None]
        shape = (len(self.forest), count, taken.shape[-1])
        drawn = torch.rand(shape, generator=generator, dtype=taken.dtype, device=taken.device) < taken
        selected = descend(self.forest, drawn, Tensor.logical_and_)
        return self.forest.rows(selected).reshape(count, *self.gain.shape)

    @torch.no_grad()
    def hard(self, first: Tensor | None = None) -> Tensor:
        """One valid cut that fits the budget, bool [..., R].

        Takes ``first``, then what leads to a gain, each in falling probability while it fits. Computed on the host.

        Parameters
        ----------
        first : bool [..., R], a valid cut to stay close to, such as a sample; by default what is more likely than not.
        """
        log_probability = log_marginals(self.forest, self._log_odds())
        first = self.probabilities > 0.5 if first is None else first
        selected = round_cuts(
            self.forest.parent,
            self.forest.unit_cost,
            to_numpy(self._columns(self.gain.double()).T),
            to_numpy(log_probability.T.sort(dim=-1, descending=True, stable=True).indices),
            to_numpy(self._columns(first).T),
            np.array([self.forest.room(budget) for budget in self.budget.reshape(-1).tolist()], np.float64),
        )
        columns = torch.from_numpy(selected).to(self.gain.device).T
        return self.forest.rows(columns).reshape(self.gain.shape)

    def straight_through(self, selected: Tensor | None = None) -> Tensor:
        """A hard cut [..., R] of zeros and ones with the gradient of the probabilities (Bengio et al. 2013).

        Parameters
        ----------
        selected : bool [..., R], any valid cut, such as one by `Hull`; by default `hard`.
        """
        selected = self.hard() if selected is None else selected
        return selected.to(self.gain.dtype) + (self.probabilities - self.probabilities.detach())

    def _columns(self, values: Tensor) -> Tensor:
        return self.forest.columns(values.reshape(self.gain.shape[:-1].numel(), len(self.forest)))

    def _log_odds(self) -> Tensor:
        price = self.price.detach().reshape(-1)
        reward = self._columns(self.gain.detach().double()) - price * self.forest.cost
        return log_odds(self.forest, reward / self.temperature)[0]


def budgets_of(budget: float | Tensor, forest: SoftForest, gain: Tensor) -> Tensor:
    """``budget`` as float64 with the leading shape of ``gain`` [..., R], checked.

    Raises
    ------
    InvalidBudget : not a number >= 0 each. BudgetTooSmall : one does not cover the base.
    ArrayError : the shape does not match the gains.
    """
    if not isinstance(budget, torch.Tensor) and np.ndim(budget) == 0:
        budget = check_number(budget)
    budget = torch.as_tensor(budget, dtype=torch.float64, device=gain.device)
    try:
        budget = budget.expand(gain.shape[:-1])
    except RuntimeError as error:
        expected = tuple(gain.shape[:-1])
        raise ArrayError(f"budgets of shape {tuple(budget.shape)}, expected {expected}", where="budget") from error
    if not bool((budget >= 0).all()):
        raise InvalidBudget("a budget is negative or not a number", where="budget", fix="pass numbers >= 0")
    if bool((budget < forest.base_cost).any()):
        least = exact_number(forest.base_cost)
        raise BudgetTooSmall(f"the coarsest level costs {least}", where="budget", fix=f"use at least {least}")
    return budget


def _check_gain(gain: Tensor, size: int) -> None:
    if not gain.is_floating_point() or gain.ndim < 1 or gain.shape[-1] != size:
        what = f"gains are {gain.dtype} of shape {tuple(gain.shape)}, expected floating point [..., {size}]"
        raise ArrayError(what, where="gain", fix="pass one gain per refinement")
    if not bool(gain.isfinite().all()):
        raise ArrayError("gains must be finite", where="gain", fix="clamp or mask them before the cut")
