from __future__ import annotations

import numpy as np
from hypothesis import given

from hra.solvers.copies.at_price import sets_at_price, surplus_at_price
from hra.solvers.copies.blocks import LANES, Shares, all_rows, even_shares, in_rows, shares_of_copy
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.shares import improve_shares
from hra.solvers.copies.states import are_down_closed
from hra.solvers.dag.max_closure import max_closure
from tests.helpers.at_price_cases import blocks_of, random_copies, seeds


def improved(copies: Copies, gain: np.ndarray, price: float, times: int) -> Shares:
    share, gain = even_shares(copies), blocks_of(copies, gain)
    improve_shares(copies.rows, gain, price, share, all_rows(copies.rows, share), np.full(times, 2.0), np.ones(times))
    return share


@given(seeds)
def test_sets_are_valid_and_the_bound_holds(seed: int) -> None:
    """Beside the best closure of each copy."""
    rng = np.random.default_rng(seed)
    copies, gain = random_copies(rng, 20)
    price, sets = rng.uniform(0.1, 20.0), np.empty(copies.lanes, np.bool_)
    share = improved(copies, gain, price, int(rng.integers(0, 6)))
    own = copies.rows, blocks_of(copies, gain), price, share, all_rows(copies.rows, share)
    spent, gained, bound = sets_at_price(*own, sets)
    selected = in_rows(copies.rows, sets, np.empty_like(sets))
    assert are_down_closed(copies.rows, selected)
    costs = np.repeat(copies.rows.cost, np.diff(copies.rows.at))
    assert np.isclose(spent, costs[selected].sum())
    best = 0.0
    for hierarchy, gains in zip(copies.hierarchies, copies.parts(gain), strict=True):
        for lane in gains.T:
            worth = lane - price * hierarchy.unit_cost
            split = np.ones(hierarchy.predecessors[1].size)
            best += float(
                worth[max_closure(hierarchy.predecessors, worth, np.arange(worth.size), split).selected].sum()
            )
    assert np.isclose(gained, worth_of(gain, costs, price, selected))
    assert gained <= best * (1 + 1e-9) + 1e-9
    assert best <= bound * (1 + 1e-9) + 1e-9


def worth_of(gain: np.ndarray, costs: np.ndarray, price: float, selected: np.ndarray) -> float:
    return float((gain - price * costs)[selected].sum())


@given(seeds)
def test_what_is_out_of_reach_is_not_missed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    copies, gain = random_copies(rng)
    price = rng.uniform(0.5, 20.0)
    share, gain = improved(copies, gain, price, 2), blocks_of(copies, gain)
    reach, full = all_rows(copies.rows, share), all_rows(copies.rows, share)
    selected, surplus = np.empty((2, copies.lanes), np.bool_), np.empty((2, copies.lanes))
    sets_at_price(copies.rows, gain, price * rng.uniform(0.3, 1.0), share, reach, selected[0])
    assert (reach <= full).all()
    surplus_at_price(copies.rows, gain, price, share, reach, surplus[0])
    surplus_at_price(copies.rows, gain, price, share, full, surplus[1])
    least = sets_at_price(copies.rows, gain, price, share, reach, selected[0])
    assert least == sets_at_price(copies.rows, gain, price, share, full, selected[1])
    assert np.array_equal(selected[0], selected[1]) and np.array_equal(surplus[0], surplus[1])


@given(seeds)
def test_shares_stay_shares(seed: int) -> None:
    """They add up to 1 for what has predecessors, in blocks and for copies alone."""
    copies, gain = random_copies(np.random.default_rng(seed))
    share = improved(copies, gain, 3.0, 4)
    for kind, (hierarchy, count) in enumerate(zip(copies.hierarchies, copies.counts, strict=True)):
        successor = hierarchy.edges[:, 1]
        for i in {0, count // 2, count - 1, min(LANES, count - 1)}:
            total = np.bincount(successor, shares_of_copy(copies.rows, share, kind, i), len(hierarchy))
            np.testing.assert_allclose(total[np.unique(successor)], 1.0, rtol=1e-9)
