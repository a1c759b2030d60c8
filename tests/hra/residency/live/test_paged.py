"""Pages and content as one hierarchy, against an enumeration of all sets of pages."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError, HraError, InvalidBudget
from hra.residency import PagedHierarchy
from tests.helpers.paged_cases import SEEDS, SLOT, problem_of, random_content


def shown_by_search(content: hra.Hierarchy, page_of: np.ndarray, gain: np.ndarray, held: np.ndarray) -> np.ndarray:
    """What can be drawn, group by group, then less what neither gains nor leads to gain."""
    there: set[int] = set()
    nodes = [np.flatnonzero(content.added_by == r) for r in range(len(content))]
    needs = [set(content.edges[content.edges[:, 1] == r, 0].tolist()) for r in range(len(content))]
    for r in range(len(content)):
        if held[page_of[nodes[r]]].all() and needs[r] <= there:
            there.add(r)
    useful: set[int] = set()
    for r in reversed(range(len(content))):
        if r in there and (gain[r] > 0 or any(r in needs[s] for s in useful)):
            useful.add(r)
    return np.isin(np.arange(len(content)), list(useful))


@given(seed=SEEDS, slots=st.integers(0, 6))
def test_the_core_finds_the_best_pages_and_its_bound_holds(seed: int, slots: int) -> None:
    content, gain, page_of, paged = random_content(seed)
    base = np.zeros(len(paged.loads), bool)
    base[page_of[content.added_by < 0]] = True
    budget = float(paged.hierarchy.base_cost + slots * SLOT)
    best = 0.0
    for chosen in product((False, True), repeat=len(base)):
        held = np.array(chosen) | base
        if held.sum() * SLOT <= budget:
            best = max(best, gain[shown_by_search(content, page_of, gain, held)].sum())
    problem = paged.problem(problem_of(content, gain), budget)
    for traversal in (hra.Exact(), hra.Hull(), hra.BestFirst()):
        allocation = hra.Allocation(problem, traversal.solve(problem), 0.0)
        held = paged.held(allocation.selected)
        assert held.sum() * SLOT == allocation.cost <= budget and held[base].all()
        assert allocation.gain <= best <= allocation.upper_bound * (1 + 1e-12)
        assert not isinstance(traversal, hra.Exact) or allocation.gain == pytest.approx(best)


@given(seed=SEEDS)
def test_what_is_shown_is_all_that_the_pages_allow(seed: int) -> None:
    content, gain, page_of, paged = random_content(seed)
    held = np.random.default_rng(seed).random(len(paged.loads)) < 0.6
    held[paged.loads < 0] = True
    shown = paged.shown(gain, held)
    assert np.array_equal(shown, shown_by_search(content, page_of, gain, held))
    assert content.is_valid(shown)


def test_thresholds_take_the_pages_of_what_they_take() -> None:
    content = hra.Hierarchy.tree([-1, 0, 0, 1, 1], np.ones(5))
    paged = PagedHierarchy.of(content, [0, 1, 1, 2, 2], [SLOT] * 3)
    gain = np.array([4.0, 1.0])
    problem = paged.problem(problem_of(content, gain), np.inf)
    chosen = hra.Threshold(2.0).solve(problem).selected
    assert paged.held(chosen).tolist() == [True, True, False]


def test_bad_pages_are_refused() -> None:
    content = hra.Hierarchy.tree([-1, 0, 0], np.ones(3))
    with pytest.raises(ArrayError, match="no bytes"):
        PagedHierarchy.of(content, [0, 1, 1], [8, 0])
    with pytest.raises(ArrayError):
        PagedHierarchy.of(content, [0, 1], [8, 8])
    with pytest.raises(ArrayError):
        PagedHierarchy.of(content, [0, 1, 2], [8, 8])
    paged = PagedHierarchy.of(content, [0, 1, 1], [8, 8])
    with pytest.raises(BudgetTooSmall, match="8"):
        hra.solve(paged.hierarchy, 7, gains=np.zeros(3 + 2))
    with pytest.raises(InvalidBudget):
        paged.problem(problem_of(content, np.zeros(1)), np.nan)
    with pytest.raises(HraError, match="problem"):
        paged.problem(content, 16)  # pyright: ignore


def test_a_page_may_take_less_than_a_byte() -> None:
    content = hra.Hierarchy.tree([-1, 0, 0], np.ones(3))
    assert PagedHierarchy.of(content, [0, 1, 1], [1, 0.5]).hierarchy.total_cost == 1.5


def test_refinements_that_only_remove_keep_their_place() -> None:
    content = hra.Hierarchy.groups([1.0, 1.0, 1.0, 1.0], [-1, -1, -1, 1], [0, 1, -1, -1])
    problem = hra.solve(content, np.inf, errors=[2.0, 5.0, 1.0, 1.0]).problem
    paged = PagedHierarchy.of(content, [1, 1, 1, 0], [4.0, 1.0])
    assert sorted(paged.refinements.tolist() + paged.loads[paged.loads >= 0].tolist()) == [0, 1, 2]
    chosen = paged.problem(problem, 1)
    found = hra.Allocation(chosen, hra.Exact().solve(chosen), 0.0)
    assert (found.gain, found.selected[paged.refinements].tolist()) == (2.0, [True, False])


def test_without_refinements_all_pages_are_held() -> None:
    paged = PagedHierarchy.of(hra.Hierarchy.tree([-1], [1.0]), [0], [4.0])
    assert paged.held(np.zeros(0, bool)).tolist() == [True]


def test_problems_of_another_hierarchy_are_refused() -> None:
    """Of as many refinements, it was taken for one of the content."""
    paged = PagedHierarchy.of(hra.Hierarchy.tree([-1, 0, 0], np.ones(3)), [0, 1, 1], [8, 8])
    other = hra.solve(hra.Hierarchy.flat([5.0]), np.inf, gains=[7.0]).problem
    with pytest.raises(HierarchyError, match="another hierarchy"):
        paged.problem(other, 16)


def test_values_of_another_kind_or_length_are_refused() -> None:
    paged = PagedHierarchy.of(hra.Hierarchy.tree([-1, 0, 0], np.ones(3)), [0, 1, 1], [8, 8])
    gain, selected = np.ones(len(paged.hierarchy)), np.ones(len(paged.hierarchy), bool)
    with pytest.raises(ArrayError, match="held"):
        paged.shown(np.ones(1), np.array([1, 0]))
    with pytest.raises(ArrayError, match="gain"):
        paged.shown(np.array([np.nan]), np.array([True, True]))
    with pytest.raises(ArrayError, match="selected"):
        paged.worth(selected.astype(int), gain)
    with pytest.raises(ArrayError, match="gain"):
        paged.worth(selected, gain[:1])
