"""Batches over one forest: within the budgets, under valid bounds, the same row by row and for every kind of array."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra.allocating.batch
import hra.kernels.cut.search
from hra.allocating.allocation import Allocation
from hra.allocating.batch import BatchAllocation, allocate_batch
from hra.errors import ArrayError, BackendUnavailable, BudgetTooSmall, HierarchyError, InvalidBudget
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.solvers.relaxation import relaxation
from hra.traversals.best_first import BestFirst
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull
from tests.helpers.hierarchies import FORESTS, KINDS, case, random_values
from tests.helpers.references import best_gain

BACKENDS = ("auto", "reference", "warp")
FIELDS = ("selected", "cost", "gain", "upper_bound", "price")
seeds = st.integers(0, 2**32 - 1)


def batch_case(kind: str, seed: int) -> tuple[Hierarchy, np.ndarray, np.ndarray]:
    hierarchy, _, rng = case(kind, seed)
    gain = np.stack([random_values(rng, len(hierarchy)) for _ in range(3)])
    return hierarchy, gain, hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 2, 3)


def problem_of(hierarchy: Hierarchy, gain: np.ndarray, budget: float) -> Problem:
    return Problem(hierarchy, gain, 0.0, float(budget), "gain", True, lambda: gain)


def rows_of(batch: BatchAllocation) -> list[tuple]:
    return list(zip(*(getattr(batch, name) for name in FIELDS), strict=True))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds)
def test_rows_are_valid_affordable_and_truly_bounded(backend, kind, seed):
    hierarchy, gain, budgets = batch_case(kind, seed)
    batch = allocate_batch(hierarchy, gain, budgets, backend=backend)
    for row, budget, (selected, cost, gained, bound, price) in zip(gain, budgets, rows_of(batch), strict=True):
        problem = problem_of(hierarchy, row, budget)
        assert hierarchy.is_valid(selected)
        assert cost == hierarchy.base_cost + hierarchy.cost[selected].sum() <= budget
        assert gained == pytest.approx(row[selected].sum())
        assert gained <= bound and price >= 0
        assert best_gain(problem) <= bound * (1 + 1e-12)
        relaxed = relaxation(problem).upper_bound
        assert bound <= relaxed * (1 + 1e-9)
        if (problem.attainable_gain == problem.gain).all():
            assert bound == pytest.approx(relaxed, rel=1e-9)
        # Never less than the hull point that Hull starts from.
        hull_point = Hull(finish="none").solve(problem).selected
        assert gained >= row[hull_point].sum() * (1 - 1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds)
def test_a_batch_is_its_rows(backend, seed):
    hierarchy, gain, budgets = batch_case("replace", seed)
    batch = rows_of(allocate_batch(hierarchy, gain, budgets, backend=backend))
    for i, together in enumerate(batch):
        alone = rows_of(allocate_batch(hierarchy, gain[i : i + 1], float(budgets[i]), backend=backend))[0]
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)


def pyramid() -> tuple[Hierarchy, np.ndarray]:
    parent = (np.arange(1 + 4 * 341) - 1) // 4
    parent[0] = -1
    hierarchy = Hierarchy.tree(parent, np.ones(parent.size))
    return hierarchy, np.random.default_rng(0).pareto(1.2, (5, len(hierarchy)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_budget_serves_all_rows(backend):
    hierarchy, gain = pyramid()
    batch = allocate_batch(hierarchy, gain, 100, backend=backend)
    np.testing.assert_array_equal(batch.cost, np.full(5, 100.0))
    assert (batch.gain >= 0.9 * batch.upper_bound).all()


HULLS = (Hull(), Hull(spend_all=True), Hull(finish="none"))


def rows_with_ties(rng: np.random.Generator, size: int) -> np.ndarray:
    """Gains [5, R]: mixed, small whole numbers, without ties, tenths (which tie but for rounding), heavy tails."""
    tied = rng.integers(0, 4, size).astype(np.float64), rng.random(size), rng.integers(0, 5, size) * 0.1
    return np.stack([random_values(rng, size), *tied, rng.pareto(1.0, size)])


def assert_one_answer(kind: str, seed: int, nodes: int) -> None:
    hierarchy, _, rng = case(kind, seed, nodes)
    gain = rows_with_ties(rng, len(hierarchy))
    budgets = hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 2, len(gain))
    for traversal in HULLS:
        expected = allocate_batch(hierarchy, gain, budgets, traversal=traversal, backend="numba")
        for backend in ("reference", "warp"):
            found = allocate_batch(hierarchy, gain, budgets, traversal=traversal, backend=backend)
            np.testing.assert_array_equal(found.selected, expected.selected, err_msg=backend)
            for name in ("cost", "gain"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=backend)
            # Where slopes tie, the reference may add up a block in another order.
            for name in ("price", "upper_bound"):
                np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-14, err_msg=backend)


@pytest.mark.paths
@given(kind=st.sampled_from(FORESTS), seed=seeds)
def test_every_backend_takes_the_same_refinements(kind, seed):
    pytest.importorskip("warp")
    assert_one_answer(kind, seed, 14)


@pytest.mark.slow
def test_every_backend_takes_the_same_refinements_of_10000_problems():
    pytest.importorskip("warp")
    for seed in range(2000):  # of 5 rows each, and three ways to spend the budget
        assert_one_answer(FORESTS[seed % len(FORESTS)], seed, 5 + seed % 56)


@pytest.mark.parametrize("backend", ["reference", "warp"])
def test_what_backends_of_rows_cannot_fill_they_refuse_by_name(backend):
    hierarchy = Hierarchy.flat(np.ones(20_000))
    gain = np.random.default_rng(0).random((1, 20_000))
    with pytest.raises(BackendUnavailable, match="filled by Numba alone"):
        allocate_batch(hierarchy, gain, 100, backend=backend)
    found = allocate_batch(hierarchy, gain, 100, traversal=Hull(finish="none"), backend=backend)
    assert found.cost == 100


def test_auto_is_hull_row_by_row():
    hierarchy, gain = pyramid()
    batch = allocate_batch(hierarchy, gain, 100)
    for row, selected in zip(gain, batch.selected, strict=True):
        np.testing.assert_array_equal(selected, Hull().solve(problem_of(hierarchy, row, 100)).selected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_more_than_everything_takes_all_that_gains(backend):
    hierarchy, gain = pyramid()
    for budget in (hierarchy.total_cost, 2 * hierarchy.total_cost, float("inf")):
        batch = allocate_batch(hierarchy, gain, budget, backend=backend)
        assert batch.selected.all()
        np.testing.assert_allclose(batch.upper_bound, gain.sum(axis=1))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_torch_and_warp_in_and_out(backend, dtype):
    torch, warp = pytest.importorskip("torch"), pytest.importorskip("warp")
    hierarchy, gain = pyramid()
    gain = gain.astype(dtype)
    expected = allocate_batch(hierarchy, gain, 100, backend=backend)
    arrays = ((torch.from_numpy(gain), torch.Tensor), (warp.array(gain, device="cpu"), warp.array))
    for given_gain, kind in arrays:
        found = allocate_batch(hierarchy, given_gain, 100, backend=backend)
        for name in FIELDS:
            assert isinstance(getattr(found, name), kind)
            np.testing.assert_array_equal(getattr(found, name).numpy(), getattr(expected, name))


def test_the_path_of_device_arrays_is_that_of_the_host(monkeypatch):
    warp = pytest.importorskip("warp")
    hierarchy, gain = pyramid()
    # Warp arrays are what a CUDA array is adopted as; on the CPU they take the same path.
    for module in (hra.allocating.batch, hra.kernels.cut.search):
        monkeypatch.setattr(module, "adopt", lambda array, name: array)
    for traversal in HULLS:
        found = allocate_batch(hierarchy, warp.array(gain, device="cpu"), 200, traversal=traversal)
        columns = [getattr(found, name).numpy() for name in FIELDS]
        for row, selected, cost, gained, bound, price in zip(gain, *columns, strict=True):
            problem = problem_of(hierarchy, row, 200)
            expected = traversal.solve(problem)
            np.testing.assert_array_equal(selected, expected.selected)
            assert cost == hierarchy.base_cost + hierarchy.cost[expected.selected].sum()
            assert gained == pytest.approx(row[expected.selected].sum(), rel=1e-12)
            assert bound == pytest.approx(relaxation(problem).upper_bound, rel=1e-9)
            assert price == expected.price
    gain[0, 0] = np.nan
    with pytest.raises(ArrayError, match="not a number"):
        allocate_batch(hierarchy, warp.array(gain, device="cpu"), 200)


def test_budgets_may_be_a_tensor():
    torch = pytest.importorskip("torch")
    hierarchy, gain = pyramid()
    budgets = np.array([10, 50, 100, 500, 1000])
    expected = allocate_batch(hierarchy, gain, budgets)
    found = allocate_batch(hierarchy, gain, torch.from_numpy(budgets))
    np.testing.assert_array_equal(found.selected, expected.selected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_bad_gains_are_located(backend, bad):
    hierarchy, gain = pyramid()
    gain[3, 7] = bad
    with pytest.raises(ArrayError, match=r"gain\[3, 7\]"):
        allocate_batch(hierarchy, gain, 100, backend=backend)


def test_wrong_arguments_are_refused():
    hierarchy, gain = pyramid()
    graph = Hierarchy.dag(np.ones(3), [[0, 2], [1, 2]])
    for backend in ("reference", "warp"):
        with pytest.raises(HierarchyError, match="DAG"):
            allocate_batch(graph, np.ones((1, 3)), 2, backend=backend)
        with pytest.raises(HierarchyError, match="whole numbers"):
            allocate_batch(Hierarchy.flat([0.5, 1.0]), np.ones((1, 2)), 2, backend=backend)
        with pytest.raises(BackendUnavailable, match="Exact chooses otherwise"):
            allocate_batch(hierarchy, gain, 100, traversal=Exact(), backend=backend)
    with pytest.raises(ArrayError, match=r"\[B, 341\]"):
        allocate_batch(hierarchy, gain[0], 100)
    with pytest.raises(ArrayError, match="int64"):
        allocate_batch(hierarchy, gain.astype(np.int64), 100)
    with pytest.raises(ArrayError, match="list"):
        allocate_batch(hierarchy, gain.tolist(), 100)
    with pytest.raises(ArrayError, match="5 rows"):
        allocate_batch(hierarchy, gain, [100.0, 200.0])
    with pytest.raises(InvalidBudget):
        allocate_batch(hierarchy, gain, float("nan"))
    with pytest.raises(BudgetTooSmall):
        allocate_batch(hierarchy, gain, [100, 100, 0, 100, 100])
    with pytest.raises(BackendUnavailable, match="backend 'gl' is unknown"):
        allocate_batch(hierarchy, gain, 100, backend="gl")


TRAVERSALS = [
    Exact(),
    Exact(spend_all=True),
    Exact(max_states=1),
    BestFirst(),
    Hull(finish="none"),
    Hull(spend_all=True),
]


@pytest.mark.parametrize("traversal", TRAVERSALS, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_every_traversal_answers_every_row_as_it_answers_the_row_alone(traversal, kind, seed):
    hierarchy, _, rng = case(kind, seed, 12)
    gain = rng.random((3, len(hierarchy)))
    budgets = hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 2, 3)
    batch = allocate_batch(hierarchy, gain, budgets, traversal=traversal)
    for i in range(3):
        problem = problem_of(hierarchy, gain[i], float(budgets[i]))
        alone = Allocation(problem, traversal.solve(problem), 0.0)
        assert batch.cost[i] <= budgets[i] and batch.gain[i] <= batch.upper_bound[i]
        assert batch.gain[i] == pytest.approx(alone.gain, rel=1e-12)
        assert batch.upper_bound[i] == pytest.approx(alone.upper_bound, rel=1e-12)
        assert batch.price[i] == pytest.approx(np.nan if alone.price is None else alone.price, nan_ok=True)
