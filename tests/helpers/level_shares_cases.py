"""What several tests of level shares share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import KINDS, case, depths
from tests.helpers.references import affordable_sets

seeds = st.integers(0, 2**32 - 1)


kinds = pytest.mark.parametrize("kind", KINDS)


def amounts(hierarchy: Hierarchy, sets: np.ndarray, level: np.ndarray, labels: list[int]) -> np.ndarray:
    """Cost of the active nodes of each level in each set, [S, K], counted node by node."""
    active = np.array([hierarchy.active_nodes(selected) for selected in sets], bool).reshape(len(sets), level.size)
    return np.stack([active @ np.where(level == label, hierarchy.node_cost, 0.0) for label in labels], axis=1)


def walked_levels(hierarchy: Hierarchy) -> np.ndarray:
    """Depth of every node below the base; where nodes have no parents, by the predecessors of what adds them."""
    if hierarchy.node_parent is not None:
        return depths(hierarchy.node_parent)
    step = np.ones(len(hierarchy), int)
    for before, after in hierarchy.edges:
        step[after] = max(step[after], step[before] + 1)
    level = np.r_[step, 0][hierarchy.added_by]
    return level - (0 if (hierarchy.added_by < 0).any() else 1)


def asked(seed: int, kind: str, largest: int = 10) -> tuple[Problem, dict[int, float], np.ndarray, np.ndarray]:
    """A problem, minimums that a random set meets or nearly does, all affordable sets, and which of them meet all."""
    hierarchy, values, rng = case(kind, seed, largest)
    budget = hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 1))
    problem, level = problem_of(hierarchy, values, "gain", budget), walked_levels(hierarchy)
    sets, present = affordable_sets(problem), np.unique(level)
    labels = rng.choice(present, min(present.size, int(rng.integers(1, 4))), replace=False).tolist()
    amount = amounts(hierarchy, sets, level, labels)
    least = np.floor(amount[rng.integers(len(sets))] * rng.choice([0.7, 1.0, 1.0])) + (rng.random(len(labels)) < 0.1)
    return problem, dict(zip(labels, least.tolist(), strict=True)), sets, (amount >= least).all(axis=1)
