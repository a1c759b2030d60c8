"""Lazy hierarchies: only what is visited is made, and the answer is that of best-first on the whole tree."""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import BudgetTooSmall, HierarchyError, HraError, MetricError, RepairWarning
from hra.model.hierarchy import Hierarchy
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.traversals.lazy_best_first import LazyBestFirst
from tests.helpers.allocators import Plain, problem_of
from tests.helpers.references import best_gain

SEEDS = st.integers(0, 2**32 - 1)


class Listed(LazyHierarchy):
    """A finite forest given as a table of parents; counts how often every node is expanded."""

    cost_unit = "tokens"

    def __init__(self, parent: Any, cost: Any, mode: Literal["replace", "add"] = "replace", promise: bool = False):
        self.parent, self.costs, self.mode, self.promise = np.asarray(parent), np.asarray(cost), mode, promise
        self.expanded: list[int] = []

    def children(self, node: Any) -> list[int]:
        return np.flatnonzero(self.parent == node).tolist()

    def roots(self) -> list[int]:
        return self.children(-1)

    def expand(self, node: Any) -> list[int]:
        self.expanded.append(node)
        return self.children(node)

    def cost(self, nodes: Any) -> Any:
        return self.costs[nodes]

    def least_cost(self, node: Any) -> float:
        if not self.promise or not self.children(node):
            return 0.0
        costs = self.costs[self.children(node)]
        return float(costs.min() if self.mode == "add" else costs.sum() - self.costs[node])


class Errors(LazyMetric):
    """Errors given as a table; for "add" also what is inherited."""

    unit = "px2"

    def __init__(self, error: Any, inherit: Any = None, additive: bool = True):
        self.error, self.inherit, self.additive = error, inherit, additive

    def evaluate(self, nodes: Any, context: Any) -> Any:
        return [self.error[node] for node in nodes]

    def inherited(self, nodes: Any, context: Any) -> Any:
        return None if self.inherit is None else [self.inherit[node] for node in nodes]


def random_case(seed: int, mode: Literal["replace", "add"], size: int = 40) -> tuple[np.ndarray, ...]:
    """Parents (coarse before fine), costs and monotone errors of a random forest, and what children inherit."""
    rng = np.random.default_rng(seed)
    parent = np.array([-1 if v < 2 else rng.integers(max(0, v - 6), v) for v in range(size)])
    cost, error, inherit = np.zeros(size), np.zeros(size), np.zeros(size)
    for v in range(size):
        children = np.flatnonzero(parent == v)
        if parent[v] < 0:
            cost[v], error[v] = rng.integers(0, 3), 10 * rng.random()
            inherit[v] = error[v]
        shares = rng.dirichlet(np.ones(len(children) + 1))[:-1] if len(children) else np.zeros(0)
        inherit[children] = error[v] * shares
        error[children] = inherit[children] * rng.random(len(children))
        cost[children] = rng.integers(0, 4, len(children)) + (cost[v] if mode == "replace" else 0)
    return parent, cost, error, inherit


MODES = pytest.mark.parametrize("mode", ["replace", "add"])


@MODES
@pytest.mark.parametrize("promise", [False, True])
@given(seed=SEEDS, share=st.floats(0, 1.2))
def test_takes_what_best_first_takes_on_the_whole_tree(mode: Any, promise: bool, seed: int, share: float):
    parent, cost, error, inherit = random_case(seed, mode)
    whole = Hierarchy.tree(parent, cost, mode=mode)
    budget = whole.base_cost + round(share * (whole.total_cost - whole.base_cost))
    problem = problem_of(whole, error, budget=budget, inherit=inherit)
    expected = hra.BestFirst().solve(problem).selected
    lazy = LazyBestFirst().allocate(Listed(parent, cost, mode, promise), Errors(error, inherit), budget)
    assert sorted(lazy.cut) == np.flatnonzero(whole.active_nodes(expected)).tolist()
    assert lazy.gain == pytest.approx(problem.gain[expected].sum(), abs=1e-12)
    assert lazy.cost == cost[lazy.cut].sum() <= budget
    assert lazy.residual == pytest.approx(problem.base_error - problem.gain[expected].sum(), abs=1e-9)
    assert lazy.finished


