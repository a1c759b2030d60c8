"""What sets of copies say, beside one copy at a time; more lanes than lie side by side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.copies.blocks import LANES
from hra.solvers.copies.states import are_down_closed, count_changes, counts_of, cuts_of
from tests.helpers.hierarchies import KINDS, case
from tests.hra.solvers.copies.test_at_price import random_copies

seeds = st.integers(0, 2**32 - 1)


def random_sets(hierarchy: Hierarchy, lanes: int, rng: np.random.Generator) -> np.ndarray:
    """Down-closed sets [R, I] of any size, some of them empty."""
    offsets, needed = hierarchy.predecessors
    sets = rng.random((len(hierarchy), lanes)) < rng.random(lanes)
    for r in range(len(hierarchy)):
        for p in needed[offsets[r] : offsets[r + 1]]:
            sets[r] &= sets[p]
    return sets


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_cuts_are_those_of_each_copy(kind: str, seed: int) -> None:
    hierarchy, _, rng = case(kind, seed)
    sets = random_sets(hierarchy, int(rng.choice([1, LANES, LANES + 3, 2 * LANES])), rng)
    ends, nodes = cuts_of(hierarchy.added_by, hierarchy.removed_by, sets)
    assert ends[0] == 0 and ends[-1] == nodes.size
    for i, selected in enumerate(sets.T):
        there = np.append(selected, True)[hierarchy.added_by] & ~np.append(selected, False)[hierarchy.removed_by]
        assert np.array_equal(nodes[ends[i] : ends[i + 1]], np.flatnonzero(there))


@given(seeds)
def test_counts_are_sums_over_lanes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    then, now = rng.random((2, 5, 7)) < 0.5
    assert count_changes(then, now) == (then ^ now).sum()
    assert np.array_equal(counts_of(now), now.sum(axis=1))


@given(seeds)
def test_one_refinement_without_its_predecessor_is_noticed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    copies, _ = random_copies(rng, 6)
    selected = np.zeros(copies.lanes, np.bool_)
    for hierarchy, part in zip(copies.hierarchies, copies.parts(selected), strict=True):
        part[:] = random_sets(hierarchy, part.shape[1], rng)
    assert are_down_closed(copies.rows, selected)
    for hierarchy, part in zip(copies.hierarchies, copies.parts(selected), strict=True):
        for before, after in hierarchy.edges.tolist():
            i = int(rng.integers(part.shape[1]))
            kept = part[[before, after], i].copy()
            part[before, i], part[after, i] = False, True
            assert not are_down_closed(copies.rows, selected)
            part[[before, after], i] = kept
