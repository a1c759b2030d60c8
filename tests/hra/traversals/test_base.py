from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import hra
from hra.errors import HraError, MetricError
from tests.helpers.allocators import Plain, Table

COSTS = {"whole": [5, 1, 1, 1, 1], "no common unit": [0.1234567890123456, 1 / 3, 1 / 7, 1 / 11, 1 / 13]}
COSTS["less than nothing"] = [5, 1, 1, 0.2, 0.2]


@dataclass(frozen=True)
class Answers(hra.Traversal):
    """Takes nothing, as what it is told, with what it is told to state."""

    how: Any = np.asarray
    price: Any = None
    share: Any = None

    def select(self, problem):
        return hra.Solution(self.how(np.zeros(problem.gain.size, bool)), self.price, share=self.share)


def solved(traversal: hra.Traversal, costs: list[float]) -> hra.Allocation:
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], costs)
    return hra.solve(tree, tree.largest_cost, errors=[9.0, 4.0, 1.0, 1.0, 1.0], traversal=traversal)


class Everything(hra.Traversal):
    def select(self, problem):
        assert (problem.cost >= 0).all()
        taken, parent = np.zeros(problem.gain.size, bool), problem.hierarchy.parent
        assert parent is not None
        for r in range(taken.size):
            taken[r] = problem.cost[: r + 1][taken[: r + 1]].sum() + problem.cost[r] <= problem.capacity and (
                parent[r] < 0 or taken[parent[r]]
            )
        return hra.Solution(taken)


def test_refinements_that_save_are_joined_before_a_strategy_sees_them():
    saving = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [5, 4, 4, 1, 1])
    allocation = hra.solve(saving, budget=8, errors=[9.0, 4.0, 1.0, 1.0, 1.0], traversal=Everything())
    assert allocation.cost <= 8
    assert saving.is_valid(allocation.selected)


def test_costs_without_a_common_unit_are_within_the_budget():
    costs = np.random.default_rng(0).random(12)
    allocation = hra.solve(hra.Hierarchy.flat(costs), budget=2.5, gains=np.ones(12), traversal=Everything())
    assert sum(map(float, costs[allocation.cut])) <= 2.5


def test_a_strategy_without_select_cannot_be_made():
    with pytest.raises(TypeError, match="select"):
        type("Nothing", (hra.Traversal,), {})()


@pytest.mark.parametrize("how", [list, np.flatnonzero, np.uint8, lambda taken: np.append(taken, False)])
@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_what_is_not_one_bool_per_refinement_is_refused_by_name(how, costs):
    with pytest.raises(HraError, match="one bool per refinement") as caught:
        solved(Answers(how), costs)
    assert caught.value.where == "Answers.select"


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_a_price_is_any_number_and_nothing_else(costs):
    stated = solved(Answers(price=np.float32(0.25)), costs), solved(Answers(price=0.25), costs)
    assert len({(one.price, one.upper_bound) for one in stated}) == 1
    with pytest.raises(HraError, match="price must be a float"):
        solved(Answers(price="1"), costs)


def test_shares_are_one_for_each_edge():
    both = hra.Hierarchy.dag([1, 1, 1], [[0, 2], [1, 2]])
    given = {"gains": [1.0, 1.0, 5.0], "budget": 3}
    as_list = hra.solve(both, **given, traversal=Answers(price=1.0, share=[0.5, 0.5]))
    assert as_list.upper_bound == hra.solve(both, **given, traversal=hra.Exact()).gain
    with pytest.raises(HraError, match="share has 1 values, expected 2"):
        hra.solve(both, **given, traversal=Answers(price=1.0, share=[0.5]))


@pytest.mark.parametrize("made", [list, np.float32, np.float16, lambda gain: gain.astype(">f8"), np.int64])
@pytest.mark.parametrize("traversal", [hra.Hull(), hra.BestFirst(), hra.Exact()])
def test_gains_of_a_problem_of_ones_own_are_numbers_of_any_kind(made, traversal):
    class Own(Plain):
        def problem_for(self, hierarchy, context, budget):
            plain = super().problem_for(hierarchy, context, budget)
            return hra.Problem(hierarchy, made(plain.gain), 0.0, budget, "error", True, plain.refinement_peak)

    tree, metric = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], np.ones(7)), Table([8, 4, 2, 1, 1, 0, 0])
    found = Own(tree, metric, traversal).allocate(None, 3)
    assert found.selected.tolist() == Plain(tree, metric, traversal).allocate(None, 3).selected.tolist()
    assert found.problem.gain.dtype == np.float64


def test_gains_that_are_no_numbers_are_refused():
    plain = hra.solve(hra.Hierarchy.flat([1, 1]), 1, gains=[1, 2]).problem
    with pytest.raises(HraError, match="gains are numbers"):
        hra.Problem(plain.hierarchy, np.array(["1", "2"]), 0.0, 1, "error", True, plain.refinement_peak)