@MODES
@given(seed=SEEDS, share=st.floats(0, 1.2))
def test_best_first_on_the_visited_part_gives_the_same_cut(mode: Any, seed: int, share: float):
    parent, cost, error, inherit = random_case(seed, mode)
    budget = np.sum(cost[parent < 0]) + share * np.sum(cost)
    lazy = LazyBestFirst().allocate(Listed(parent, cost, mode, promise=True), Errors(error, inherit), budget)
    visited = lazy.visited
    again = Plain(visited.hierarchy, visited.metric, hra.BestFirst()).allocate(None, budget)
    assert np.array_equal(again.hierarchy.active_nodes(again.selected), lazy.active)
    assert again.gain == pytest.approx(lazy.gain, abs=1e-12) and again.cost == lazy.cost
    better = hra.Hull().solve(visited.problem(budget))
    assert visited.problem(budget).gain[better.selected].sum() <= lazy.upper_bound * (1 + 1e-12)


@MODES
@pytest.mark.parametrize("promise", [False, True])
@given(seed=SEEDS, share=st.floats(0, 1), limit=st.integers(1, 8))
def test_the_bound_holds_for_the_whole_tree_however_little_was_made(
    mode: Any, promise: bool, seed: int, share: float, limit: int
):
    parent, cost, error, inherit = random_case(seed, mode, size=11)
    whole = Hierarchy.tree(parent, cost, mode=mode)
    budget = whole.base_cost + share * (whole.total_cost - whole.base_cost)
    problem = problem_of(whole, error, budget=budget, inherit=inherit)
    lazy = LazyBestFirst(max_expansions=limit).allocate(
        Listed(parent, cost, mode, promise), Errors(error, inherit), budget
    )
    assert lazy.upper_bound >= best_gain(problem) - 1e-9
    assert lazy.upper_bound <= problem.base_error + 1e-9
    assert 0 <= lazy.gap <= 1


@MODES
@given(seed=SEEDS, share=st.floats(0, 1), limit=st.integers(1, 5))
def test_more_expansions_never_gain_less_and_never_raise_the_bound(mode: Any, seed: int, share: float, limit: int):
    parent, cost, error, inherit = random_case(seed, mode)
    budget = np.sum(cost[parent < 0]) + share * np.sum(cost)
    forest = Listed(parent, cost, mode, promise=True)
    answers = list(LazyBestFirst(max_expansions=limit).improve(forest, Errors(error, inherit), budget))
    assert [answer.finished for answer in answers] == [False] * (len(answers) - 1) + [True]
    for i, (early, late) in enumerate(itertools.pairwise(answers)):
        assert early.gain <= late.gain and early.cost <= late.cost <= budget
        assert early.upper_bound >= late.upper_bound - 1e-9
        assert early.expansions == (i + 1) * limit
    at_once = LazyBestFirst().allocate(Listed(parent, cost, mode, promise=True), Errors(error, inherit), budget)
    assert at_once.cut == answers[-1].cut and at_once.gain == answers[-1].gain


@given(seed=SEEDS)
def test_equal_calls_give_equal_answers(seed: int):
    parent, cost, error, _ = random_case(seed, "replace")
    error = np.round(error)  # ties
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        one, two = (LazyBestFirst().allocate(Listed(parent, cost), Errors(error), 30.0) for _ in range(2))
    assert one.cut == two.cut and one.gain == two.gain and one.visited.nodes == two.visited.nodes


def test_a_promise_on_the_cost_saves_expansions_and_changes_nothing():
    parent, cost, error, inherit = random_case(1, "replace", size=200)
    eager, saving = Listed(parent, cost), Listed(parent, cost, promise=True)
    one = LazyBestFirst().allocate(eager, Errors(error, inherit), 60)
    two = LazyBestFirst().allocate(saving, Errors(error, inherit), 60)
    assert sorted(one.cut) == sorted(two.cut)
    assert len(saving.expanded) < len(eager.expanded)
    assert len(set(eager.expanded)) == len(eager.expanded)  # nothing is asked for twice


def test_unaffordable_and_worthless_nodes_are_not_expanded():
    forest = Listed([-1, -1, 0, 0, 1, 1], [1, 1, 9, 9, 1, 1], promise=True)
    lazy = LazyBestFirst().allocate(forest, Errors([5.0, 0.0, 1.0, 1.0, 0.0, 0.0]), 10)
    assert forest.expanded == [] and lazy.cut == [0, 1] and lazy.finished
    assert lazy.upper_bound == 0, "a step of 17 cannot be bought in part with the 8 that are left"


def test_of_equal_worth_what_is_known_comes_first():
    forest = Listed([-1, -1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], promise=True)
    lazy = LazyBestFirst().allocate(forest, Errors([4.0, 2.0, 2.0, 0.0, 0.0, 0.0]), 3)
    assert lazy.cut == [1, 2, 3] and forest.expanded == [0, 2]


