"""The order in which what is left is spent, and the heap that keeps it.

Keys are equal where, and only where, refinements open up the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import ArrayError, HraError
from hra.model.arrays import frozen
from hra.model.hierarchy import Hierarchy
from hra.solvers import fill
from hra.solvers.fill import _before, _needs_keys, _pop, _push, structure_keys
from tests.helpers.hierarchies import random_parents


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_heap_gives_back_in_order(seed: int, keyed: bool) -> None:
    """More worth first, then more gain, less cost, what opens up nothing, the larger key, the lesser number."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 25))
    # Types as `complete` has them: others would be compiled for as well.
    priority, gain, cost = frozen(rng.integers(0, 3, (3, size)).astype(np.float64))
    after = frozen(np.concatenate([[0], np.cumsum(rng.integers(0, 2, size))]).astype(np.int32))
    key = rng.integers(0, 3, size if keyed else 0).astype(np.uint64)
    order = priority, gain, cost, after, key
    opens = np.diff(after) > 0
    rank = [(-priority[r], -gain[r], cost[r], opens[r], -int(key[r]) if keyed else 0, r) for r in range(size)]
    heap, held = np.empty(size, np.int32), 0
    for r in rng.permutation(size).astype(np.int32):
        held = _push(heap, held, order, r)
    found = []
    for _ in range(size):
        found.append(int(heap[0]))
        held = _pop(heap, held, order)
    assert held == 0 and found == sorted(range(size), key=rank.__getitem__)
    a, b = rng.integers(0, size, 2).tolist()
    assert _before(order, a, b) == (rank[a] < rank[b])
    alike = rank[a][:3] == rank[b][:3] and opens[a] and opens[b]
    assert _needs_keys(order, a, b) == (alike and not keyed)


def forms(parent: np.ndarray, labels: list[tuple[float, float]]) -> list[tuple]:
    """The canonical form of every refinement's subtree: its label, then its children's forms in sorted order."""
    children: list[list[tuple]] = [[] for _ in labels]
    form: list[tuple] = [()] * len(labels)
    for r in range(len(labels) - 1, -1, -1):
        form[r] = (labels[r], *sorted(children[r]))
        if parent[r] >= 0:
            children[parent[r]].append(form[r])
    return form


@given(seed=st.integers(0, 2**32 - 1))
def test_equal_keys_are_equal_subtrees(seed):
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, int(rng.integers(1, 40)))
    tree = Hierarchy.tree(parents, rng.integers(0, 2, parents.size), mode="add")
    gain, cost = rng.integers(0, 2, len(tree)).astype(float), tree.cost
    keys = structure_keys(*tree.successors, gain.view(np.uint64), cost.view(np.uint64)).tolist()
    assert tree.parent is not None
    form = forms(tree.parent, list(zip(gain.tolist(), cost.tolist(), strict=True)))
    assert len(set(keys)) == len(set(form)) == len(set(zip(keys, form, strict=True)))


FLAT = hra.solve(hra.Hierarchy.flat([3, 2, 2]), 5, gains=[6.0, 3.0, 2.0]).problem
NOTHING = np.zeros(3, bool)


@pytest.mark.parametrize(
    "made", [list, lambda p: p.astype(">f8"), np.float32, np.float16, np.int64, lambda p: np.repeat(p, 2)[::2]]
)
def test_equal_priorities_of_any_kind_give_the_same_choice(made):
    priority = np.array([1.0, 2.0, 3.0])
    assert hra.complete(FLAT, NOTHING, made(priority), spend_all=False).tolist() == [False, True, True]


def test_priorities_of_any_kind_are_filled_by_what_is_compiled_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """For arrays that may be written to, or with gaps, three loops were compiled again, three seconds."""
    filled, got = fill._complete, []

    def noted(among, predecessors, successors, ranks, *rest):
        got.append([(array.flags.writeable, array.flags.c_contiguous) for array in ranks[:3]])
        return filled(among, predecessors, successors, ranks, *rest)

    monkeypatch.setattr(fill, "_complete", noted)
    for priority in (np.ones(3), frozen(np.ones(3)), np.ones(6)[::2]):
        hra.complete(FLAT, NOTHING, priority, spend_all=False)
    assert got == [[(False, True)] * 3] * 3


@pytest.mark.parametrize("priority", [[1.0], [1.0] * 4, ["a"] * 3, [[1.0] * 3], 1.0])
def test_what_is_not_one_priority_per_refinement_is_refused(priority):
    with pytest.raises(ArrayError) as caught:
        hra.complete(FLAT, NOTHING, priority, spend_all=False)
    assert caught.value.where.startswith("priority")


@pytest.mark.parametrize("never", [-1.0, np.nan])
def test_what_has_no_priority_is_never_taken(never):
    assert hra.complete(FLAT, NOTHING, np.array([never, 1.0, 1.0]), spend_all=True).tolist() == [False, True, True]


@pytest.mark.parametrize("start", [NOTHING[:2], np.zeros(4, bool), np.zeros(3, int), [False] * 3, np.array([0, 1])])
def test_a_start_is_one_bool_per_refinement(start):
    with pytest.raises(HraError, match="one bool per refinement"):
        hra.complete(FLAT, start, FLAT.ratio, spend_all=False)
