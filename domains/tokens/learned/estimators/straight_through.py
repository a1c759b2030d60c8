"""A hard cut forward, the gradient of the probabilities backward."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from hra.domains.tokens.learned.estimators.base import Task, cuts
from hra.solvers.soft.forest import SoftForest


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
