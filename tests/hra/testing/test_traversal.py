"""The checks for people who write their own: what is right passes, and each kind of mistake is found and named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import hra
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.testing import CheckFailed, check_hierarchy, check_metric, check_traversal
from hra.testing.instances import FORESTS, KINDS, case

OURS = [hra.Hull(), hra.Hull(finish="none"), hra.Exact(), hra.BestFirst(), hra.Threshold(), hra.Coherent()]


@pytest.mark.parametrize("traversal", OURS, ids=lambda traversal: type(traversal).__name__)
def test_our_traversals_pass(traversal):
    check_traversal(traversal, instances=5)


def test_the_soft_cut_passes_on_forests():
    pytest.importorskip("torch")
    check_traversal(hra.SoftCut(0.1), kinds=FORESTS, instances=2)


@dataclass(frozen=True)
class Greedy(hra.Traversal):
    """A traversal as a stranger would write it: what is ready and fits, in level order."""

    overspend: float = 0.0
    orphans: bool = False
    shortfall: float | None = None
    forgetful: bool = False

    def select(self, problem: Problem) -> Solution:
        selected, left = np.zeros(len(problem.hierarchy), np.bool_), problem.capacity + self.overspend
        offsets, predecessors = problem.hierarchy.predecessors
        for r in range(selected.size):
            ready = self.orphans or selected[predecessors[offsets[r] : offsets[r + 1]]].all()
            if ready and problem.cost[r] <= left:
                selected[r] = True
                left -= problem.cost[r]
        if self.forgetful and np.random.default_rng().random() < 0.5:
            selected[:] = False
        return Solution(selected, shortfall=self.shortfall)


def test_a_stranger_s_traversal_passes():
    check_traversal(Greedy(), instances=5)


@pytest.mark.unverified
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ({"overspend": 2.0}, "spent"),
        ({"orphans": True}, "without its predecessors"),
        ({"shortfall": 0.0}, "above the bound"),
        ({"forgetful": True}, "another answer"),
    ],
)
def test_mistakes_of_a_traversal_are_named_with_their_instance(mistake: dict[str, Any], message: str):
    with pytest.raises(CheckFailed, match=message) as caught:
        check_traversal(Greedy(**mistake))
    assert "seed" in caught.value.where


def test_what_a_traversal_is_not_made_for_is_left_out_by_name():
    with pytest.raises(CheckFailed, match="flat"):
        check_traversal(hra.Apportion(), kinds=["replace"], instances=3)


@pytest.mark.parametrize("kind", KINDS)
def test_our_hierarchies_pass(kind: str):
    for seed in range(10):
        check_hierarchy(case(kind, seed, 12)[0])


def test_mistakes_of_a_hierarchy_are_named():
    tree = Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 1, 1], attributes={"size": [1.0, np.nan, 1, 1, 1]})
    with pytest.raises(CheckFailed, match="'size' is not finite"):
        check_hierarchy(tree)
    parent = np.array([-1, 0, 0, 2, 1], np.int32)  # a child under another parent than the refinements say
    with pytest.raises(CheckFailed, match="is shown"):
        check_hierarchy(replace(tree, node={}, node_parent=parent))
    with pytest.raises(CheckFailed, match="behind"):
        check_hierarchy(replace(tree, node={}, edges=tree.edges[:, ::-1].copy()))


class Error(hra.ErrorMetric):
    """Errors by node, with one mistake."""

    def __init__(self, values: Any, mistake: str = ""):
        self.values, self.mistake, self.calls = np.asarray(values, float), mistake, 0

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        self.calls += self.mistake == "state"
        return self.values * context + self.calls

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return self.evaluate(hierarchy, context) * (-1 if self.mistake == "peak" else 1)


TREE = Hierarchy.tree([-1, 0, 0], [1, 1, 1])


def test_a_right_metric_passes_and_growing_errors_may_be_meant():
    check_metric(Error([4, 1, 1]), TREE, [0.0, 1.0])
    check_metric(Error([4, 9, 1]), TREE, [0.0], monotone=True)
    with pytest.warns(hra.errors.RepairWarning):
        check_metric(Error([4, 9, 1]), TREE, [1.0], monotone=False)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Error([4, 9, 1]), "not monotone"),
        (Error([4, 1]), "expected one number per node"),
        (Error([4, np.nan, 1]), "nan"),
        (Error([4, -1, 1]), "-1"),
        (Error([1e308, 0, 0], "large"), "too large"),
        (Error([4, 1, 1], "state"), "other values"),
        (Error([4, 1, 1], "peak"), "peak"),
    ],
)
def test_mistakes_of_a_metric_are_named_with_their_context(metric: Error, message: str):
    with pytest.raises(CheckFailed, match=message) as caught:
        check_metric(metric, TREE, [1.0])
    assert "context 0" in caught.value.where
