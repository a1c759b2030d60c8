"""Gradients through the choice of a cut: exact expectation, straight-through, Gumbel noise, REINFORCE.

Each takes a forest, gains, a budget and a task, and returns the task's loss with a gradient by the gains that the cut
was made by; temperatures are in mean gains.

- `Expected`: the task on the probabilities themselves.
- `StraightThrough`: a hard cut forward, the gradient of the probabilities backward.
- `GumbelCut`: straight-through on gains with Gumbel noise, so that training sees more than the likeliest cut.
- `Reinforce`: sampled cuts and the gradient of their log-probability, for tasks that have no gradient of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from hra.errors import ArrayError
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


@dataclass(frozen=True)
class Expected:
    """The loss of the probable selection: no noise, and exact where the task is linear; soft in training, not in use.

    Parameters
    ----------
    temperature : > 0, in mean gains.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> from hra.solvers.soft.forest import SoftForest
    >>> forest, gain = SoftForest.of_parents([-1, 0, 0], [1, 1, 1]), torch.tensor([3.0, 2.0, 1.0], requires_grad=True)
    >>> loss = learned.Expected(0.5)(forest, gain, 2, lambda taken: 1 - taken[..., 1])
    >>> loss.backward()
    >>> bool(gain.grad[1] < 0 < gain.grad[2])
    True
    """

    temperature: float = 0.3

    def __call__(self, forest: SoftForest, gain: Tensor, budget: float | Tensor, task: Task) -> Tensor:
        """See `Estimator`."""
        return task(cuts(forest, gain, budget, self.temperature).probabilities)


@dataclass(frozen=True, eq=False)
class GumbelCut:
    """The hard cut by gains with noise, with the gradient of the probabilities at the same noise.

    Noise of one Gumbel variable for a split, at the temperature of the cut, as E. Jang et al., "Categorical
    reparameterization with Gumbel-softmax", 2017, have it for one choice; over a tree it explores and is not an exact
    sample. Biased as straight-through is.

    Parameters
    ----------
    temperature : > 0, in mean gains.
    generator : of the noise, on the device of the gains; by default of seed 0.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> from hra.solvers.soft.forest import SoftForest
    >>> forest, gain = SoftForest.of_parents([-1, 0, 0], [1, 1, 1]), torch.tensor([3.0, 2.0, 1.0], requires_grad=True)
    >>> noisy = learned.GumbelCut(5.0)
    >>> sorted({noisy(forest, gain, 2, lambda taken: 1 - taken[..., 1]).item() for _ in range(20)})
    [0.0, 1.0]
    """

    temperature: float = 0.3
    generator: torch.Generator = field(default_factory=lambda: torch.Generator().manual_seed(0))

    def __call__(self, forest: SoftForest, gain: Tensor, budget: float | Tensor, task: Task) -> Tensor:
        """See `Estimator`."""
        uniform = torch.rand(gain.shape, generator=self.generator, device=gain.device, dtype=torch.float64)
        # Kept off 0 and 1, where the logarithms end.
        noise = -torch.log(-torch.log(uniform.clamp(1e-12, 1 - 1e-12))).to(gain.dtype)
        size = self.temperature * gain.detach().abs().mean(-1, keepdim=True)
        return task(cuts(forest, gain + size * noise, budget, self.temperature).straight_through())


@dataclass(frozen=True, eq=False)
class Reinforce:
    """The mean loss of sampled cuts, each against the mean of the others: unbiased for any task, and noisy.

    R. J. Williams, "Simple statistical gradient-following algorithms", 1992; the baseline is that of W. Kool et al.,
    "Buy 4 REINFORCE samples, get a baseline for free", 2019. Samples meet the budget on average, not each.

    Parameters
    ----------
    temperature : > 0, in mean gains.
    samples : cuts of each step, at least 2.
    generator : of the samples, on the device of the gains; by default of seed 0.

    Raises
    ------
    ArrayError : fewer than 2 samples.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> from hra.solvers.soft.forest import SoftForest
    >>> forest, gain = SoftForest.of_parents([-1, 0, 0], [1, 1, 1]), torch.tensor([3.0, 2.0, 1.0], requires_grad=True)
    >>> learned.Reinforce(0.5, samples=256)(forest, gain, 2, lambda taken: 1 - taken[..., 1]).backward()
    >>> bool(gain.grad[1] < 0 < gain.grad[2])
    True
    """

    temperature: float = 0.3
    samples: int = 8
    generator: torch.Generator = field(default_factory=lambda: torch.Generator().manual_seed(0))

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise ArrayError(f"{self.samples} samples have no baseline", where="samples", fix="use 2 or more")

    def __call__(self, forest: SoftForest, gain: Tensor, budget: float | Tensor, task: Task) -> Tensor:
        """See `Estimator`."""
        distribution = cuts(forest, gain, budget, self.temperature)
        taken = distribution.sample(self.samples, self.generator).to(gain.dtype)
        loss = task(taken)
        others = (loss.sum(0, keepdim=True) - loss) / (self.samples - 1)
        pushed = (loss - others).detach() * log_probability(distribution, taken)
        # Its value is the loss alone; what pushes the gains has no value, only a gradient.
        return (loss + pushed - pushed.detach()).mean(0)


def log_probability(distribution: CutDistribution, taken: Tensor) -> Tensor:
    """Log-probability of valid cuts [..., R], float64 [...], differentiable by the gains."""
    forest = distribution.forest
    cost = forest.rows(forest.cost).reshape(-1)
    reward = distribution.gain.double() - distribution.price[..., None] * cost
    return (taken * reward).sum(-1) / distribution.temperature - distribution.log_partition


@dataclass(frozen=True)
class StraightThrough:
    """The loss of the cut in use, with the gradient as if it were the probabilities: biased, without noise.

    Y. Bengio et al., "Estimating or propagating gradients through stochastic neurons", 2013.

    Parameters
    ----------
    temperature : > 0, in mean gains.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens import learned
    >>> from hra.solvers.soft.forest import SoftForest
    >>> forest, gain = SoftForest.of_parents([-1, 0, 0], [1, 1, 1]), torch.tensor([3.0, 2.0, 1.0], requires_grad=True)
    >>> learned.StraightThrough(0.5)(forest, gain, 2, lambda taken: 1 - taken[..., 1]).item()
    0.0
    """

    temperature: float = 0.3

    def __call__(self, forest: SoftForest, gain: Tensor, budget: float | Tensor, task: Task) -> Tensor:
        """See `Estimator`."""
        return task(cuts(forest, gain, budget, self.temperature).straight_through())
