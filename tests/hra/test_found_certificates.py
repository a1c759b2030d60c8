"""False proofs and overruns that were once found: each instance with the answer that rational arithmetic gives."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.exact_batch import exact_solutions
from hra.errors import ArrayError, BudgetTooSmall, HraError, InfeasibleShares, MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.topology import Topology
from hra.traversals.base import Traversal
from tests.helpers.allocators import Plain, Table, allocate
from tests.helpers.instances import Given, Instance, NoMetric
from tests.helpers.rational import Exactly
from tests.helpers.traversals import TRAVERSALS


def gains(
    hierarchy: Hierarchy, values: Any, budget: float, traversal: Traversal | None = None, **facts: Any
) -> Allocation:
    return allocate(hierarchy, values, budget, traversal or hra.Exact(), "gain", **facts)


def test_a_fractional_base_leaves_a_whole_unit():
    tree = Hierarchy.tree([-1, 0], [0.9, 1.0], mode="add")
    found = gains(tree, [0, 1], 1.9)
    assert (found.gain, found.cost, found.upper_bound, found.status) == (1.0, 1.9, 1.0, "optimal")


@pytest.mark.parametrize("traversal", [hra.Hull(), hra.Exact(), hra.Hull(finish="none"), hra.Hull(spend_all=True)])
@pytest.mark.parametrize(
    ("cost", "total"), [([1e9, 0.1, 0.1, 0.1], 1e9 + 0.3), ([100, 6.37, 2.7], 109.07), ([0.1, 0.2, 0.3], 0.6)]
)
def test_a_budget_of_the_total_or_more_means_everything(traversal, cost, total):
    tree = Hierarchy.tree([-1] + [0] * (len(cost) - 1), cost, mode="add")
    assert tree.total_cost == total
    for budget in (np.inf, total, np.nextafter(total, np.inf), 2 * total, 1e300):
        found = gains(tree, np.ones(len(cost)), budget, traversal)
        assert found.selected.all()
        assert found.status == "optimal"
        assert found.cost == total


def test_two_decimals_and_an_infinite_budget_give_full_detail():
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(2, 12))
        parent = np.array([-1, *(int(rng.integers(i)) for i in range(1, size))])
        tree = Hierarchy.tree(parent, rng.integers(1, 10_000, size) / 100, mode="add")
        assert gains(tree, rng.random(size) + 0.1, np.inf, hra.Hull()).selected.all()


@pytest.mark.parametrize("name", [*TRAVERSALS])
def test_nothing_is_spent_beyond_a_budget_at_any_magnitude(name):
    nodes = Hierarchy.flat([0.5, 1e14, 1e14 + 4])
    found = gains(nodes, [1, 5, 9], 1e14, TRAVERSALS[name])
    assert found.cost <= 1e14
    assert not found.selected[2]


def test_the_best_within_a_large_budget_is_found_and_proven():
    nodes = Hierarchy.flat([0.5, 1e14, 1e14 + 4])
    found = gains(nodes, [1, 5, 9], 1e14)
    assert (found.gain, found.status) == (5.0, "optimal")
    assert gains(nodes, [1, 5, 9], 1e14 + 4).gain == 9.0
    assert gains(nodes, [1, 5, 9], 1e14 + 4.5).gain == 10.0


@pytest.mark.parametrize("name", [*TRAVERSALS, "level shares"])
def test_decimals_add_up_as_decimals(name):
    levels = hra.LevelShares(shares={1: 0.5}, level=None)
    traversal = levels if name == "level shares" else TRAVERSALS[name]
    tree = Hierarchy.tree([-1, 0, 0], [0.0, 0.1, 0.2], mode="add")
    found = gains(tree, [0, 1, 1], 0.3, traversal)
    assert found.cost == 0.3  # 0.1 + 0.2 in doubles is more
    assert found.gain == 2.0
    less = gains(tree, [0, 1, 1], np.nextafter(0.3, 0.0), traversal)
    assert less.cost <= 0.2
    assert Exactly.of(less.problem).spent(less.selected) <= Fraction(repr(float(np.nextafter(0.3, 0.0))))


def test_a_dominant_gain_hides_nothing():
    # 1e13 and 3, or 1e13 and 1.6: Hull may choose either, and what it misses is 1.4 of the 1.6 that remain at best.
    graph = Hierarchy.dag([1, 2, 1], [(0, 1), (0, 2)])
    best = gains(graph, [1e13, 3, 1.6], 3)
    assert (best.gain, best.residual, best.status) == (1e13 + 3, 1.6, "optimal")
    assert best.residual_gap <= 1e-12
    worse = Problem(graph, np.array([1e13, 3, 1.6]), 0.0, 3.0, "error", True, lambda: np.zeros(3))
    for traversal in TRAVERSALS.values():
        solution = traversal.solve(worse)
        found = Allocation(worse, solution, 0.0)
        missed = Fraction(3) - Fraction(found.gain) + Fraction(10**13)
        assert Fraction(found.shortfall) >= missed
        assert (found.status == "optimal") <= (missed == 0)


class Negative(Plain):
    """Returns a negative gain, as an overridden step can."""

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        gain = np.array(context, np.float64)
        return Problem(hierarchy, gain, 0.0, budget, "error", True, lambda: np.zeros(gain.size))


@pytest.mark.parametrize("bad", [-1.0, np.nan, -np.inf, -5e-324])
@pytest.mark.parametrize("name", [*TRAVERSALS])
def test_negative_gains_of_an_overridden_step_are_refused(bad, name):
    graph = Hierarchy.dag([1, 1, 1], [(0, 2), (1, 2)])
    allocator = Negative(graph, Table(None, kind="gain"), TRAVERSALS[name])
    with pytest.raises(MetricError, match="refinement 2"):
        allocator.allocate([1.0, 1.0, bad], 2)
    with pytest.raises(MetricError, match="refinement 2"):
        hra.pool(allocator).allocate([[1.0, 1.0, bad]], 2)


@pytest.mark.parametrize("name", [*TRAVERSALS])
@pytest.mark.parametrize("large", [1e308, np.inf])
def test_gains_that_overflow_are_refused(name, large):
    tree = Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 1, 1, 1], mode="add")
    with pytest.raises(MetricError):
        gains(tree, np.full(7, large), 3, TRAVERSALS[name])


@pytest.mark.parametrize("batch", [hra.allocate_batch, exact_solutions])
def test_gains_that_overflow_are_refused_in_batches(batch):
    with pytest.raises(ArrayError, match="too large"):
        batch(Hierarchy.flat([1, 1, 1]), np.array([[1.0, 1.0, 1.0], [1e307, 9e306, 1.0]]), 2)


@pytest.mark.parametrize("name", [*TRAVERSALS])
def test_the_least_cost_that_there_is(name):
    nodes = Hierarchy.flat([5e-324, 1.0, 5e-324])
    found = gains(nodes, [1, 5, 2], 1.0, TRAVERSALS[name])
    assert np.isfinite([found.gain, found.gap, found.upper_bound]).all()
    assert Exactly.of(found.problem).spent(found.selected) <= 1
    alone = gains(Hierarchy.flat([5e-324, 5e-324]), [1, 2], 5e-324, TRAVERSALS[name])
    assert alone.gain == (1.0 if name == "hull-none" and not alone.selected[1] else 2.0) or name == "hull-none"
    assert alone.cost <= 5e-324
    assert gains(Hierarchy.flat([5e-324, 5e-324]), [1, 2], 1.0, TRAVERSALS[name]).gain == 3.0


def test_needs_that_cannot_be_met_are_refused_at_any_budget():
    tree = Hierarchy.tree([-1, 0, 0], [1.0, 1.0, 1.0], mode="add")
    for budget in (3.0, np.inf):
        with pytest.raises(InfeasibleShares):
            gains(tree, [0, 1, 1], budget, hra.LevelShares(least={1: 5.0}, level=None))


def test_a_split_that_costs_nothing_in_decimals_is_none_that_saves():
    tree = Hierarchy.tree([-1, 0, 0], [0.8, 0.7, 0.1])  # in doubles 0.7 + 0.1 is less than 0.8
    found = gains(tree, [0, 1, 1], 0.8)
    assert not tree.shrinks
    assert (found.cost, found.gain, found.status) == (0.8, 2.0, "optimal")


def test_pinned_nodes_come_before_the_limit_on_changes():
    nodes = Hierarchy.flat([1, 1, 1, 1])
    allocator = Plain(nodes, Table(None, kind="gain"), hra.Coherent(max_churn=1))
    first = allocator.allocate([4.0, 3.0, 0.0, 0.0], 2)
    second = allocator.allocate([4.0, 3.0, 0.0, 9.0], 2, previous=first, pinned=[2, 3])
    assert second.selected.tolist() == [False, False, True, True]  # budget, pinned nodes, then the limit on changes
    assert second.churn == 4


def test_a_refinement_that_saves_bytes_is_taken_with_its_proof():
    # Finer nodes that take 204 bytes less than the coarse one that they replace.
    tree = Hierarchy.tree([-1, 0, 0, 1], [1000.0, 500.0, 296.0, 900.0])
    found = gains(tree, [0, 1, 1, 5], 1000)
    assert tree.shrinks
    assert (found.selected.tolist(), found.cost, found.status) == ([True, False], 796.0, "optimal")
    both = gains(tree, [0, 1, 1, 5], 1200)
    assert (both.cost, both.gain, both.status) == (1196.0, 7.0, "optimal")
    assert hra.verify(both).ok


def test_a_budget_below_a_base_that_shrinks_later_is_still_too_small():
    tree = Hierarchy.tree([-1, 0], [10.0, 5.0])
    with pytest.raises(HraError, match="coarsest"):
        gains(tree, [0, 1], 7)


@pytest.mark.parametrize("gain", [[0, 0, 0, 0, 0, 0, 1.0], [1.0, 0, 0, 0, 0, 0, 0]])
def test_a_search_ends_where_nothing_fits_at_any_price(gain):
    """Costs without a common unit, rounded up, may leave nothing for refinements: then the price is infinite."""
    cost = [1e-20] * 5 + [20.0, 1e-11, 10620.98346551015, 1e11, 1.0466927876119424e-07, 1687427297.66, 0.01945592535]
    added, removed = [-1, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6], [0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, -1]
    chain = Topology(7, np.array(added), np.array(removed), np.array([(i, i + 1) for i in range(6)]))
    hierarchy = Hierarchy.from_topology(np.array(cost), chain)
    problem = Problem(hierarchy, np.array(gain), 0.0, 2e-20, "gain", True, lambda: np.zeros(7))
    found = Allocation(problem, hra.Exact().solve(problem), 0.0)
    assert found.gain == gain[0] and found.status == "optimal" and not found.selected[1:].any()
    assert hra.verify(found).ok
    (solution,) = exact_solutions(hierarchy, np.array([gain]), 2e-20)
    assert np.array_equal(solution.selected, found.selected)


def test_what_saves_is_told_apart_from_what_costs_a_little_without_rounding():
    """Three swaps of 0.1, 1e14 and 1e-9 cost 1e-9 together, which no common unit shows."""
    added, removed = np.array([-1, -1, 0, 1, 2]), np.array([0, 0, 1, 2, -1])
    swaps = Topology(3, added, removed, np.array([(0, 1), (1, 2)]))
    hierarchy = Hierarchy.from_topology(np.array([0, 0, 0.1, 1e14, 1e-9]), swaps)
    for budget, taken in ((0.0, False), (1e-9, True)):
        problem = Problem(hierarchy, np.ones(3), 0.0, budget, "gain", True, lambda: np.zeros(3))
        for traversal in (hra.Exact(), hra.Hull()):
            found = Allocation(problem, traversal.solve(problem), 0.0)
            assert found.selected.all() == found.selected.any() == taken
            assert hra.verify(found).ok


@pytest.mark.parametrize("name", [*TRAVERSALS])
def test_a_price_at_which_costs_overflow_proves_nothing(name):
    """Ten units that are saved again but for 4e-232 of them: their price times their cost is beyond all doubles."""
    added, removed = np.array([-1, -1, 0, 1, 2, 3, 4, 5, 6]), np.array([0, 0, 1, 2, 3, 4, 5, 6, -1])
    chain = Topology(7, added, removed, np.array([(i, i + 1) for i in range(6)]))
    hierarchy = Hierarchy.from_topology(np.array([0, 0, 0, 0, 0, 0, 0, 10, 3.84775987e-232]), chain)
    problem = Problem(hierarchy, np.array([1e-300] * 6 + [1e76]), 0.0, 0.0, "gain", True, lambda: np.ones(7))
    found = Allocation(problem, TRAVERSALS[name].solve(problem), 0.0)
    best = Exactly.of(problem).best()
    assert best is not None
    assert best <= Fraction(found.upper_bound)
    assert hra.verify(found).ok


@pytest.mark.parametrize("name", [*TRAVERSALS])
def test_free_refinements_count_beside_the_largest_gains(name):
    """At a price of 2e300, which cannot be split into two halves, what costs nothing was not a number."""
    added = np.array([0, 1, 2, 3, 6, 4, 5])
    free = Topology(7, added, np.full(7, -1), np.array([(0, 6)]))
    hierarchy = Hierarchy.from_topology(np.array([0.0, 0, 0, 0, 1, 0, 0]), free)
    problem = Problem(hierarchy, np.array([1e-300] * 6 + [2e300]), 0.0, 0.0, "gain", True, lambda: np.ones(7))
    found = Allocation(problem, TRAVERSALS[name].solve(problem), 0.0)
    best = Exactly.of(problem).best()
    assert best is not None
    assert best <= Fraction(found.upper_bound)
    assert hra.verify(found).ok


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("name", ["Exact", "Hull"])
def test_a_search_takes_nothing_without_its_predecessors_where_prices_overflow(name):
    removed = np.array([-1, -1, -1, 7, -1, -1, -1, -1, -1])
    graph = Topology(8, np.array([0, 1, 2, 3, 4, 5, 6, 7, -1]), removed, np.array([(0, 7), (3, 7)]))
    hierarchy = Hierarchy.from_topology(np.array([0, 0, 0, 1.09951163e12, 0, 0, 0, 0.1, 0]), graph)
    problem = Problem(hierarchy, np.array([1e-300] * 7 + [1e296]), 0.0, 0.0, "gain", True, lambda: np.ones(8))
    found = Allocation(problem, getattr(hra, name)().solve(problem), 0.0)
    best = Exactly.of(problem).best()
    assert best is not None
    assert best <= Fraction(found.upper_bound)
    assert hra.verify(found).ok


def test_lazy_roots_are_paid_in_the_numbers_that_lazy_costs_count_as():
    """Doubles of which the budget covers the sum, while the decimals that they print as add up to more."""

    class Roots(hra.LazyHierarchy):
        def roots(self):
            return [0, 1]

        def expand(self, node):
            return []

        def cost(self, nodes):
            return np.array([5e-324, 4e-323])[nodes]

    class Nothing(hra.LazyMetric):
        def evaluate(self, nodes, context):
            return np.zeros(len(nodes))

    with pytest.raises(BudgetTooSmall, match="at least 5e-323"):
        hra.LazyBestFirst().allocate(Roots(), Nothing(), 4.4e-323)
    assert hra.LazyBestFirst().allocate(Roots(), Nothing(), 5e-323).cost <= 5e-323


def test_a_limit_on_changes_gives_way_where_only_additions_make_room():
    """What was there costs 1 of 0; only the addition that removes its node would bring it back within the budget."""
    removed = np.array([4, -1, -1, -1, -1, -1, -1, -1])
    edges = np.array([(p, r) for r in (4, 5, 6) for p in (0, 1, 2) if (p, r) != (2, 4)])
    graph = Topology(7, np.array([0, 1, 2, 3, 4, 5, 6, -1]), removed, edges)
    hierarchy = Hierarchy.from_topology(np.array([1.0, 0, 0, 0, 0, 0, 0, 0]), graph)
    before = np.arange(7) == 0
    problem = Problem(
        hierarchy, np.array([0.0] * 6 + [1.0]), 0.0, 0.0, "gain", True, lambda: np.ones(7), previous=before
    )
    found = Allocation(problem, hra.Coherent(max_churn=2).solve(problem), 0.0)
    assert (found.cost, found.gain) == (0.0, 1.0)


def test_minimum_shares_count_the_budget_as_costs_count():
    """A quarter of four thirds is one node of a third, though the decimals that they print as say a little more."""
    tree = Hierarchy.tree([-1] + [0] * 6, [1 / 3] * 7, mode="add", attributes={"level": np.array([0] + [1] * 6)})
    found = gains(tree, [0.0] + [1.0] * 6, 4 * (1 / 3), hra.LevelShares(shares={0: 0.25}, level="level"))
    assert (found.gain, found.upper_bound) == (3.0, 3.0)


def test_limited_pools_keep_their_budget_where_members_count_in_other_numbers():
    """Three tenths are 0.3 as decimals, and more than the double 0.3 beside a cost that shares no unit with them."""
    graph = Topology(3, np.arange(3), np.full(3, -1), np.array([(0, 2), (1, 2)]))
    tenths = Hierarchy.from_topology(np.full(3, 0.1), graph)
    tiny = Hierarchy.from_topology(
        np.array([1e-30]), Topology(1, np.array([0]), np.array([-1]), np.zeros((0, 2), np.int64))
    )
    tables = (tenths, [0, 0, 1.0]), (tiny, [1.0])
    members = [Plain(hierarchy, Table(values, kind="gain"), hra.Hull()) for hierarchy, values in tables]
    found = hra.pool(*members, limits=[(None, None), (None, 0.0)]).allocate([None, None], 0.3)
    assert found.whole.cost <= 0.3
    assert hra.verify(found.whole).ok


def test_limited_pools_reserve_what_members_cost_before_they_shrink():
    """A first step that makes room is not taken yet when another member is held at its limit."""
    shrinks = Hierarchy.from_topology(
        np.array([0.75, 0, 0, 0]),
        Topology(1, np.array([-1, -1, 0, 0]), np.array([0, -1, -1, -1]), np.zeros((0, 2), np.int64)),
    )
    one_after_another = Topology(3, np.arange(3), np.full(3, -1), np.array([(0, 2)]))
    chain = Hierarchy.from_topology(np.array([0.5, 0, 0.375]), one_after_another)
    apart = Topology(3, np.arange(3), np.full(3, -1), np.zeros((0, 2), np.int64))
    flat = Hierarchy.from_topology(np.array([0, 0.375, 0.375]), apart)
    tables = (shrinks, [0.0]), (chain, [0, 0, 1.0]), (flat, [1e-300] * 3)
    instances = [Instance(hierarchy, np.array(values), np.inf) for hierarchy, values in tables]
    members = [Given(instance.hierarchy, NoMetric(), hra.Hull()) for instance in instances]
    found = hra.pool(*members, limits=[(None, None), (None, None), (None, 0.4)]).allocate(instances, 0.75)
    assert found.whole.cost <= 0.75
    assert found.members[2].cost <= 0.4
    assert hra.verify(found.whole).ok


def test_budgets_count_alike_before_and_after_what_shrinks_is_joined():
    """Beside 1e14, a cost of 123456.889 counts as doubles, also where a step that makes room takes the 1e14 away."""
    cost = np.array([0, 123456.789, 0, 1e14, 0, 0, 0.1, 0])
    added_by, removed_by = np.array([-1, 0, 0, 1, 0, 0, 0, 2]), np.array([0, -1, 1, 2, -1, -1, -1, -1])
    instance = Instance(Hierarchy.groups(cost, added_by=added_by, removed_by=removed_by), np.zeros(3), 123456.889)
    for traversal in (hra.Hull(spend_all=True), hra.Exact(max_states=6, spend_all=True)):
        found = instance.allocate(traversal)
        assert found.cost <= 123456.889
        assert hra.verify(found).ok


def test_what_makes_room_beside_something_pinned_is_taken():
    """Node 7 is pinned, and with it what follows and gives 0.01 back: without that the rest would not fit."""
    cost = np.array([4.99, 0, 0, 0.01, 0, 0, 0, 5, 0.01, 0])
    added_by, removed_by = np.array([-1, 0, -1, 1, 3, 5, 2, 4, 6, 7]), np.array([5, 2, -1, 7, 6, -1, -1, -1, -1, -1])
    edges = np.array([(0, 1), (0, 2), (1, 3), (1, 4), (3, 5), (3, 6), (4, 7)])
    graph = Hierarchy.from_topology(cost, Topology(8, added_by, removed_by, edges))
    instance = Instance(graph, np.array([1e13] * 7 + [0]), 5.01, pinned=(5, 7))
    for traversal in (hra.Hull(), hra.Exact(), hra.BestFirst(), hra.Coherent()):
        found = instance.allocate(traversal)
        assert found.cost <= 5.01
        assert found.gain == found.upper_bound
        assert hra.verify(found).ok


def test_minimum_shares_are_not_given_up_where_the_base_uses_the_budget_up():
    """A tenth for level 1 costs more than is left: without a common unit the base alone was the answer."""
    cost = np.array([9.999999999999999e-06, 9.999999999999999e-06, 1e10, 1e10] + [1e-20] * 17)
    chain = Instance(Hierarchy.tree(np.arange(-1, 20), cost, mode="add"), np.zeros(20), cost[0])
    with pytest.raises(InfeasibleShares, match="levels 0, 1"):
        chain.allocate(hra.LevelShares(shares={0: 0.1, 1: 0.1}, level=None))
    assert chain.allocate(hra.LevelShares(shares={0: 0.1}, level=None)).cost <= cost[0]
