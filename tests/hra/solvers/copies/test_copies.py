from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.copies.at_price import sets_at_price
from hra.solvers.copies.blocks import all_rows, even_shares, in_blocks, in_rows
from hra.solvers.copies.copies import Copies
from hra.testing.traversal import closed_sets

seeds = st.integers(0, 2**32 - 1)


def blocks_of(copies: Copies, gain: np.ndarray) -> np.ndarray:
    return in_blocks(copies.rows, gain, np.empty(copies.lanes))


@given(seeds)
def test_of_forests_the_set_is_the_best_and_the_bound_is_its_worth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(-1, r)) if r else -1 for r in range(int(rng.integers(1, 9)))]
    edges = np.array([(p, r) for r, p in enumerate(parents) if p >= 0], np.int32).reshape(-1, 2)
    tree, count = Hierarchy.dag(rng.integers(1, 9, len(parents)), edges), int(rng.integers(1, 5))
    copies = Copies((tree,), (count,))
    gain, price, sets = rng.random(copies.lanes) * 20, rng.uniform(0.1, 4.0), np.empty(copies.lanes, np.bool_)
    share = even_shares(copies)
    own = copies.rows, blocks_of(copies, gain), price, share, all_rows(copies.rows, share)
    spent, gained, bound = sets_at_price(*own, sets)
    worth = (closed_sets(tree) @ (copies.parts(gain)[0] - price * tree.cost[:, None])).max(axis=0).sum()
    assert np.isclose(gained, worth) and np.isclose(bound, worth)
    assert np.isclose(spent, (np.repeat(tree.cost, count) * in_rows(copies.rows, sets, np.empty_like(sets))).sum())
