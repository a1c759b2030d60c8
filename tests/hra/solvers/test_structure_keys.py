"""Keys are equal where, and only where, refinements open up the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.structure_keys import structure_keys
from tests.helpers.hierarchies import random_parents


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
