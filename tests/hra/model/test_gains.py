"""Gains telescope: what is removed and what remains add up to the error of the base."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import MetricError, RepairWarning
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import Plain, Table, allocate, problem_of
from tests.helpers.hierarchies import (
    KINDS,
    case,
    depths,
    random_closed_set,
    random_group_table,
    random_parents,
    random_tree,
)

seeds = st.integers(0, 2**32 - 1)


def monotone_errors(rng: np.random.Generator, parent: np.ndarray) -> np.ndarray:
    """Errors of a forest such that children add up to at most their parent."""
    error = np.zeros(parent.size)
    for v in np.argsort(depths(parent)):
        siblings = parent == parent[v]
        error[v] = 1 + rng.random() if parent[v] < 0 else error[parent[v]] * rng.random() / siblings.sum()
    return error


def table(seed: int, mode) -> tuple[Hierarchy, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    hierarchy = random_tree(rng, int(rng.integers(1, 25)), mode)
    assert hierarchy.node_parent is not None
    return hierarchy, monotone_errors(rng, hierarchy.node_parent), rng


@given(seed=seeds)
def test_the_residual_of_a_replace_tree_is_the_error_of_its_cut(seed):
    hierarchy, error, rng = table(seed, "replace")
    with warnings.catch_warnings(action="error"):
        problem = problem_of(hierarchy, error)
    selected = random_closed_set(rng, hierarchy)
    residual = problem.base_error - problem.gain[selected].sum()
    assert residual == pytest.approx(error[hierarchy.active_nodes(selected)].sum(), rel=1e-9)


@given(seed=seeds)
def test_the_residual_of_groups_is_the_error_of_their_cut(seed):
    rng = np.random.default_rng(seed)
    cost, added_by, removed_by, error = random_group_table(rng, int(rng.integers(1, 15)))
    hierarchy = Hierarchy.groups(cost, added_by, removed_by)
    with warnings.catch_warnings(action="error"):
        problem = problem_of(hierarchy, error)
    selected = random_closed_set(rng, hierarchy)
    residual = problem.base_error - problem.gain[selected].sum()
    assert residual == pytest.approx(error[hierarchy.active_nodes(selected)].sum(), rel=1e-9)


@given(seed=seeds)
def test_groups_that_only_add_nodes_gain_nothing_and_leave_the_others_alone(seed):
    rng = np.random.default_rng(seed)
    cost, added_by, removed_by, error = random_group_table(rng, int(rng.integers(1, 10)))
    plain = problem_of(Hierarchy.groups(cost, added_by, removed_by), error)
    number, extra = added_by.max() + 1, 2
    more = Hierarchy.groups(
        np.r_[cost, np.ones(extra)], np.r_[added_by, [number] * extra], np.r_[removed_by, [-1] * extra]
    )
    problem = problem_of(more, np.r_[error, np.zeros(extra)])
    assert problem.base_error == pytest.approx(plain.base_error)
    assert problem.gain.sum() == pytest.approx(plain.gain.sum())


def test_a_group_that_only_adds_does_not_change_what_the_others_gain():
    # Group 0 splits node 0 into nodes 1 and 2; group 1 adds node 3, whose error is zero, and removes nothing.
    hierarchy = Hierarchy.groups([1, 1, 1, 1], [-1, 0, 0, 1], [0, -1, -1, -1])
    problem = problem_of(hierarchy, [10, 1, 2, 0])
    assert problem.gain[hierarchy.added_by[[1, 3]]].tolist() == [7, 0]
    assert problem.base_error == 10


@pytest.mark.parametrize("mode", ["child", "add"])
@given(seed=seeds)
def test_steps_gain_what_each_region_inherited_less_what_it_keeps(mode, seed):
    hierarchy, error, rng = table(seed, mode)
    parent = hierarchy.node_parent
    assert parent is not None
    # Split every parent's error among its children's regions at random, but never below their own error.
    inherited = np.zeros(parent.size)
    for p in set(parent[parent >= 0].tolist()):
        children = np.flatnonzero(parent == p)
        share = rng.dirichlet(np.ones(children.size))
        inherited[children] = error[children] + share * (error[p] - error[children].sum())
    with warnings.catch_warnings(action="error"):
        problem = problem_of(hierarchy, error, inherit=inherited)
    selected = random_closed_set(rng, hierarchy)
    if not hierarchy.replaces:
        for v in np.flatnonzero(parent >= 0):
            assert problem.gain[hierarchy.added_by[v]] == inherited[v] - error[v]
    taken = np.r_[selected, False][hierarchy.added_by] | (parent < 0)
    residual = sum(
        error[v] if not (parent == v).any() else sum(inherited[c] for c in np.flatnonzero(parent == v) if not taken[c])
        for v in np.flatnonzero(taken)
    )
    assert problem.base_error - problem.gain[selected].sum() == pytest.approx(residual, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("mode", ["child", "add"])
@given(seed=seeds)
def test_without_inherited_errors_the_gain_of_a_split_is_shared_evenly(mode, seed):
    hierarchy, error, _ = table(seed, mode)
    problem, parent = problem_of(hierarchy, error), hierarchy.node_parent
    assert parent is not None
    for p in set(parent[parent >= 0].tolist()):
        children = np.flatnonzero(parent == p)
        expected = (error[p] - error[children].sum()) / children.size
        assert problem.gain[hierarchy.added_by[children]] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("mode", ["replace", "child", "add"])
@given(seed=seeds)
def test_errors_that_are_not_monotone_are_capped_with_a_warning(mode, seed):
    rng = np.random.default_rng(seed)
    hierarchy = random_tree(rng, int(rng.integers(5, 25)), mode)
    parent, error = hierarchy.node_parent, rng.random(hierarchy.node_cost.size)
    assert parent is not None
    # One child that is certainly worse than its parent and siblings together.
    child = np.flatnonzero(parent >= 0)[0]
    error[child] = error[parent[child]] + 1
    with pytest.warns(RepairWarning, match="not monotone"):
        problem = problem_of(hierarchy, error)
    assert (problem.gain >= 0).all()
    assert problem.base_error == pytest.approx(error[parent < 0].sum())
    assert problem.gain.sum() <= problem.base_error * (1 + 1e-12)
    assert problem.gain[hierarchy.added_by[child]] == pytest.approx(0, abs=1e-12)


@given(seed=seeds)
def test_groups_that_are_not_monotone_are_capped_and_never_below_zero(seed):
    rng = np.random.default_rng(seed)
    cost, added_by, removed_by, error = random_group_table(rng, int(rng.integers(2, 15)))
    hierarchy = Hierarchy.groups(cost, added_by, removed_by)
    wild = rng.random(error.size)
    wild[np.flatnonzero(added_by == 0)[0]] = 100
    with pytest.warns(RepairWarning, match="not monotone"):
        problem = problem_of(hierarchy, wild)
    assert (problem.gain >= 0).all()
    assert problem.gain.sum() <= problem.base_error * (1 + 1e-12)


@pytest.mark.parametrize("mode", ["child", "add"])
@given(seed=seeds)
def test_inherited_errors_below_the_own_error_are_capped(mode, seed):
    rng = np.random.default_rng(seed)
    hierarchy = random_tree(rng, int(rng.integers(5, 25)), mode)
    if hierarchy.replaces:
        return
    with pytest.warns(RepairWarning):
        problem = problem_of(
            hierarchy, np.ones(hierarchy.node_cost.size), inherit=np.full(hierarchy.node_cost.size, 0.5)
        )
    assert (problem.gain == 0).all()


@pytest.mark.parametrize("mode", ["child", "add"])
def test_inherited_errors_that_add_up_to_more_than_the_parent_do_not_hide_what_remains(mode):
    hierarchy = Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode=mode)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        allocation = allocate(hierarchy, [10, 1, 1], np.inf, hra.Hull(spend_all=True), inherit=[0, 9, 9])
    assert allocation.residual == pytest.approx(2) or any(issubclass(w.category, RepairWarning) for w in caught)


@pytest.mark.parametrize("mode", ["child", "add"])
def test_a_weight_that_grows_towards_the_fine_does_not_hide_what_remains(mode):
    """A fovea on the children: their regions count more once they are told apart from the parent's."""
    error = Table([10, 1, 1], unit="px2", inherit=[0, 5, 5])
    metric = error * Table([0.1, 1, 1], unit="weight")
    allocator = Plain(Hierarchy.tree([-1, 0, 0], [1, 1, 1], mode=mode), metric, hra.Hull(spend_all=True))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        allocation = allocator.allocate(None, np.inf)
    assert allocation.residual == pytest.approx(2) or any(issubclass(w.category, RepairWarning) for w in caught)


