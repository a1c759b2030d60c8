"""Straight-through on gains with Gumbel noise, so that training sees more than the likeliest cut."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from hra.domains.tokens.learned.estimators.base import Task, cuts
from hra.solvers.soft.forest import SoftForest


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
