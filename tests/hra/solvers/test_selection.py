"""Weighted quickselect against sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.solvers.selection import select_threshold


def by_sorting(key: np.ndarray, weight: np.ndarray, capacity: float) -> float:
    """The smallest key, or -inf, above which everything fits."""
    fitting = [t for t in [*key.tolist(), -np.inf] if weight[key > t].sum() <= capacity]
    return min(fitting)


@given(
    entries=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=40),
    capacity=st.integers(0, 60),
)
def test_ties_and_zero_weights_agree_with_sorting(entries, capacity):
    key, weight = np.array(entries, float).reshape(-1, 2).T
    assert select_threshold(key, weight, capacity) == by_sorting(key, weight, capacity)


@given(seed=st.integers(0, 2**32 - 1))
def test_distinct_keys_agree_with_sorting(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 200))
    key, weight = rng.standard_normal(size), rng.integers(0, 100, size).astype(float)
    capacity = float(rng.integers(0, int(weight.sum()) + 2))
    assert select_threshold(key, weight, capacity) == by_sorting(key, weight, capacity)


@given(seed=st.integers(0, 2**32 - 1))
def test_weights_that_fill_the_capacity_only_up_to_rounding_never_select_more(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        size = int(rng.integers(2, 60))
        key, weight = rng.random(size), rng.random(size)
        capacity = weight[np.argsort(-key)][: rng.integers(1, size)].sum()
        chosen = key > select_threshold(key, weight, capacity)
        assert weight[chosen].sum() <= capacity * (1 + 1e-12)


def test_special_inputs():
    empty = np.empty(0)
    assert select_threshold(empty, empty, 0.0) == -np.inf
    keys = np.full(5, 2.0)
    assert select_threshold(keys, np.ones(5), 4.0) == 2.0
    assert select_threshold(keys, np.ones(5), 5.0) == -np.inf
    assert select_threshold(keys, np.zeros(5), 0.0) == -np.inf
    assert select_threshold(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.0) == 3.0
    assert select_threshold(np.array([np.inf, 1.0]), np.array([0.0, 1.0]), 0.0) == 1.0


def test_the_arguments_stay_as_they_are():
    key, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    select_threshold(key, weight, 2.0)
    assert key.tolist() == [3, 1, 2]
    assert weight.tolist() == [1, 2, 3]


@pytest.mark.parametrize("keys", [np.arange(200_000.0), np.arange(200_000.0)[::-1], np.arange(200_000) % 2.0])
def test_sorted_and_two_valued_keys_are_no_worst_case(keys):
    # A quadratic run would take minutes here.
    assert select_threshold(keys, np.ones(keys.size), 100_000) in (99_999.0, 0.0)


def large(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.exp(rng.standard_normal(120_000)), rng.integers(0, 10, 120_000).astype(float)


@pytest.mark.parametrize("share", [0.0, 1e-5, 0.01, 0.1, 0.5, 0.999, 1.0])
def test_many_keys_agree_with_sorting(share):
    key, weight = large(np.random.default_rng(0))
    for keys in (
        key,
        np.floor(4 * key),
        np.where(key < 0.3, -np.inf, key),
        np.sort(key),
        np.where(key > 3, np.inf, key),
    ):
        capacity = float(np.floor(share * weight.sum()))
        chosen = keys > select_threshold(keys, weight, capacity)
        left_out = keys[~chosen].max(initial=-np.inf)
        assert weight[chosen].sum() <= capacity
        assert left_out == -np.inf or weight[keys >= left_out].sum() > capacity


@pytest.mark.parametrize("step", range(2, 40))
def test_a_misleading_sample_changes_nothing(step):
    # Whatever step the sample takes: every step-th entry is unlike all others.
    key, weight = large(np.random.default_rng(step))
    key[::step] += 100.0
    weight[::step] *= step % 3
    capacity = float(np.floor(0.3 * weight.sum()))
    order = np.argsort(-key)
    expected = key[order[np.searchsorted(np.cumsum(weight[order]), capacity, side="right")]]
    assert select_threshold(key, weight, capacity) == expected
