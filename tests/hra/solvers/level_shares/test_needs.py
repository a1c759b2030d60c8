from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, vstack

import hra
from hra.errors import InfeasibleShares
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.solvers.level_shares.dual import closures_of, least_bound
from hra.solvers.level_shares.enumeration import first_found
from hra.solvers.level_shares.needs import Needs, node_levels
from hra.solvers.level_shares.search import mend_shares
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, KINDS, case, random_groups
from tests.helpers.level_shares_cases import amounts, asked, kinds, seeds, walked_levels
from tests.helpers.references import bound_of


@kinds
@given(seed=seeds)
def test_enumeration_finds_a_set_if_there_is_one(kind, seed):
    problem, least, _, meets = asked(seed, kind)
    needs = Needs.of(problem, None, {}, least)
    selected, finished = first_found(problem, needs)
    assert finished
    assert (selected is not None) == bool(meets.any())
    if selected is not None:
        assert problem.hierarchy.is_valid(selected) and needs.met_by(selected)


@kinds
@given(seed=seeds)
def test_local_search_never_leaves_what_is_met(kind, seed):
    problem, least, sets, meets = asked(seed, kind)
    needs = Needs.of(problem, None, {}, least)
    for start in sets[meets][:5]:
        selected = mend_shares(problem, needs, problem.gain, start, spend_all=bool(seed % 2))
        assert problem.hierarchy.is_valid(selected) and needs.met_by(selected)
        assert seed % 2 or selected @ problem.gain >= start @ problem.gain


