"""The most promising moves of a local search, beside all moves that there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.solvers.level_shares.search import _KEPT, moves
from tests.helpers.hierarchies import case

REACH = 4


def closure(lists: tuple[np.ndarray, np.ndarray], selected: np.ndarray, present: bool, r: int) -> list[int]:
    """What moves with ``r``, breadth first."""
    offsets, neighbours = lists
    found = [r]
    for member in found:
        nearest = neighbours[offsets[member] : offsets[member + 1]].tolist()
        found += [n for n in dict.fromkeys(nearest) if selected[n] == present and n not in found]
    return found


@pytest.mark.parametrize("present", [False, True])
@given(seed=st.integers(0, 2**32 - 1))
def test_moves_are_the_best_of_each_kind_with_all_that_moves_with_them(present: bool, seed: int) -> None:
    hierarchy, _, rng = case("dag", seed, 30)
    count, kinds = len(hierarchy), 2
    gain, value, change = rng.random(count), rng.random(count), rng.random((count, 3))
    kind, pinned = rng.integers(0, kinds, count), rng.random(count) < 0.2
    selected = rng.random(count) < 0.5
    lists = hierarchy.predecessors
    if present:
        order = np.argsort(hierarchy.edges[:, 0], kind="stable")
        counts = np.bincount(hierarchy.edges[:, 0], minlength=count)
        lists = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), hierarchy.edges[order, 1].copy()
    members, gains, values, changes = moves(
        *lists, (gain, value, change, kind, kinds), pinned, selected, present, REACH
    )
    assert (members[0] == -1).all() and gains[0] == values[0] == 0 and not changes[0].any()
    free = [r for r in range(count) if selected[r] == present and not (present and pinned[r])]
    every = {r: found for r in free if len(found := closure(lists, selected, present, r)) <= REACH}
    expected = []
    for k in range(kinds):
        own = [r for r in every if kind[r] == k]
        own.sort(key=lambda r: value[every[r]].sum(), reverse=not present)
        expected += own[:_KEPT]
    assert members[1:, 0].tolist() == expected
    for i, r in enumerate(expected, 1):
        assert sorted(members[i][members[i] >= 0].tolist()) == sorted(every[r])
        found = gains[i], values[i], changes[i]
        sums = (part[every[r]].sum(axis=0) for part in (gain, value, change))
        assert all(np.allclose(ours, theirs) for ours, theirs in zip(found, sums, strict=True))