def test_monotone_errors_are_used_bit_for_bit():
    hierarchy = Hierarchy.tree([-1, 0, 0, 1, 1], np.ones(5))
    error = np.array([1.0, 0.1, 0.7, 0.03, 0.05])
    gain = problem_of(hierarchy, error).gain
    assert gain.tolist() == [1.0 - (0.1 + 0.7), 0.1 - (0.03 + 0.05)]


def test_the_error_that_is_repaired_stays_as_the_caller_gave_it():
    error = np.array([1.0, 2, 2])
    with pytest.warns(RepairWarning):
        problem_of(Hierarchy.tree([-1, 0, 0], np.ones(3)), error)
    assert error.tolist() == [1, 2, 2]


def test_sums_that_are_equal_up_to_rounding_are_no_repair():
    hierarchy = Hierarchy.tree([-1, 0, 0, 0], np.ones(4))
    assert 0.1 + 0.1 + 0.1 > 0.3
    with warnings.catch_warnings(action="error"):
        assert problem_of(hierarchy, [0.3, 0.1, 0.1, 0.1]).gain.tolist() == [0]


def test_a_repair_scales_what_lies_below_it():
    # Node 1 may keep 4 of its 8, so that its children, 2 + 4, may keep 4 together: nothing is gained by either split.
    with pytest.warns(RepairWarning, match="2 refinements"):
        problem = problem_of(Hierarchy.tree([-1, 0, 1, 1], np.ones(4)), [4, 8, 2, 4])
    assert problem.gain.tolist() == [0, 0]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_gains_of_nodes_add_up_per_refinement(kind, seed):
    hierarchy, values, _ = case(kind, seed, 20)
    problem = problem_of(hierarchy, values, "gain")
    for r in range(len(hierarchy)):
        assert problem.gain[r] == pytest.approx(values[hierarchy.added_by == r].sum())
    assert problem.base_error == pytest.approx(values[hierarchy.added_by >= 0].sum())


