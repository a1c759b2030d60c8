from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from hra.model.disjoint_sets import find


@given(st.integers(1, 30), st.integers(0, 40), st.integers(0, 2**31))
def test_members_have_one_root_if_they_are_connected(count: int, joins: int, seed: int):
    pairs = np.random.default_rng(seed).integers(0, count, (joins, 2))
    root = np.arange(count)
    for a, b in pairs:
        root[find(root, a)] = find(root, b)
    found = np.array([find(root, i) for i in range(count)])
    _, component = connected_components(coo_matrix((np.ones(joins), pairs.T), (count, count)), directed=False)
    assert np.array_equal(found[:, None] == found, component[:, None] == component)
