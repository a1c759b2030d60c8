"""The soft cut against enumeration of all valid cuts, finite differences, HiGHS and its own hard cut."""

from __future__ import annotations

import doctest
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError, HraError, InvalidBudget
from hra.model.hierarchy import Hierarchy
from hra.testing.traversal import closed_sets
from hra.traversals import soft_cut as traversal
from hra.traversals.soft_cut import SoftCut
from tests.helpers.allocators import Plain, Table, allocate, problem_of
from tests.helpers.hierarchies import FORESTS, KINDS, case, random_groups, random_parents
from tests.helpers.references import best_gain, linear_bound

torch = pytest.importorskip("torch")

from hra.solvers.soft.forest import SoftForest  # noqa: E402

seeds = st.integers(0, 2**32 - 1)
forests = pytest.mark.parametrize("kind", FORESTS)


def soft_case(kind: str, seed: int, batch: tuple[int, ...] = (), dtype=torch.float64):
    """A hierarchy, gains of both signs, a budget that leaves something to spend, a temperature."""
    hierarchy, _, rng = case(kind, seed)
    gain = torch.tensor(rng.normal(0.5, 1.0, (*batch, len(hierarchy))), dtype=dtype)
    budget = hierarchy.base_cost + hierarchy.cost.sum() * rng.uniform(0.05, 0.95)
    return hierarchy, gain, budget, float(10 ** rng.uniform(-1.5, 1))


def large_case(kind: str, seed: int, batch: tuple[int, ...] = ()):
    """A hierarchy of at least four refinements, gains of both signs, and the generator."""
    rng = np.random.default_rng(seed)
    hierarchy = KINDS[kind](rng, 10)
    while len(hierarchy) < 4:
        hierarchy = KINDS[kind](rng, 10)
    return hierarchy, torch.tensor(rng.normal(0.5, 1.0, (*batch, len(hierarchy)))), rng


def gibbs(hierarchy: Hierarchy, gain: np.ndarray, price: float, temperature: float):
    """All valid sets, their probabilities and the log-partition, by enumeration."""
    sets = closed_sets(hierarchy)
    energy = (sets @ gain - price * (sets @ hierarchy.cost)) / temperature
    log_partition = float(np.logaddexp.reduce(energy))
    return sets, np.exp(energy - log_partition), log_partition


