"""Why minimum shares cannot be met, and what can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hra.errors import InfeasibleShares
from hra.model.problem import Problem, exact_number
from hra.solvers.level_shares.dual import Closure, Dual, least_bound
from hra.solvers.level_shares.needs import Needs

# Bounds come with rounding: what is closer to a minimum than this is taken to reach it.
_ROUNDING = 1e-9
# More than what a level can gain per unit of budget, except where costs are very uneven and the bound is looser.
_PENALTY = 1e6


def is_impossible(needs: Needs, possible: Dual) -> bool:
    """Whether not even parts of refinements meet all needs; ``possible`` is the dual without gains."""
    return possible.bound < -_ROUNDING * float(possible.prices[1:] @ needs.required)


def refusal(problem: Problem, needs: Needs, best: Closure, possible: Dual, *, proven: bool) -> InfeasibleShares:
    """The error for ``needs`` that no set was found for: with the most that is possible, where a bound proves it.

    Parameters
    ----------
    best : maximum closures of the hierarchy; possible : the dual without gains.
    proven : whether no set exists; else it is only that none was found.
    """
    within = f"within {exact_number(problem.budget)} {problem.hierarchy.cost_unit}"
    if problem.strict:  # rounded up, costs admit fewer sets than the budget does
        return _unmet(needs, within, proven=False)
    for i in range(needs.levels.size):
        most, least = _most(needs, best, i), float(needs.required[i])
        if most < least * (1 - _ROUNDING):
            return _too_much(problem, int(needs.levels[i]), least, _rounded_down(most), within)
    if is_impossible(needs, possible):
        return _together(problem, needs, possible, within)
    return _unmet(needs, within, proven=proven)


def _too_much(problem: Problem, level: int, least: float, most: float, within: str) -> InfeasibleShares:
    needed, possible = (exact_number(problem.hierarchy.units.cost(units)) for units in (least, most))
    what = f"level {level} needs {needed}, and at most {possible} are possible {within}"
    fix = f"lower the minimum of level {level}" + (" or use a larger budget" if most > 0 else "")
    return InfeasibleShares(what, where=f"LevelShares, level {level}", fix=fix)


def _together(problem: Problem, needs: Needs, possible: Dual, within: str) -> InfeasibleShares:
    # At these prices nothing is worth more than this part of what is needed, so not all can get more of it.
    weight = possible.prices[1:]
    part = 1 + possible.bound / float(weight @ needs.required)
    levels = ", ".join(str(level) for level in needs.levels[weight > 0])
    amounts = ", ".join(exact_number(problem.hierarchy.units.cost(amount)) for amount in needs.required[weight > 0])
    most = f"{np.ceil(part * 1e4) / 1e2:.4g} %"
    what = f"levels {levels} need {amounts}, and at most {most} of each are possible {within}"
    return InfeasibleShares(what, where="LevelShares", fix="lower these minimums, or use a larger budget")


def _unmet(needs: Needs, within: str, *, proven: bool) -> InfeasibleShares:
    levels = ", ".join(str(level) for level in needs.levels)
    if proven:
        what = f"no choice {within} meets the minimums of levels {levels}: refinements are not divisible"
    else:
        what = f"no choice was found {within} that meets the minimums of levels {levels}; there may be one"
    return InfeasibleShares(what, where="LevelShares", fix="lower the minimums a little, or use a larger budget")


def _most(needs: Needs, best: Closure, i: int) -> float:
    """No set within the budget gives the level more."""
    alone = replace(needs, slack=needs.slack[:1], change=np.ascontiguousarray(needs.change[:, :1]))
    present = needs.required[i] + needs.slack[1 + i]
    return float(present) + least_bound(best, np.ascontiguousarray(needs.change[:, 1 + i]), alone, _PENALTY).bound


def _rounded_down(most: float) -> float:
    return float(np.floor(most * (1 + _ROUNDING) + _ROUNDING))
