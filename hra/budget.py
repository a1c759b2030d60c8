"""Budgets: a number of cost units, checked before anything is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.errors import BudgetTooSmall, InvalidBudget
from hra.hierarchy import Hierarchy


def check_budget(budget: Any, hierarchy: Hierarchy) -> float:
    """``budget`` as a float that covers the hierarchy's base; ``inf`` means full detail, fractions are allowed.

    Raises
    ------
    InvalidBudget : not a number, a bool, NaN or negative.
    BudgetTooSmall : less than the base costs; the message states the minimum.
    """
    if isinstance(budget, (bool, np.bool_)) or not isinstance(budget, (int, float, np.integer, np.floating)):
        raise InvalidBudget(f"a budget must be a number, got {budget!r}", where="budget", fix="pass an int or a float")
    value = float(budget)
    if math.isnan(value) or value < 0:
        raise InvalidBudget(f"a budget cannot be {budget!r}", where="budget", fix="pass a number >= 0")
    if value < hierarchy.base_cost:
        unit = hierarchy.cost_unit
        raise BudgetTooSmall(
            f"{value:g} {unit} do not cover the coarsest level, which costs {hierarchy.base_cost:g} {unit}",
            where="budget",
            fix=f"use at least {hierarchy.base_cost:g} {unit}",
        )
    return value
