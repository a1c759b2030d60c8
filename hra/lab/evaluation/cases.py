"""One problem of the evaluation, and what it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from hra.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Case:
    """A problem that every rule gets.

    Attributes
    ----------
    data : "tokens" or "mesh".
    budget : the budget in words; cases of equal words are summed up together.
    source : the crop or the view.
    """

    data: str
    budget: str
    source: str
    problem: Problem
