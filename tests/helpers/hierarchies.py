"""Small random hierarchies of every kind, those that `hra.testing` uses; and budgets for them."""

from __future__ import annotations

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.testing.instances import (
    KINDS,
    case,
    depths,
    random_chains,
    random_closed_set,
    random_dag,
    random_edges,
    random_flat,
    random_group_table,
    random_groups,
    random_parents,
    random_tree,
    random_values,
)

FORESTS = ("replace", "child", "add", "chains", "flat")

__all__ = [
    "FORESTS",
    "KINDS",
    "case",
    "depths",
    "random_budgets",
    "random_chains",
    "random_closed_set",
    "random_dag",
    "random_edges",
    "random_flat",
    "random_group_table",
    "random_groups",
    "random_parents",
    "random_tree",
    "random_values",
]


def random_budgets(rng: np.random.Generator, hierarchy: Hierarchy, count: int) -> np.ndarray:
    """Budgets from the base to all that there is, float64 [count]."""
    return hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 1, count)
