"""What was chosen for one image of a batch, with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation, ratio
from hra.domains.tokens.context.context import TokenContext
from hra.model.precise import ceiling
from hra.model.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class Choice(ShortRepr):
    """The cut of one image, without the objects that a single allocation carries.

    Attributes
    ----------
    context : the image.
    cut : int64 [K], nodes of the builder's hierarchy, ascending.
    gain, base_error : in the metric's unit.
    shortfall : no choice within the budget gains more than so much more; None where the metric's gains do not add up.
    allocation : the whole allocation, where there was no faster way; else None.
    """

    context: TokenContext
    cut: np.ndarray
    gain: float
    base_error: float
    shortfall: float | None
    allocation: Allocation | None = None

    @classmethod
    def of(cls, allocation: Allocation) -> Choice:
        """An allocation of a `TokenContext` as a choice."""
        shortfall = allocation.shortfall if allocation.problem.additive else None
        numbers = (allocation.gain, allocation.base_error, shortfall)
        return cls(allocation.context, allocation.cut, *numbers, allocation=allocation)

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.cut)

    @property
    def residual(self) -> float:
        """Error that remains."""
        return max(self.base_error - self.gain, 0.0)

    @property
    def residual_gap(self) -> float | None:
        """(residual - least possible residual) / least possible residual; None without a certificate."""
        if self.shortfall is None:
            return None
        return ratio(self.shortfall, self.residual - self.shortfall)

    @property
    def upper_bound(self) -> float | None:
        """No choice within the budget gains more; None without a certificate."""
        return None if self.shortfall is None else ceiling((self.gain, self.shortfall))
