"""What a traversal is: problem in, solution out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hra.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Solution:
    """A down-closed set of refinements within the capacity.

    Attributes
    ----------
    selected : bool [R].
    multiplier : lambda (gain per cost unit) or tau (error), where the traversal has one.
    upper_bound : no set within the capacity gains more; None if the traversal did not compute a bound.
    """

    selected: np.ndarray
    multiplier: float | None = None
    upper_bound: float | None = None


class Traversal(ABC):
    """Chooses which refinements to take. Strategies are small frozen dataclasses.

    ``objective`` says what is minimised: the "sum" of the errors that remain, or the "max".
    """

    objective: ClassVar[Literal["sum", "max"]] = "sum"

    @abstractmethod
    def solve(self, problem: Problem) -> Solution:
        """Choose a down-closed set whose cost is at most ``problem.capacity``."""
