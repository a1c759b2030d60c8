from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hra
from hra.allocating.sequences import churn
from hra.errors import HraError
from hra.model.hierarchy import Hierarchy
from hra.traversals import coherent
from tests.helpers.compiled_kinds import kinds_compiled
from tests.helpers.hierarchies import case
from tests.helpers.modifiers_cases import allocator, kinds, room, seeds


@kinds
@given(seed=seeds)
def test_without_hysteresis_and_limit_the_past_does_not_matter(kind, seed):
    hierarchy, values, rng = case(kind, seed)
    first = allocator(hierarchy, hra.Hull()).allocate(values, room(rng, hierarchy))
    values, budget = values * np.exp(rng.normal(0, 1, values.size)), room(rng, hierarchy)
    coherent = allocator(hierarchy, hra.Coherent(hysteresis=0)).allocate(values, budget, previous=first)
    plain = allocator(hierarchy, hra.Hull()).allocate(values, budget)
    assert (coherent.selected == plain.selected).all()
    assert coherent.upper_bound == pytest.approx(plain.upper_bound)


def test_hysteresis_keeps_what_is_nearly_as_good():
    hierarchy = Hierarchy.flat([1, 1])
    coherent = allocator(hierarchy, hra.Coherent(hysteresis=0.2))
    first = coherent.allocate([2.0, 1.0], 1)
    kept = coherent.allocate([1.0, 1.1], 1, previous=first)
    assert kept.cut.tolist() == [0] and kept.churn == 0
    changed = coherent.allocate([1.0, 1.3], 1, previous=kept)
    assert changed.cut.tolist() == [1] and changed.churn == 2
    assert kept.upper_bound == pytest.approx(1.1), "the bound is that of the true gains"


@pytest.mark.parametrize("options", [{"hysteresis": -1}, {"hysteresis": float("nan")}, {"max_churn": -1}])
def test_coherent_refuses_bad_options(options):
    with pytest.raises(HraError):
        hra.Coherent(**options)


def quadtree(rng: np.random.Generator) -> tuple[hra.Hierarchy, np.ndarray]:
    """A tree of four children each, and errors that fall to about a sixth from level to level."""
    parent, errors, level = [-1], [1.0], [0]
    for depth in range(1, 5):
        for node in [k for k, d in enumerate(level) if d == depth - 1]:
            for _ in range(4):
                parent.append(node)
                errors.append(errors[node] * rng.uniform(0.12, 0.25))
                level.append(depth)
    return hra.Hierarchy.tree(parent, [1] * len(parent), mode="replace"), np.array(errors)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(0, 3), st.floats(0.002, 1.2))
def test_the_promise_holds_and_what_is_there_stays(seed: int, hysteresis: float, tau: float) -> None:
    rng = np.random.default_rng(seed)
    tree, errors = quadtree(rng)
    traversal, last = hra.Coherent(hra.Threshold(tau), hysteresis=hysteresis), None
    for _ in range(4):
        seen = errors * rng.uniform(0.5, 2)
        plain = hra.solve(tree, np.inf, errors=seen, traversal=hra.Threshold(tau))
        before, last = last, hra.solve(tree, np.inf, errors=seen, traversal=traversal, previous=last)
        assert last.max_error <= tau
        assert (last.selected | ~plain.selected).all()
        peak = last.problem.peak
        # Nothing is refined below the lower error but what something needs that is not.
        assert not (last.selected & (peak * (1 + hysteresis) < tau * (1 - 1e-12))).any()
        if before is not None:
            assert last.selected[before.selected & (peak * (1 + hysteresis) > tau)].all()
        again = hra.solve(tree, np.inf, errors=seen, traversal=traversal, previous=last)
        assert again.churn == 0


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_budgets_come_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, errors = quadtree(rng)
    traversal, last = hra.Coherent(hra.Threshold(0.1), hysteresis=1.0), None
    for _ in range(5):
        seen, budget = errors * rng.uniform(0.5, 2), float(rng.integers(1, 256))
        plain = hra.solve(tree, budget, errors=seen, traversal=hra.Threshold(0.1))
        last = hra.solve(tree, budget, errors=seen, traversal=traversal, previous=last)
        assert last.cost <= budget
        assert last.max_error <= plain.max_error


def test_a_camera_that_trembles_changes_nothing() -> None:
    tree, errors = quadtree(np.random.default_rng(0))
    counts = np.zeros(2, int)
    for base in np.geomspace(0.2, 20, 10):
        for k, traversal in enumerate((hra.Threshold(0.1), hra.Coherent(hra.Threshold(0.1), hysteresis=1.5))):
            found: list[hra.Allocation] = []
            for scale in base * np.where(np.arange(8) % 2, 1.3, 1.0):
                last = found[-1] if found else None
                found.append(hra.solve(tree, np.inf, errors=scale * errors, traversal=traversal, previous=last))
            # Once both of its places were seen.
            counts[k] += churn(found)[1:].sum()
    assert counts[1] == 0 < counts[0]


def test_the_limit_counts_refinements_that_cost_less_than_nothing() -> None:
    # The second child takes its dear parent away, which makes room: the hull joins both steps, the limit must not.
    hierarchy = Hierarchy.tree([-1, 0, 0], [3.0, 1.0, 1.0], mode="child")
    errors, inherited = [4.0, 0.0, 0.0], [4.0, 2.0, 2.0]
    there = hra.solve(hierarchy, 4, errors=errors, inherited=inherited)
    none = hra.Allocation(there.problem, hra.Solution(np.zeros(2, bool)), 0.0)
    step = hra.Coherent(max_churn=1)
    held = hra.solve(hierarchy, 4, errors=errors, inherited=inherited, traversal=step, previous=none)
    assert (there.selected.tolist(), held.selected.tolist(), held.churn) == ([True, True], [True, False], 1)


@kinds
@given(seed=seeds, limit=st.integers(0, 3))
def test_the_limit_holds_while_what_is_there_fits(kind, seed, limit):
    hierarchy, values, rng = case(kind, seed)
    steps, last = allocator(hierarchy, hra.Coherent(hysteresis=0.1, max_churn=limit)), None
    for _ in range(4):
        budget = room(rng, hierarchy)
        found = steps.allocate(values * np.exp(rng.normal(0, 1, values.size)), budget, previous=last)
        assert last is None or found.churn <= limit or last.cost > budget
        last = found


def test_what_no_longer_fits_is_dropped_by_its_gain_per_cost() -> None:
    # To drop the third alone would be one change; it gains the most per cost.
    pieces, gains = Hierarchy.flat([1, 1, 2]), [1.0, 2.0, 8.0]
    everything = hra.solve(pieces, 4, gains=gains)
    less = hra.solve(pieces, 2, gains=gains, traversal=hra.Coherent(max_churn=1), previous=everything)
    assert (less.selected.tolist(), less.churn) == ([False, False, True], 2)


def test_one_kind_of_arrays_is_compiled_however_many_steps_are_taken_back() -> None:
    steps, values = allocator(Hierarchy.flat([1] * 6), hra.Coherent(max_churn=2)), np.arange(6.0)
    first = steps.allocate(values, 3)
    for swapped in (values[::-1], values[[0, 1, 3, 2, 4, 5]]):
        assert steps.allocate(swapped, 3, previous=first).churn in (1, 2)
    assert kinds_compiled(coherent._move) == [1]
