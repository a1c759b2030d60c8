from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hra
from hra.errors import HierarchyError, InvalidBudget
from hra.model.hierarchy import Hierarchy
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric, LazyQuadtree
from hra.traversals.lazy_best_first import LazyBestFirst
from tests.helpers.allocators import problem_of


class Counted(LazyHierarchy):
    """Counts how often the nodes of another hierarchy are expanded."""

    def __init__(self, inner: LazyHierarchy):
        self.inner, self.mode, self.calls = inner, inner.mode, 0

    def roots(self) -> Any:
        return self.inner.roots()

    def least_cost(self, node: Any) -> float:
        return self.inner.least_cost(node)

    def expand(self, node: Any) -> Any:
        self.calls += 1
        return self.inner.expand(node)


class AroundPoint(LazyMetric):
    """Error of which the quarter that holds a point inherits 3/4, each other quarter 1/32."""

    def __init__(self, point: tuple[float, float] = (0.3, 0.7)):
        self.point = point

    def evaluate(self, nodes: Any, context: Any) -> list[float]:
        return [self.one(*node) for node in nodes]

    def one(self, level: int, x: int, y: int) -> float:
        error = 1.0
        for k in range(1, level + 1):
            tile = (x >> (level - k), y >> (level - k))
            error *= 3 / 4 if tile == (int(self.point[0] * 2**k), int(self.point[1] * 2**k)) else 1 / 32
        return error


MODES = pytest.mark.parametrize("mode", ["replace", "add"])


def test_only_visited_nodes_of_a_deep_tree_are_made():
    tree = Counted(LazyQuadtree(25))
    lazy = LazyBestFirst(look_ahead=0).allocate(tree, AroundPoint(), 1000)
    assert lazy.cost == len(lazy.cut) == 1000
    assert lazy.expansions == tree.calls < 1000
    assert lazy.made <= 1 + 4 * tree.calls
    assert lazy.max_depth == 25 and 5 < lazy.mean_depth < 25
    area = sum(0.25**level for level, *_ in lazy.cut)  # of the cut, which tiles the square
    assert area == pytest.approx(1.0, abs=1e-12)
    assert lazy.gap < 0.1


@MODES
def test_the_quadtree_equals_one_that_is_built_at_once(mode: Any):
    parent = np.r_[-1, np.repeat(np.arange(21), 4)]
    whole = Hierarchy.tree(parent, np.ones(85), mode=mode)
    lazy = LazyBestFirst(look_ahead=0).allocate(LazyQuadtree(3, mode), AroundPoint((0.13, 0.9)), 1000)
    assert lazy.visited.parent.size == 85 and lazy.max_depth == 3
    error = dict(zip(lazy.visited.nodes, lazy.visited.error, strict=True))
    breadth_first = [(0, 0, 0)]
    for number in range(21):
        breadth_first += LazyQuadtree(3).expand(breadth_first[number])
    problem = problem_of(whole, [error[tile] for tile in breadth_first], budget=40)
    expected = hra.BestFirst().solve(problem).selected
    found = LazyBestFirst(look_ahead=0).allocate(LazyQuadtree(3, mode), AroundPoint((0.13, 0.9)), 40)
    assert len(found.cut) == whole.active_nodes(expected).sum() and found.cost == 40
    assert found.gain == pytest.approx(problem.gain[expected].sum())


def test_a_time_limit_still_expands_one_node():
    tree = Counted(LazyQuadtree(25))
    lazy = LazyBestFirst(seconds=0).allocate(tree, AroundPoint(), 1000)
    assert tree.calls == lazy.expansions == 1 and not lazy.finished


def test_an_earlier_answer_does_not_change_later():
    answers = LazyBestFirst(max_expansions=3).improve(LazyQuadtree(25), AroundPoint(), 1000)
    first = next(answers)
    cut, made = first.cut[:], first.made
    next(answers)
    assert first.made == made and [first.visited.nodes[v] for v in np.flatnonzero(first.active)] == cut


@pytest.mark.parametrize("budget", [-1, float("nan"), True, "10"])
def test_budgets_that_are_refused(budget: Any):
    with pytest.raises(InvalidBudget):
        LazyBestFirst().improve(LazyQuadtree(3), AroundPoint(), budget)


def test_an_infinite_budget_needs_a_limit():
    with pytest.raises(InvalidBudget, match="never ends"):
        LazyBestFirst().allocate(LazyQuadtree(25), AroundPoint(), np.inf)
    lazy = LazyBestFirst(max_expansions=10).allocate(LazyQuadtree(25), AroundPoint(), np.inf)
    assert lazy.expansions == 10 and lazy.made == 41 and not lazy.finished


@pytest.mark.parametrize("levels", [-1, float("nan")])
def test_a_quadtree_without_levels_is_refused(levels: Any):
    with pytest.raises(HierarchyError, match="levels"):
        LazyQuadtree(levels)


@pytest.mark.parametrize("children", [{"a": ["b"], "b": ["a"]}, {"a": ["b", "b"]}, {"a": ["b", "c"], "b": ["c"]}])
def test_a_node_that_is_made_twice_is_refused(children: dict[str, list[str]]):
    class Graph(LazyHierarchy):
        mode = "add"

        def roots(self) -> list[str]:
            return ["a"]

        def expand(self, node: Any) -> list[str]:
            return children.get(node, [])

    class Constant(LazyMetric):
        def evaluate(self, nodes: Any, context: Any) -> Any:
            return np.full(len(nodes), 1.0 if nodes == ["a"] else 0.4)

    with pytest.raises(HierarchyError, match="made twice"):
        LazyBestFirst().allocate(Graph(), Constant(), 100)
