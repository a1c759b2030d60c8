"""Budgets: a number of cost units, checked before anything is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.errors import BudgetTooSmall, InvalidBudget
from hra.model.hierarchy import Hierarchy


def check_budget(budget: Any, hierarchy: Hierarchy) -> float:
    """``budget`` as a float that covers the hierarchy's base; ``inf`` means full detail, fractions are allowed.

    Raises
    ------
    InvalidBudget : not a number, a bool, NaN or negative.
    BudgetTooSmall : less than the base costs; the message states the minimum.
    """
    value = check_number(budget)
    check_covered(value, hierarchy.base_cost, hierarchy.cost_unit, fits=value >= hierarchy.base_cost)
    return value


def check_number(budget: Any) -> float:
    """``budget`` as a float >= 0.

    Raises
    ------
    InvalidBudget : not a number, a bool, NaN or negative.
    """
    if isinstance(budget, (bool, np.bool_)) or not isinstance(budget, (int, float, np.integer, np.floating)):
        kind = type(budget).__name__
        raise InvalidBudget(f"a budget must be a number, got {kind}", where="budget", fix="pass an int or a float")
    try:
        value = float(budget)
    except OverflowError:  # an integer beyond all floats
        value = math.inf if budget > 0 else -math.inf
    if math.isnan(value) or value < 0:
        raise InvalidBudget(f"a budget cannot be {value}", where="budget", fix="pass a number >= 0")
    return value


def check_covered(budget: float, least: float, unit: str, *, fits: bool) -> None:
    """Raise unless the budget ``fits``: ``least`` is the least budget that covers the coarsest level.

    Raises
    ------
    BudgetTooSmall : the message states ``least``.
    """
    if not fits:
        minimum = exact_number(least)
        raise BudgetTooSmall(
            f"{exact_number(budget)} {unit} do not cover the coarsest level, which costs {minimum} {unit}",
            where="budget",
            fix=f"use at least {minimum} {unit}",
        )


def exact_number(value: float) -> str:
    """``value`` with all its digits, so that it can be typed in again."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))