def complete_tree(levels: int) -> Hierarchy:
    """A quadtree of refinements that cost 3 each."""
    size = sum(4**level for level in range(levels + 1))
    return Hierarchy.tree((np.arange(size) - 1) // 4, np.ones(size))


# ---- the distribution ---------------------------------------------------------------------------------------------


@forests
@given(seed=seeds)
def test_probabilities_and_partition_are_those_of_the_enumerated_distribution(kind, seed):
    hierarchy, gain, budget, temperature = soft_case(kind, seed)
    found = SoftCut(temperature).distribution(hierarchy, gain, budget)
    sets, weight, log_partition = gibbs(hierarchy, gain.numpy(), float(found.price), temperature)
    np.testing.assert_allclose(found.probabilities.numpy(), weight @ sets, rtol=1e-9, atol=1e-14)
    assert float(found.log_partition) == pytest.approx(log_partition, rel=1e-11, abs=1e-11)


@forests
@given(seed=seeds)
def test_the_expected_cost_is_the_capacity_or_the_price_is_zero(kind, seed):
    hierarchy, gain, budget, temperature = soft_case(kind, seed, batch=(3,))
    found = SoftCut(temperature).distribution(hierarchy, gain, budget)
    expected = found.probabilities @ torch.tensor(hierarchy.cost, dtype=torch.float64)
    capacity = budget - hierarchy.base_cost
    assert (found.price >= 0).all()
    assert (expected <= capacity * (1 + 1e-9)).all()
    assert ((found.price == 0) | (expected >= capacity * (1 - 1e-9))).all()


@pytest.mark.parametrize("temperature", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("share", [0.001, 0.1, 0.6])
def test_the_expected_cost_is_met_on_large_trees_and_heavy_tails(temperature, share):
    hierarchy, rng = complete_tree(6), np.random.default_rng(1)
    gain = torch.tensor(rng.pareto(1.1, (4, len(hierarchy))), dtype=torch.float32)
    found = SoftCut(temperature).distribution(hierarchy, gain, hierarchy.base_cost + share * hierarchy.cost.sum())
    expected = found.probabilities.double() @ torch.tensor(hierarchy.cost, dtype=torch.float64)
    assert (found.price > 0).all()
    np.testing.assert_allclose(expected.numpy(), share * hierarchy.cost.sum(), rtol=1e-6)


@forests
@given(seed=seeds)
def test_probabilities_fall_along_every_path(kind, seed):
    hierarchy, gain, budget, temperature = soft_case(kind, seed, batch=(2,), dtype=torch.float32)
    found = SoftCut(temperature).probabilities(hierarchy, gain, budget)
    before, after = hierarchy.edges.T.tolist()
    assert (found[:, after] <= found[:, before]).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert found.dtype == torch.float32


@given(seed=seeds)
def test_a_batch_gives_what_its_members_give(seed):
    hierarchy, gain, budget, temperature = soft_case("replace", seed, batch=(2, 2))
    share = torch.linspace(0.3, 1.0, 4, dtype=torch.float64).reshape(2, 2)
    budgets = hierarchy.base_cost + share * (budget - hierarchy.base_cost)
    together = SoftCut(temperature).distribution(hierarchy, gain, budgets)
    for i, j in np.ndindex(2, 2):
        alone = SoftCut(temperature).distribution(hierarchy, gain[i, j], budgets[i, j])
        torch.testing.assert_close(together.probabilities[i, j], alone.probabilities, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(together.price[i, j], alone.price, rtol=1e-9, atol=1e-12)
        assert torch.equal(together.hard()[i, j], alone.hard())


def test_parents_in_any_order_keep_the_callers_numbers():
    rng = np.random.default_rng(5)
    parent, cost, gain = random_parents(rng, 9), rng.integers(1, 5, 9), rng.normal(size=9)
    found = SoftCut(0.7).distribution(SoftForest.of_parents(parent, cost), torch.tensor(gain), cost.sum() / 3)
    sets = (np.arange(2**9)[:, None] >> np.arange(9) & 1).astype(bool)
    for child in np.flatnonzero(parent >= 0):
        sets = sets[~sets[:, child] | sets[:, parent[child]]]
    weight = np.exp(sets @ (gain - float(found.price) * cost) / 0.7)
    np.testing.assert_allclose(found.probabilities.numpy(), weight @ sets / weight.sum(), rtol=1e-9)
    assert float(found.probabilities @ torch.tensor(cost, dtype=torch.float64)) == pytest.approx(cost.sum() / 3)
    for cut in (found.hard(), *found.sample(50, torch.Generator().manual_seed(0))):
        assert all(cut[parent[child]] for child in np.flatnonzero(cut.numpy()) if parent[child] >= 0)


# ---- limits -------------------------------------------------------------------------------------------------------


@forests
@given(seed=seeds)
def test_the_smooth_bound_approaches_the_linear_bound_from_above(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 1))
    problem = problem_of(hierarchy, values, "gain", budget)
    bound = linear_bound(problem)
    # The problem knows which part of the budget whole refinements can use; the soft cut would spend it all.
    usable = hierarchy.base_cost + problem.capacity
    for temperature in (1e-5, 0.1):
        found = SoftCut(temperature).distribution(hierarchy, torch.tensor(problem.gain, dtype=torch.float64), usable)
        smooth = temperature * float(found.log_partition) + float(found.price) * problem.capacity
        # Every one of at most 2**R sets adds at most the temperature times log 2.
        assert bound - 1e-7 <= smooth <= bound + temperature * np.log(2) * len(hierarchy) + 1e-7


@pytest.mark.parametrize("share", [0.03, 0.3, 0.8])
def test_a_small_temperature_gives_the_hull_point(share):
    hierarchy, rng = complete_tree(5), np.random.default_rng(2)
    values = rng.gamma(0.5, 2.0, hierarchy.node_cost.size)
    budget = hierarchy.base_cost + share * hierarchy.cost.sum()
    point = allocate(hierarchy, values, budget, hra.Hull(finish="none"), "gain")
    found = SoftCut(1e-5).probabilities(hierarchy, torch.tensor(point.problem.gain), point.cost)
    np.testing.assert_allclose(found.numpy(), point.selected, atol=1e-6)


def test_a_large_temperature_makes_cuts_of_equal_cost_equally_likely():
    hierarchy, gain, _ = large_case("flat", 8)
    found = SoftCut(1e9).distribution(hierarchy, gain, 0.3 * hierarchy.cost.sum())
    assert float(found.price) > 0
    sets, weight, _ = gibbs(hierarchy, 0 * gain.numpy(), float(found.price), 1e9)
    np.testing.assert_allclose(found.probabilities.numpy(), weight @ sets, rtol=1e-6)


@pytest.mark.parametrize("temperature", [1e-12, 1e-6, 1.0, 1e12])
@pytest.mark.parametrize("budget", [0.0, 1e-3, 40.0, np.inf])
def test_extremes_are_finite_and_affordable(temperature, budget):
    hierarchy, _, rng = case("flat", 4)
    gain = torch.tensor(rng.normal(size=len(hierarchy)) * 10.0 ** rng.integers(-9, 9, len(hierarchy)))
    gain.requires_grad_()
    found = SoftCut(temperature).distribution(hierarchy, gain, budget)
    expected = found.probabilities @ torch.tensor(hierarchy.cost, dtype=torch.float64)
    (slope,) = torch.autograd.grad(expected + found.price + found.log_partition, gain)
    assert all(bool(part.isfinite().all()) for part in (found.probabilities, found.price, found.log_partition, slope))
    assert float(expected.detach()) <= budget * (1 + 1e-6) + 1e-9


def test_what_is_free_or_fits_altogether_has_price_zero():
    hierarchy = Hierarchy.flat([0.0, 1.0, 2.0])
    gain = torch.tensor([1.0, -1.0, 2.0], dtype=torch.float64)
    found = SoftCut(0.5).distribution(hierarchy, gain, 100)
    assert float(found.price) == 0
    torch.testing.assert_close(found.probabilities, torch.sigmoid(gain / 0.5))
    nothing = SoftCut(0.5).probabilities(hierarchy, gain, 0)
    np.testing.assert_allclose(nothing.numpy(), [1 / (1 + np.exp(-2)), 0, 0], atol=1e-9)


def test_a_hierarchy_without_refinements_has_one_cut():
    found = SoftCut(1.0).distribution(Hierarchy.tree([-1], [2.0]), torch.zeros(4, 0), 3)
    assert found.probabilities.shape == found.hard().shape == (4, 0)
    assert found.log_partition.tolist() == [0] * 4
    assert found.sample(5).shape == (5, 4, 0)


# ---- gradients ----------------------------------------------------------------------------------------------------


@forests
@pytest.mark.parametrize("seed", range(4))
def test_gradients_by_gains_and_budget(kind, seed):
    hierarchy, gain, rng = large_case(kind, seed, batch=(2,))
    share = torch.tensor(rng.uniform(0.1, 0.4, 2))
    budget = (hierarchy.base_cost + share * hierarchy.cost.sum()).requires_grad_()

    def outputs(gain, budget):
        found = SoftCut(0.8).distribution(hierarchy, gain, budget)
        return found.probabilities, found.price, found.log_partition

    assert torch.autograd.gradcheck(outputs, (gain.requires_grad_(), budget))


def test_gradients_where_the_budget_is_slack():
    hierarchy, gain, _ = large_case("add", 3)
    budget = torch.tensor(hierarchy.total_cost + 1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda gain, budget: SoftCut(0.5).probabilities(hierarchy, gain, budget), (gain.requires_grad_(), budget)
    )


def test_gradients_in_the_callers_order():
    forest = SoftForest.of_parents([2, -1, 1, 1], [1.0, 2, 3, 4])
    gain = torch.tensor([[1.0, 0.2, -0.3, 0.8]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda gain: SoftCut(0.5).probabilities(forest, gain, 4.0), (gain,))


def test_the_smooth_bound_has_the_probabilities_as_gradient():
    (hierarchy, gain, _), temperature = large_case("replace", 21), 0.6
    gain, budget = (
        gain.requires_grad_(),
        torch.tensor(hierarchy.base_cost + 0.2 * hierarchy.cost.sum()).requires_grad_(),
    )
    found = SoftCut(temperature).distribution(hierarchy, gain, budget)
    smooth = temperature * found.log_partition + found.price * (budget - hierarchy.base_cost)
    by_gain, by_budget = torch.autograd.grad(smooth, (gain, budget))
    torch.testing.assert_close(by_gain, found.probabilities)
    torch.testing.assert_close(by_budget, found.price)
    assert float(by_budget) > 0


# ---- samples and hard cuts ----------------------------------------------------------------------------------------


@forests
def test_samples_follow_the_distribution(kind):
    from scipy.stats import chisquare  # a second

    hierarchy, gain, _ = large_case(kind, 32)
    found = SoftCut(1.0).distribution(hierarchy, gain, hierarchy.base_cost + 0.3 * hierarchy.cost.sum())
    sets, weight, _ = gibbs(hierarchy, gain.numpy(), float(found.price), 1.0)
    drawn = found.sample(20_000, torch.Generator().manual_seed(0)).numpy()
    key = 1 << np.arange(len(hierarchy))
    assert set(np.unique(drawn @ key)) <= set(sets @ key)
    counts = np.bincount(drawn @ key, minlength=2 ** len(hierarchy))[sets @ key]
    rare = weight * len(drawn) < 5
    counts, expected = np.r_[counts[~rare], counts[rare].sum()], np.r_[weight[~rare], weight[rare].sum()] * len(drawn)
    assert chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3
    mean = found.probabilities.numpy()
    deviation = np.sqrt(mean * (1 - mean) / len(drawn))
    assert (abs(drawn.mean(axis=0) - mean) <= 4.5 * deviation + 1e-12).all()


def test_samples_are_independent_over_the_batch_and_repeat_with_the_generator():
    found = SoftCut(1.0).distribution(Hierarchy.flat(np.ones(40)), torch.zeros(2, 40), 20)
    first = found.sample(3, torch.Generator().manual_seed(1))
    assert first.shape == (3, 2, 40) and first.dtype == torch.bool
    assert torch.equal(first, found.sample(3, torch.Generator().manual_seed(1)))
    assert len({tuple(cut.tolist()) for cut in first.reshape(6, 40)}) == 6


@forests
@given(seed=seeds)
def test_the_hard_cut_is_valid_affordable_and_leaves_nothing_that_fits(kind, seed):
    hierarchy, gain, budget, temperature = soft_case(kind, seed)
    found = SoftCut(temperature).distribution(hierarchy, gain, budget)
    for first in (None, found.sample(1, torch.Generator().manual_seed(seed % 2**31))[0]):
        cut = found.hard(first).numpy()
        left = budget - hierarchy.base_cost - hierarchy.cost[cut].sum()
        assert left >= 0
        assert hierarchy.is_valid(cut)
        for r in np.flatnonzero(~cut & (gain.numpy() > 0) & (hierarchy.cost <= left)):
            assert hierarchy.parent is not None
            assert hierarchy.parent[r] >= 0 and not cut[hierarchy.parent[r]]
        if first is not None and hierarchy.cost[first.numpy()].sum() <= budget - hierarchy.base_cost:
            assert cut[first.numpy()].all()


def test_straight_through_is_hard_forward_and_soft_backward():
    hierarchy, gain, _ = large_case("replace", 40, batch=(3,))
    budget = hierarchy.base_cost + 0.4 * hierarchy.cost.sum()
    found = SoftCut(0.6).distribution(hierarchy, gain.requires_grad_(), budget)
    weight = torch.rand(gain.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for selected in (None, found.sample(1)[0]):
        hard = found.straight_through(selected)
        assert torch.equal(hard.bool(), found.hard() if selected is None else selected)
        assert set(hard.unique().tolist()) <= {0.0, 1.0}
        (slope,) = torch.autograd.grad((hard * weight).sum(), gain, retain_graph=True)
        (soft_slope,) = torch.autograd.grad((found.probabilities * weight).sum(), gain, retain_graph=True)
        assert torch.equal(slope, soft_slope) and slope.abs().sum() > 0


@forests
@given(seed=seeds)
def test_as_a_traversal_it_keeps_to_the_budget(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    budget = hierarchy.base_cost + float(rng.integers(0, int(hierarchy.cost.sum()) + 2))
    allocation = allocate(hierarchy, values, budget, SoftCut(float(10 ** rng.uniform(-4, 2))), "gain")
    assert allocation.cost <= budget and hierarchy.is_valid(allocation.selected)
    optimum = best_gain(allocation.problem)
    assert allocation.gain <= optimum * (1 + 1e-12)
    assert optimum <= allocation.upper_bound * (1 + 1e-12)
    assert allocation.price is not None and allocation.price >= 0
    everything = allocate(hierarchy, values, np.inf, SoftCut(0.1), "gain")
    assert everything.gain == pytest.approx(everything.problem.gain.sum())


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_as_a_traversal_it_comes_close_to_the_best(share):
    hierarchy, rng = complete_tree(5), np.random.default_rng(7)
    values = rng.gamma(0.5, 2.0, hierarchy.node_cost.size)
    budget = hierarchy.base_cost + share * hierarchy.cost.sum()
    hull, best_first = (
        allocate(hierarchy, values, budget, rule, "gain").gain for rule in (hra.Hull(), hra.BestFirst())
    )
    soft = allocate(hierarchy, values, budget, SoftCut(0.03), "gain").gain
    assert best_first < soft
    assert soft >= 0.99 * hull


# ---- training -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "rate"), [("soft", 20.0), ("straight-through", 20.0), ("convex", 0.1)])
def test_a_scorer_learns_what_is_relevant(loss, rate):
    hierarchy, rng = complete_tree(3), np.random.default_rng(3)
    feature = rng.normal(size=(24, len(hierarchy), 4))
    relevance = torch.tensor(np.exp(feature @ [1.5, -1.0, 0.0, 0.5]))
    feature, budget = torch.tensor(feature), hierarchy.base_cost + 0.25 * hierarchy.cost.sum()
    forest, weight = SoftForest.of(hierarchy), torch.zeros(4, dtype=torch.float64, requires_grad=True)
    wanted = SoftCut(1e-3).distribution(forest, relevance, budget).hard()

    def objective(found):
        if loss == "convex":
            return (0.5 * found.log_partition + found.price * found.capacity - (found.gain * wanted).sum(-1)).mean()
        taken = found.probabilities if loss == "soft" else found.straight_through()
        return -((taken * relevance).sum(-1) / relevance.sum(-1)).mean()

    shares = []
    for _ in range(30):
        found = SoftCut(0.5).distribution(forest, feature @ weight, budget)
        shares.append(float((found.hard() * relevance).sum() / (wanted * relevance).sum()))
        (slope,) = torch.autograd.grad(objective(found), weight)
        with torch.no_grad():
            weight -= rate * slope
    assert shares[0] < 0.6 and shares[-1] > 0.9
    assert weight[0] > weight[3] > 0 > weight[1]


# ---- errors and imports -------------------------------------------------------------------------------------------


def test_dags_are_refused():
    hierarchy = Hierarchy.dag([1.0, 1, 1], [[0, 2], [1, 2]])
    with pytest.raises(HierarchyError, match="DAG"):
        SoftCut(1.0).probabilities(hierarchy, torch.ones(3), 2)
    groups = next(
        found for seed in range(99) if (found := random_groups(np.random.default_rng(seed), 9)).parent is None
    )
    with pytest.raises(HierarchyError, match="DAG"):
        SoftCut(1.0).solve(problem_of(groups, np.zeros(groups.node_cost.size)))


@pytest.mark.parametrize("temperature", [0, -1.0, np.inf, np.nan])
def test_a_temperature_is_positive_and_finite(temperature):
    with pytest.raises(HraError, match="temperature"):
        SoftCut(temperature)


@pytest.mark.parametrize(
    "gain",
    [torch.ones(4), torch.ones(3, 2), torch.ones(3).long(), torch.tensor(1.0), torch.tensor([1.0, torch.nan, 0])],
    ids=["length", "axis", "integers", "scalar", "nan"],
)
def test_gains_are_checked(gain):
    with pytest.raises(ArrayError, match="gains"):
        SoftCut(1.0).probabilities(Hierarchy.flat(np.ones(3)), gain, 1)


@pytest.mark.parametrize(
    ("budget", "error"),
    [(-1, InvalidBudget), (np.nan, InvalidBudget), (0.5, BudgetTooSmall), (torch.ones(3), ArrayError)],
)
def test_budgets_are_checked(budget, error):
    with pytest.raises(error, match=r"budget|level"):
        SoftCut(1.0).probabilities(Hierarchy.tree([-1, 0, 0], [1.0, 1, 1]), torch.ones(2, 1), budget)


def test_parents_and_costs_are_checked():
    with pytest.raises(HierarchyError, match="negative"):
        SoftForest.of_parents([-1, 0], [1.0, -1])
    with pytest.raises(HierarchyError, match="cycle"):
        SoftForest.of_parents([1, 0], [1.0, 1])


def test_without_torch_all_but_its_use_works():
    code = """
import sys
sys.modules["torch"] = None
import numpy as np
import hra
from hra.errors import MissingExtra
from hra.traversals.soft_cut import SoftCut
from tests.helpers.allocators import problem_of
try:
    SoftCut(1.0).solve(problem_of(hra.Hierarchy.flat(np.ones(2)), np.ones(2), "gain"))
except MissingExtra as error:
    print(error.fix)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "pip install 'hra[torch]'"


def test_the_examples_in_docstrings_are_true():
    result = doctest.testmod(traversal)
    assert result.attempted and not result.failed


def test_what_is_pinned_is_not_paid_twice():
    hierarchy = Hierarchy.flat([3.0, 1.0, 1.0, 1.0])
    metric = Table([0.0, 5.0, 4.0, 3.0], kind="gain")
    allocation = Plain(hierarchy, metric, SoftCut(0.01)).allocate(None, 5, pinned=[0])
    assert allocation.cut.tolist() == [0, 1, 2]
