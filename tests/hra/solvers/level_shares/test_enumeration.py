from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.solvers.level_shares.enumeration import first_found
from hra.solvers.level_shares.needs import Needs


@given(st.integers(0, 10**6))
def test_a_set_is_found_exactly_where_one_of_all_meets_the_needs(seed: int):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 8))
    parent = np.array([-1, *(int(rng.integers(0, v)) for v in range(1, count))])
    tree = hra.Hierarchy.tree(parent, np.ones(count), mode="add")
    problem = hra.solve(tree, budget=count, gains=np.ones(count)).problem
    change = rng.integers(-3, 4, (len(tree), 2)).astype(float)
    needs = Needs(np.arange(1), np.zeros(1), rng.integers(-4, 2, 2).astype(float), change)
    sets = [np.array(one, bool) for one in product([False, True], repeat=len(tree))]
    meet = [one for one in sets if tree.is_valid(one) and (needs.slack + change[one].sum(axis=0) >= 0).all()]
    found, is_sure = first_found(problem, needs)
    assert is_sure
    assert (found is not None) == bool(meet)
    assert found is None or any(np.array_equal(found, one) for one in meet)
