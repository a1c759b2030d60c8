"""The task on the probabilities themselves."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from hra.domains.tokens.learned.estimators.base import Task, cuts
from hra.solvers.soft.forest import SoftForest


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