NEVER = [
    {"price": -1.0},
    {"price": np.nan},
    {"tau": "1"},
    {"tau": np.nan},
    {"shortfall": -1.0},
    {"shortfall": np.nan},
    {"shortfall": np.inf},
    {"shortfall": np.ones(1)},
    {"upper_bound": "9"},
    {"upper_bound": np.nan},
    {"upper_bound": 1.5},
    {"restricted": "no"},
    {"price": 1.0, "share": np.array([-5.0, 1.0])},
    {"price": 1.0, "share": np.array([0.5, np.nan])},
]


@dataclass(frozen=True)
class Stating(hra.Traversal):
    """Takes the first refinement, and states something of it."""

    what: Any

    def select(self, problem):
        return hra.Solution(np.array([True, False, False]), **self.what)


@pytest.mark.parametrize("what", NEVER, ids=repr)
def test_what_cannot_be_true_of_a_choice_is_refused(what):
    both = hra.Hierarchy.dag([1, 1, 1], [[0, 2], [1, 2]])
    with pytest.raises(HraError) as caught:
        hra.solve(both, 1, gains=[2.0, 1.0, 5.0], traversal=Stating(what))
    assert caught.value.fix

    class Own(Plain):
        def traverse_and_select(self, problem):
            return Stating(what).select(problem)

    with pytest.raises(HraError) as caught:
        Own(both, Table(kind="gain"), hra.Hull()).allocate([2.0, 1.0, 5.0], 1)
    assert caught.value.fix


@pytest.mark.parametrize(
    "change",
    [
        {"budget": 3.0},
        {"budget": np.nan},
        {"least_error": -1.0},
        {"least_error": "0"},
        {"additive": "no"},
        {"unit": None},
        {"pinned": np.array([False, True, False])},
        {"pinned": [True, False, False]},
        {"previous": np.ones(2, bool)},
        {"hierarchy": None},
    ],
    ids=repr,
)
def test_a_problem_of_ones_own_that_cannot_be_one_is_refused(change):
    class Own(Plain):
        def problem_for(self, hierarchy, context, budget):
            return replace(super().problem_for(hierarchy, context, budget), **change)

    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], np.ones(7))
    with pytest.raises(HraError):
        Own(tree, Table([8, 4, 2, 1, 1, 0, 0]), hra.Hull()).allocate(None, 2)


@pytest.mark.parametrize("step", ["hierarchy_for", "problem_for"])
def test_steps_of_ones_own_that_return_something_else_are_named(step):
    tree, metric = hra.Hierarchy.tree([-1, 0, 0], np.ones(3)), Table([8, 4, 2])
    own = type("Own", (Plain,), {step: lambda *given: None})(tree, metric, hra.Hull())
    for call in (lambda: own.allocate(None, 2), lambda: hra.pool(own).allocate([None], 2)):
        with pytest.raises(HraError, match=f"what {step} returns"):
            call()


@pytest.mark.parametrize("fact", [{"additive": "no"}, {"additive": None}, {"unit": None}, {"kind": "errors"}], ids=repr)
def test_what_a_metric_says_of_itself_is_checked(fact):
    with pytest.raises(MetricError, match=next(iter(fact))):
        hra.Problem.of(hra.Hierarchy.tree([-1, 0, 0], np.ones(3)), Table([8, 4, 2], **fact), None, 2.0)


class Marks(hra.Traversal):
    """Takes the best that is ready, and marks what it looked at in the arrays that it was given."""

    def select(self, problem):
        taken, order = np.zeros(problem.gain.size, bool), np.argsort(-problem.gain)
        parent = np.asarray(problem.hierarchy.parent)
        for r in order:
            problem.gain[r] = problem.ratio[r] = problem.attainable_gain[r] = problem.peak[r] = 0
            fits = problem.cost[taken].sum() + problem.cost[r] <= problem.capacity
            taken[r] = fits and (parent[r] < 0 or taken[parent[r]])
        return hra.Solution(taken)


class Marking(Plain):
    """The same as a step of an allocator."""

    def traverse_and_select(self, problem):
        return Marks().select(problem)


@pytest.mark.parametrize("step", ["traversal", "allocator"])
def test_what_a_strategy_writes_to_its_arrays_proves_nothing(step):
    tree, errors = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], np.ones(7)), [9.0, 4, 3, 1, 1, 1, 1]
    if step == "traversal":
        allocation = hra.solve(tree, 3, errors=errors, traversal=Marks())
    else:
        allocation = Marking(tree, Table(np.array(errors))).allocate(None, 3)
    assert (allocation.gain, allocation.residual, allocation.base_error) == (4, 5, 9)
    assert allocation.upper_bound >= 4 and allocation.max_error == 3 and not hra.verify(allocation).refuted
