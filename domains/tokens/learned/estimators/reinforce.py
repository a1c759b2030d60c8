"""Sampled cuts and the gradient of their log-probability: for tasks that have no gradient of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from hra.domains.tokens.learned.estimators.base import Task, cuts
from hra.errors import ArrayError
from hra.solvers.soft.distribution import CutDistribution
from hra.solvers.soft.forest import SoftForest


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
