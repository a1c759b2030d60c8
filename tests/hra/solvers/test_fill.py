"""The order in which what is left is spent, and the heap that keeps it.

Keys are equal where, and only where, refinements open up the same.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.fill import _before, _needs_keys, _pop, _push, structure_keys
from tests.helpers.hierarchies import random_parents


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_heap_gives_back_in_order(seed: int, keyed: bool) -> None:
    """More worth first, then more gain, less cost, what opens up nothing, the larger key, the lesser number."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 25))
    priority, gain, cost = rng.integers(0, 3, (3, size)).astype(np.float64)
    after = np.concatenate([[0], np.cumsum(rng.integers(0, 2, size))]).astype(np.int32)
    key = rng.integers(0, 3, size) if keyed else np.empty(0, np.int64)
    order = priority, gain, cost, after, key
    opens = np.diff(after) > 0
    rank = [(-priority[r], -gain[r], cost[r], opens[r], -key[r] if keyed else 0, r) for r in range(size)]
    heap, held = np.empty(size, np.int64), 0
    for r in rng.permutation(size):
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
