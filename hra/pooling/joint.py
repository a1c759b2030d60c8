"""The problems of several members as one problem over the union of their hierarchies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from hra.errors import UnitMismatch
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.units import rescale


def join_problems(
    whole: Hierarchy, problems: Sequence[Problem], places: Sequence[np.ndarray], budget: float
) -> Problem:
    """One problem over ``whole``, the union of the problems' hierarchies.

    Parameters
    ----------
    places : per problem, int [R_i], the indices of its refinements in ``whole``.

    Raises
    ------
    UnitMismatch : the problems measure errors in different units.
    """
    units = sorted({problem.unit for problem in problems})
    if len(units) != 1:
        fix = "use metrics of one unit, or scale one of them"
        raise UnitMismatch("one pool needs one unit of error", where=", ".join(units), fix=fix)
    gain = _place([problem.gain for problem in problems], places)
    least_error = math.fsum(problem.least_error for problem in problems)
    additive = all(problem.additive for problem in problems)
    steps = [problem.previous for problem in problems if problem.previous is not None]
    previous = _place(steps, places) if len(steps) == len(problems) else None
    peak = partial(_joined_peak, tuple(problems), tuple(places))
    # Members of one pool ended the last step at one price, unless a limit held them: it is only a guess.
    first = problems[0]
    guess = None if first.price is None else rescale(first.price, first.hierarchy.units.size, whole.units.size)
    return Problem(whole, gain, least_error, budget, units[0], additive, peak, previous=previous, price=guess)


def _joined_peak(problems: Sequence[Problem], places: Sequence[np.ndarray]) -> np.ndarray:
    return _place([problem.peak for problem in problems], places)


def _place(parts: Sequence[np.ndarray], places: Sequence[np.ndarray]) -> np.ndarray:
    """Every member's values [R_i] at its places in the union."""
    values = np.concatenate(parts)
    result = np.empty_like(values)
    result[np.concatenate(places)] = values
    return result
