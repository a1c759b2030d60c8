"""The cuts against plain recursion and enumeration, and Warp against the reference to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, BackendUnavailable
from hra.kernels import backends
from hra.kernels.cut import LevelForest, price_search, tree_sweep
from tests.helpers.search_cases import FIELDS, assert_same, case, random_capacity

BACKENDS = ("reference", "warp")
seeds = st.integers(0, 2**32 - 1)


def best_below(forest: LevelForest, gain: np.ndarray, price: float, r: int) -> tuple[float, set[int]]:
    """The best value and set at and below refinement r, by recursion."""
    value, members = gain[r] - (price * forest.cost[r] if forest.cost[r] else 0.0), {r}
    for child in np.flatnonzero(forest.parent == r):
        below, taken = best_below(forest, gain, price, int(child))
        value, members = value + below, members | taken
    return (value, members) if value > 0 else (0.0, set())


def hull_bound(forest: LevelForest, gain: np.ndarray, capacity: float) -> float:
    """The least of the dual over a dense net of prices, then over ever smaller intervals (it is convex)."""

    def dual(price: float) -> float:
        roots = np.flatnonzero(forest.parent < 0)
        return sum(best_below(forest, gain, price, int(r))[0] for r in roots) + price * capacity

    low, high = 0.0, float(gain.sum()) + 1.0
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if dual(left) <= dual(right) else (left, high)
    return min(dual(0.0), dual(low))


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds)
def test_a_sweep_is_the_recursion(backend, seed):
    forest, gain, rng = case(seed)
    price = rng.random(len(gain)) * rng.integers(0, 3, len(gain))
    price[0] = rng.choice([0.0, price[0], math.inf])
    found = tree_sweep(forest, gain, price, backend)
    for row, p, taken, cost, gained, value in zip(
        gain, price, found.selected, found.cost, found.gain, found.bound, strict=True
    ):
        best = [best_below(forest, row, p, int(r)) for r in np.flatnonzero(forest.parent < 0)]
        assert value == pytest.approx(sum(below for below, _ in best))
        assert cost == forest.base_cost + forest.cost[taken].sum()
        assert gained == pytest.approx(row[taken].sum())
        if p == 0 or np.unique(row).size == row.size:  # else a tie may be rounded either way
            assert set(np.flatnonzero(taken)) == set().union(*(members for _, members in best))


@given(seed=seeds)
def test_warp_is_the_reference_to_the_bit(seed):
    forest, gain, rng = case(seed)
    price, capacity = rng.random(len(gain)), random_capacity(forest, len(gain), rng)
    for gains in (gain, gain.astype(np.float32)):
        assert_same(tree_sweep(forest, gains, price, "warp"), tree_sweep(forest, gains, price, "reference"))
        assert_same(price_search(forest, gains, capacity, "warp"), price_search(forest, gains, capacity, "reference"))


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds)
def test_the_set_fits_is_valid_and_is_optimal_at_its_cost(backend, seed):
    forest, gain, rng = case(seed)
    capacity = random_capacity(forest, len(gain), rng)
    found = price_search(forest, gain, capacity, backend)
    child = forest.parent >= 0
    assert (found.selected[:, forest.parent[child]] | ~found.selected[:, child]).all()
    assert (found.cost - forest.base_cost <= capacity).all()
    np.testing.assert_array_equal(found.cost - forest.base_cost, found.selected @ forest.cost)
    np.testing.assert_allclose(found.gain, (found.selected * gain).sum(axis=1), rtol=1e-12)
    # A point of the hull: with just its own cost as the capacity, no set can gain more.
    at_cost = price_search(forest, gain, found.cost - forest.base_cost, backend)
    np.testing.assert_allclose(at_cost.bound, found.gain, rtol=1e-9, atol=1e-12 * gain.sum())


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds)
def test_the_bound_is_the_least_dual(backend, seed):
    forest, gain, rng = case(seed)
    capacity = random_capacity(forest, 1, rng)
    found = price_search(forest, gain[:1], capacity, backend)
    assert found.price[0] >= 0
    assert found.bound[0] == pytest.approx(hull_bound(forest, gain[0], capacity[0]), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds)
def test_a_batch_is_its_members(backend, seed):
    forest, gain, rng = case(seed)
    capacity = random_capacity(forest, len(gain), rng)
    batch = price_search(forest, gain, capacity, backend)
    for i in range(len(gain)):
        alone = price_search(forest, gain[i : i + 1], capacity[i : i + 1], backend)
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(batch, name)[i])


def many_roots(size: int) -> LevelForest:
    parent = np.full(size, -1, np.int32)
    return LevelForest((0, size), parent, np.full(size + 1, size, np.int32), np.ones(size))


@pytest.mark.parametrize("size", [31, 32, 33, 1025, 33000])
def test_many_roots_are_summed_in_groups(size):
    rng = np.random.default_rng(size)
    forest, gain = many_roots(size), rng.pareto(1.2, (2, size))
    capacity = np.array([10.0, size // 2])
    found = price_search(forest, gain, capacity, "warp")
    np.testing.assert_array_equal(found.selected.sum(axis=1), capacity)
    kept = [np.sort(row)[-int(count) :].sum() for row, count in zip(gain, capacity, strict=True)]
    np.testing.assert_allclose(found.gain, kept, rtol=1e-9)
    assert_same(found, price_search(forest, gain, capacity, "reference"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("members", "size"), [(0, 3), (2, 0), (0, 0)])
def test_empty_batches_and_forests(backend, members, size):
    found = price_search(many_roots(size), np.zeros((members, size)), np.ones(members), backend)
    assert found.selected.shape == (members, size) and found.selected.dtype == np.bool_
    np.testing.assert_array_equal(found.bound, np.zeros(members))


def test_auto_falls_back_but_an_explicit_choice_does_not(monkeypatch):
    forest, gain, rng = case(7)
    capacity = random_capacity(forest, len(gain), rng)
    assert_same(price_search(forest, gain, capacity), price_search(forest, gain, capacity, "warp"))
    monkeypatch.setitem(backends.BUILT_IN, "warp", "hra.kernels.no_warp")
    assert_same(price_search(forest, gain, capacity), price_search(forest, gain, capacity, "reference"))
    with pytest.raises(BackendUnavailable, match="no_warp"):
        price_search(forest, gain, capacity, "warp")


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_with_gaps(backend):
    forest, gain, rng = case(6)
    capacity = random_capacity(forest, len(gain), rng)
    with_gaps = np.repeat(np.repeat(gain, 2, axis=0), 3, axis=1)[::2, ::3]
    assert_same(price_search(forest, with_gaps, capacity, backend), price_search(forest, gain, capacity, backend))


def test_wrong_arguments_are_named():
    forest = many_roots(3)
    with pytest.raises(ArrayError, match=r"\[B, 3\]"):
        price_search(forest, np.zeros((2, 4)), np.ones(2))
    with pytest.raises(ArrayError, match="int64"):
        price_search(forest, np.zeros((2, 3), np.int64), np.ones(2))
    with pytest.raises(ArrayError, match="capacity"):
        price_search(forest, np.zeros((2, 3)), np.ones(3))
    with pytest.raises(ArrayError, match="price"):
        tree_sweep(forest, np.zeros((2, 3)), np.ones(2, np.float32))
    with pytest.raises(BackendUnavailable, match="'gl' does not implement"):
        price_search(forest, np.zeros((2, 3)), np.ones(2), "gl")