@kinds
@given(seed=seeds, penalty=st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_dual_bounds_every_set_that_meets_the_needs_whatever_its_prices(kind, seed, penalty):
    problem, least, sets, meets = asked(seed, kind)
    needs = Needs.of(problem, None, {}, least)
    dual = least_bound(closures_of(problem.hierarchy), problem.gain, needs, penalty)
    assert (dual.prices >= 0).all()
    assert all(problem.hierarchy.is_valid(selected) for selected in dual.sets)
    best = (sets[meets] @ problem.gain).max(initial=-np.inf)
    assert best <= dual.bound + 1e-9 * max(1.0, abs(dual.bound))


def program(problem: Problem, least: dict[int, float], whole: bool) -> float:
    """The most gain within the budget and above the minimums, of whole refinements or of parts of them, by HiGHS."""
    hierarchy, edges, level = problem.hierarchy, problem.hierarchy.edges, walked_levels(problem.hierarchy)
    row = np.arange(len(edges))
    signs = np.r_[np.ones(len(edges)), -np.ones(len(edges))]
    order = coo_array((signs, (np.r_[row, row], np.r_[edges[:, 1], edges[:, 0]])), shape=(len(edges), len(hierarchy)))
    rows, limits = [hierarchy.cost], [problem.capacity]
    for label, amount in least.items():
        here = np.where(level == label, hierarchy.node_cost, 0.0)
        change = np.zeros(len(hierarchy))
        np.add.at(change, hierarchy.added_by[hierarchy.added_by >= 0], here[hierarchy.added_by >= 0])
        np.subtract.at(change, hierarchy.removed_by[hierarchy.removed_by >= 0], here[hierarchy.removed_by >= 0])
        rows.append(-change)
        limits.append(here[hierarchy.added_by < 0].sum() - amount)
    table = vstack([order, coo_array(np.array(rows))])
    constraint = LinearConstraint(table, -np.inf, np.r_[np.zeros(len(edges)), limits])
    integrality = np.full(len(hierarchy), int(whole))
    result = milp(-problem.gain, constraints=constraint, integrality=integrality, bounds=Bounds(0, 1))
    if not result.success:
        raise RuntimeError(result.message)
    return -float(result.fun)


def large(kind: str, rng: np.random.Generator) -> Hierarchy:
    """A few hundred refinements."""
    if kind == "chains":
        lengths = rng.integers(2, 6, 70)
        return Hierarchy.chains(lengths, rng.integers(1, 9, lengths.sum()))
    if kind == "dag":
        return Hierarchy.dag(rng.integers(1, 6, 200), np.argwhere(np.triu(rng.random((200, 200)) < 0.01, 1)))
    if kind == "groups":
        return random_groups(rng, 200)
    parent = np.r_[-1, (np.arange(340)) // 4]
    if kind == "flat":
        return Hierarchy.flat(rng.integers(1, 9, 250))
    return Hierarchy.tree(parent, np.ones(341), mode=kind, order=rng.random(341) if kind == "child" else None)  # pyright: ignore[reportArgumentType]


def wished(kind: str, seed: int) -> tuple[Problem, dict[int, float]]:
    """A large problem, and minimums that what another metric would choose meets."""
    rng = np.random.default_rng(seed)
    hierarchy = large(kind, rng)
    level, size = walked_levels(hierarchy), hierarchy.node_cost.size
    budget = float(int(hierarchy.base_cost + rng.uniform(0.1, 0.6) * hierarchy.cost.sum()))
    problem = problem_of(hierarchy, rng.random(size) ** 3, "gain", budget)
    other = np.exp(rng.normal(0, 1, level.max() + 1))[level] * rng.random(size) ** 3
    met = hra.Hull().solve(problem_of(hierarchy, other, "gain", budget)).selected
    labels = rng.choice(np.unique(level), min(3, int(level.max()) + 1), replace=False).tolist()
    return problem, dict(zip(labels, amounts(hierarchy, met[None], level, labels)[0].tolist(), strict=True))


@kinds
def test_bound_and_gain_are_close_to_the_integer_program(kind):
    above, below = [], []
    for seed in range(4):
        problem, least = wished(kind, seed)
        solution, best = hra.LevelShares(least=least, level=None).solve(problem), program(problem, least, True)
        bound = bound_of(problem, solution)
        assert bound >= best * (1 - 1e-6)
        if kind in FORESTS and not Needs.of(problem, None, {}, least).met_by(hra.Hull().solve(problem).selected):
            assert bound == pytest.approx(program(problem, least, False), rel=1e-3)
        above.append(bound / best - 1)
        below.append(1 - solution.selected @ problem.gain / best)
    assert np.mean(below) < (0.005 if kind in FORESTS else 0.05)
    assert np.mean(above) < (0.03 if kind in FORESTS else 0.3)


@pytest.mark.parametrize("kind", FORESTS)
def test_local_search_mends_what_the_hull_breaks(kind):
    mends = []
    for seed in range(8):
        problem, least = wished(kind, seed)
        needs, start = Needs.of(problem, None, {}, least), hra.Hull().solve(problem).selected
        if not needs.met_by(start):
            dual = least_bound(closures_of(problem.hierarchy), problem.gain, needs, 1e3)
            selected = mend_shares(problem, needs, problem.gain + needs.change @ dual.prices, start, spend_all=False)
            assert problem.hierarchy.is_valid(selected)
            mends.append(needs.met_by(selected))
    assert sum(mends) >= 0.6 * len(mends)
    assert mends or kind in ("replace", "flat")


@kinds
@given(seed=seeds)
def test_without_an_attribute_the_depth_counts(kind, seed):
    hierarchy, _, _ = case(kind, seed)
    assert node_levels(hierarchy, None).tolist() == walked_levels(hierarchy).tolist()


def test_the_depth_of_a_long_chain():
    assert node_levels(Hierarchy.chains([100_000], np.ones(100_000)), None)[-1] == 99_999


@pytest.mark.paths
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=40)
@example(seed=1356417)  # whose refinements cost less than nothing
def test_subnormal_costs_beside_large_ones_are_met(seed):
    """Needs of 2**52 units beside shares of 1: bases that rounding makes singular (seed 40) are left out."""
    rng, kind = np.random.default_rng(seed), list(KINDS)[seed % len(KINDS)]
    shape = case(kind, seed, 14)[0]
    cost = shape.node_cost * rng.choice([5e-324, 1e-323, 1e-310, 2.2e-308])
    if rng.integers(2):
        cost = cost * np.where(rng.random(cost.size) < 0.5, 1, rng.choice([1e10, 1e300, 1e16, 3]))
    hierarchy = Hierarchy.from_topology(cost, shape.topology, node_parent=shape.node_parent)
    chosen = np.zeros(len(hierarchy), bool)
    offsets, before = hierarchy.predecessors
    for r in range(len(hierarchy)):
        chosen[r] = chosen[before[offsets[r] : offsets[r + 1]]].all() and rng.random() < 0.6
    level, active = node_levels(hierarchy, None), hierarchy.active_nodes(chosen)
    budget, labels = max(hierarchy.cost_of(chosen), hierarchy.base_cost), rng.permutation(4)[:3].tolist()
    least = {k: float(hierarchy.node_cost[active & (level == k)].sum() * rng.choice([1, rng.random()])) for k in labels}
    gains = rng.random(cost.size) * rng.choice([1e-323, 1e-300, 1.0, 1e300])
    shares = hra.LevelShares({}, least=least, level=None, spend_all=bool(rng.integers(2)))
    try:
        found = hra.solve(hierarchy, budget, gains=gains, traversal=shares)
    except InfeasibleShares:  # a sum of doubles may ask for more than the set has
        return
    assert found.cost <= budget and found.gain <= found.upper_bound
    have = {k: hierarchy.node_cost[hierarchy.active_nodes(found.selected) & (level == k)].sum() for k in labels}
    assert all(have[k] >= least[k] * (1 - 1e-9) for k in labels)