def test_gains_are_stated_through_what_is_inherited():
    """Gains 4 and 1 of two children, of which the first hides a gain of 3 below it."""
    gain, below = np.array([0.0, 4.0, 1.0, 3.0]), np.array([8.0, 3.0, 0.0, 0.0])
    forest = Listed([-1, 0, 0, 1], [1, 1, 1, 1], mode="add")
    answers = [LazyBestFirst().allocate(forest, Errors(below, below + gain), budget) for budget in (1, 2, 3, 4)]
    assert [answer.gain for answer in answers] == [0, 4, 7, 8]


def test_more_error_below_than_above_is_scaled_down_with_a_warning():
    forest = Listed([-1, 0, 0], [1, 1, 1])
    with pytest.warns(RepairWarning, match="1 nodes"):
        lazy = LazyBestFirst().allocate(forest, Errors([1.0, 3.0, 1.0]), 10)
    assert lazy.cut == [0] and lazy.gain == 0.0
    assert lazy.visited.error.tolist() == [1.0, 0.75, 0.25]
    forest = Listed([-1, 0, 0], [1, 1, 1], mode="add")
    with pytest.warns(RepairWarning, match="2 nodes"):
        lazy = LazyBestFirst().allocate(forest, Errors([1.0, 3.0, 0.0], [1.0, 2.0, 2.0]), 10)
    assert lazy.gain == 0.5 and lazy.visited.inherited.tolist() == [1.0, 0.5, 0.5]
    assert lazy.visited.error.tolist() == [1.0, 0.5, 0.0]


def test_the_report_is_one_sentence():
    lazy = LazyBestFirst(max_expansions=1).allocate(Listed([-1, 0, 0], [1, 2, 2]), Errors([4.0, 1.0, 1.0]), 4)
    assert repr(lazy) == (
        "4 of 4 tokens, residual 2 px2, depth 1.0 on average and 1 at most, 3 nodes made, "
        "within 50 % of the best possible gain"
    )
    vague = LazyBestFirst().allocate(Listed([-1], [1]), Errors([4.0], additive=False), 4)
    assert "no bound" in repr(vague)


def test_an_empty_forest_and_a_bare_budget():
    nothing = LazyBestFirst().allocate(Listed([], []), Errors([]), 0)
    assert nothing.cut == [] and nothing.gap == nothing.mean_depth == nothing.max_depth == 0
    bare = LazyBestFirst().allocate(Listed([-1, 0], [2, 3]), Errors([1.0, 0.0]), 2)
    assert bare.cut == [0] and bare.cost == 2


def test_a_budget_below_the_roots_states_the_minimum():
    with pytest.raises(BudgetTooSmall, match="costs 5 tokens"):
        LazyBestFirst().allocate(Listed([-1, -1], [2, 3]), Errors([1.0, 1.0]), 4)


@pytest.mark.parametrize(
    "limits", [{"max_expansions": 0}, {"max_expansions": -1}, {"seconds": -1.0}, {"seconds": np.nan}]
)
def test_limits_that_are_refused(limits: dict[str, Any]):
    with pytest.raises(HraError):
        LazyBestFirst(**limits)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("node", [0, 2])
def test_bad_costs_and_errors_name_the_node(bad: float, node: int):
    parent, good = [-1, 0, 0], np.array([1.0, 1.0, 1.0])
    values = good.copy()
    values[node] = bad
    with pytest.raises(HierarchyError, match=f"node {node}"):
        LazyBestFirst().allocate(Listed(parent, values), Errors(good * 0 + [9, 1, 1]), 10)
    with pytest.raises(MetricError, match=f"node {node}"):
        LazyBestFirst().allocate(Listed(parent, good), Errors(np.where(np.arange(3) == node, bad, [9, 1, 1])), 10)
    with pytest.raises(MetricError, match=f"node {node}" if node else "node"):
        inherit = np.where(np.arange(3) == max(node, 1), bad, 1)
        LazyBestFirst().allocate(Listed(parent, good, mode="add"), Errors([9, 1, 1], inherit), 10)


def test_values_of_another_length_are_refused():
    class Short(Errors):
        def evaluate(self, nodes: Any, context: Any) -> Any:
            return [1.0]

    with pytest.raises(MetricError, match="one number per node"):
        LazyBestFirst().allocate(Listed([-1, -1], [1, 1]), Short([]), 10)


def test_children_cheaper_than_their_parent_and_broken_promises_are_refused():
    with pytest.raises(HierarchyError, match="must not cost less"):
        LazyBestFirst().allocate(Listed([-1, 0], [2, 1]), Errors([1.0, 0.0]), 10)

    class Liar(Listed):
        def least_cost(self, node: Any) -> float:
            return 5.0

    with pytest.raises(HierarchyError, match="least cost of 5"):
        LazyBestFirst().allocate(Liar([-1, 0], [1, 2]), Errors([1.0, 0.0]), 10)