@pytest.mark.parametrize("kind", ["flat", "dag"])
@given(seed=seeds)
def test_the_error_of_a_node_that_stands_alone_goes_when_it_is_taken(kind, seed):
    hierarchy, values, rng = case(kind, seed, 20)
    problem, selected = problem_of(hierarchy, values), random_closed_set(rng, hierarchy)
    left = values[~hierarchy.active_nodes(selected)].sum()
    assert problem.base_error - problem.gain[selected].sum() == pytest.approx(left, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value_kind", ["error", "gain"])
@given(seed=seeds)
def test_peaks_are_what_remains_and_fall_from_coarse_to_fine(kind, value_kind, seed):
    hierarchy, values, _ = case(kind, seed, 20)
    peak = problem_of(hierarchy, np.zeros(values.size), value_kind, peaks=values).peak
    own = np.zeros(len(hierarchy))
    for v in range(values.size):
        if value_kind == "error" and hierarchy.replaces:
            r, value = hierarchy.removed_by[v], values[v]
        elif value_kind == "error" and hierarchy.node_parent is not None:
            r, value = hierarchy.added_by[v], values[hierarchy.node_parent[v]]
        else:
            r, value = hierarchy.added_by[v], values[v]
        if r >= 0:
            own[r] = max(own[r], value)
    below = np.eye(len(hierarchy), dtype=bool)
    for before, after in hierarchy.edges[::-1]:
        below[before] |= below[after]
    assert peak.tolist() == [own[members].max() for members in below]


@pytest.mark.parametrize("mode", ["child", "add"])
def test_an_inherited_peak_takes_the_place_of_the_parents_peak(mode):
    hierarchy = Hierarchy.tree([-1, 0, 0, 1], np.ones(4), mode=mode, order=[0, 2, 1, 0] if mode == "child" else None)
    error, inherited = [9, 4, 4, 1], [0, 7, 3, 2]
    peak = problem_of(hierarchy, error, peaks=error, inherit_peaks=inherited).peak
    assert peak[hierarchy.added_by[[1, 2, 3]]].tolist() == [7, 3, 2]
    plain = problem_of(hierarchy, error, peaks=error).peak
    assert plain[hierarchy.added_by[[1, 2, 3]]].tolist() == [9, 9, 4]


def test_a_deep_forest_repairs_without_a_loss_of_sense():
    rng = np.random.default_rng(0)
    parent = random_parents(rng, 3000)
    with pytest.warns(RepairWarning):
        problem = problem_of(Hierarchy.tree(parent, np.ones(3000), mode="child"), rng.random(3000))
    assert np.isfinite(problem.gain).all()
    assert 0 <= problem.gain.sum() <= problem.base_error


@pytest.mark.parametrize("errors", [[1e308] * 3, [1.7e308, 1e308, 1e308]])
@pytest.mark.parametrize("mode", ["replace", "add", "inherited"])
def test_errors_that_overflow_are_not_scaled_down_to_nothing(mode, errors) -> None:
    tree = hra.Hierarchy.tree([-1, 0, 0], [1.0, 1.0, 1.0], mode="replace" if mode == "replace" else "add")
    inherited = [1e308] * 3 if mode == "inherited" else None
    with pytest.raises(MetricError, match=r"too much of it to add up|too large"):
        hra.solve(tree, 5, errors=errors, inherited=inherited)
