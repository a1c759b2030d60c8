"""Best-first on demand against rational arithmetic over the whole tree."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hra.errors import BudgetTooSmall, HierarchyError
from hra.model.hierarchy import Hierarchy
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.traversals.lazy_best_first import LazyBestFirst
from tests.helpers.examples import many
from tests.helpers.instances import COSTS, parents
from tests.helpers.rational import Exactly

pytestmark = pytest.mark.unverified


class Listed(LazyHierarchy):
    """A forest given as a table of parents."""

    def __init__(self, parent: np.ndarray, cost: np.ndarray, mode: Literal["replace", "add"]) -> None:
        self.parent, self.table, self.mode = parent, cost, mode

    def roots(self) -> list[int]:
        return np.flatnonzero(self.parent < 0).tolist()

    def expand(self, node: int) -> list[int]:
        return np.flatnonzero(self.parent == node).tolist()

    def cost(self, nodes: Any) -> np.ndarray:
        return self.table[nodes]


class Errors(LazyMetric):
    """Errors given as a table."""

    def __init__(self, error: np.ndarray) -> None:
        self.error = error

    def evaluate(self, nodes: Any, context: Any) -> np.ndarray:
        return self.error[nodes]


def halved(parent: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Errors that never add up to more than their parent's: children share at most half of it, in exact doubles."""
    error = start.copy()
    for v in range(parent.size):
        if parent[v] >= 0:
            siblings = int(np.count_nonzero(parent == parent[v]))
            error[v] = error[parent[v]] * 0.5 ** (1 + int(siblings - 1).bit_length()) * (start[v] > 2)
    return error


@st.composite
def trees(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, str, float]:
    """Parents, costs, errors, mode and a budget."""
    size = draw(st.integers(1, 10))
    parent = parents(draw, size)
    cost = COSTS[draw(st.sampled_from(sorted(COSTS)))](draw, size)
    start = np.array(draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)), np.float64)
    mode = draw(st.sampled_from(["replace", "add"]))
    assume(mode == "add" or all(_never_less(parent, cost)))
    base = Hierarchy.tree(parent, cost, mode=mode).base_cost
    share = draw(st.floats(0.0, 1.0))
    extra = draw(st.sampled_from([share * cost.sum(), round(share * cost.sum(), 1), np.inf]))
    return parent, cost, halved(parent, start), mode, float(base + extra)


def _never_less(parent: np.ndarray, cost: np.ndarray) -> Iterator[bool]:
    """Whether the children of each node cost at least as much as it does, as `LazyHierarchy.least_cost` promises."""
    printed = [Fraction(repr(c)) for c in cost.tolist()]
    for v in range(parent.size):
        children = np.flatnonzero(parent == v).tolist()
        yield not children or sum(printed[c] for c in children) >= printed[v]


@many
@given(trees(), st.none() | st.integers(1, 5))
def test_lazy_allocations_keep_their_promises(tree, most):
    parent, cost, error, mode, budget = tree
    if np.isinf(budget) and most is None:
        most = 20
    try:
        found = LazyBestFirst(max_expansions=most).allocate(Listed(parent, cost, mode), Errors(error), budget)
    except BudgetTooSmall:  # doubles that a budget covers may add up to more as decimals
        assert sum((Fraction(repr(float(c))) for c in cost[parent < 0]), Fraction(0)) > Fraction(repr(budget))
        return
    except HierarchyError as refusal:
        assert "least cost" in str(refusal)  # children that cost less than what they replace
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = _whole(found, parent, cost, error, mode, budget)
    spent = sum((Fraction(repr(float(c))) for c in cost[found.cut]), Fraction(0))
    assert np.isinf(budget) or spent <= Fraction(repr(budget))
    assert found.cost <= budget
    best = whole.best()
    assert best is not None
    assert best <= Fraction(found.upper_bound)


def _whole(found: Any, parent: np.ndarray, cost: np.ndarray, error: np.ndarray, mode: Any, budget: float) -> Exactly:
    """The problem over all nodes, costs counted as the decimals that they print as.

    Gains are the doubles that the search sees: what children inherit where they are added, in equal parts, is rounded
    before it is compared with what they keep.
    """
    from tests.helpers.allocators import problem_of

    inherit = _inherited(parent, error) if mode == "add" else None
    problem = problem_of(Hierarchy.tree(parent, cost, mode=mode), error, budget=budget, inherit=inherit)
    return Exactly.of(problem, lambda number: Fraction(repr(float(number))))


def _inherited(parent: np.ndarray, error: np.ndarray) -> np.ndarray:
    inherited = error.copy()
    for v in range(parent.size):
        children = np.flatnonzero(parent == v)
        if children.size:
            own = error[children]
            inherited[children] = own + max(error[v] - float(own.sum()), 0.0) / own.size
    return inherited
