"""What several tests of copies share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall
from hra.model.hierarchy import Hierarchy
from hra.pooling.copies import allocate_copies
from hra.pooling.copies_allocation import CopiesAllocation, Kind
from hra.solvers.copies.copies import Copies
from tests.helpers.allocators import Table
from tests.helpers.instances import COSTS, GAINS, SHAPES


@dataclass(frozen=True, eq=False)
class Rows(Table):
    """The context is a gain per node; all at once for errors."""

    kind: Any = "gain"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> Any:
        return context


MOST = 12  # refinements of all copies, of which every set is enumerated


@st.composite
def drawn(draw: Any) -> tuple[list[Kind], np.ndarray, float]:
    """One to three kinds with a copy or several of each, in any order, and a budget."""
    kinds, left, costs = [], MOST, COSTS[draw(st.sampled_from(["whole", "tenths", "eighths", "same", "free"]))]
    gains = GAINS[draw(st.sampled_from(list(GAINS)))]
    for _ in range(draw(st.integers(1, 3))):
        hierarchy = SHAPES[draw(st.sampled_from(["add", "chain", "flat", "dag", "swaps", "mixed"]))](draw, costs, 6)
        count = draw(st.integers(1, 3))
        if not 0 < count * len(hierarchy) <= left:
            continue
        left -= count * len(hierarchy)
        kinds.append(Kind(hierarchy, Rows(), [gains(draw, hierarchy.node_cost.size) for _ in range(count)]))
    assume(kinds and Copies.suits([kind.hierarchy for kind in kinds], [len(kind.contexts) for kind in kinds]))
    copies = sum(len(kind.contexts) for kind in kinds)
    order = np.array(draw(st.permutations(range(copies))))
    base, most = (
        sum(len(kind.contexts) * cost for kind, cost in zip(kinds, part, strict=True))
        for part in zip(*[(k.hierarchy.base_cost, k.hierarchy.total_cost) for k in kinds], strict=True)
    )
    budget = draw(st.sampled_from([base, most, np.inf, None]))
    return kinds, order, budget or base + draw(st.floats(0.0, 1.0)) * (most - base)


def answers(kinds: Sequence[Kind], order: np.ndarray, budget: float, traversal: Any = None) -> CopiesAllocation:
    try:
        return allocate_copies(kinds, order, budget, traversal or hra.Hull())
    except BudgetTooSmall:  # the base in floating point, where units are parts of ten
        assume(False)
        raise
