"""Pools read as auctions: bids, the price, and the page that explains them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.model.hierarchy import Hierarchy
from hra.pooling.bids import Bid
from hra.pooling.pool import pool
from tests.helpers.allocators import Plain, Table
from tests.helpers.hierarchies import FORESTS, case

PAGE = Path(__file__).parents[3] / "docs" / "pools.md"
seeds = st.integers(0, 2**32 - 1)


def steps(*gains: float) -> Plain:
    """Unit steps, given by falling gain."""
    return Plain(Hierarchy.flat(np.ones(len(gains))), Table(np.array(gains), kind="gain"), hra.Hull())


def test_bids_are_the_gains_of_the_last_and_the_next_unit():
    result = pool(steps(9, 5, 1), steps(8, 6, 2), steps(0.5)).allocate((None, None, None), 4)
    assert [member.cost for member in result.members] == [2, 2, 0]
    assert result.bids == (Bid(last=5, next=1), Bid(last=6, next=2), Bid(last=np.inf, next=0.5))
    assert max(bid.next for bid in result.bids) == result.price == 2


def test_within_an_indivisible_step_both_bids_are_its_slope():
    late = Plain(Hierarchy.chains([3], [0.0, 1.0, 1.0]), Table([0.0, 1.0, 5.0], kind="gain"), hra.Hull())
    assert pool(late).allocate((None,), 1).bids == (Bid(last=3, next=3),)


def test_members_with_all_they_can_use_bid_nothing():
    result = pool(steps(3, 2), steps(1, 0)).allocate((None, None), 10)
    assert result.bids == (Bid(last=2, next=0), Bid(last=1, next=0))
    assert result.price == 0


@given(seed=seeds)
def test_the_price_separates_what_was_bought_from_what_was_not(seed):
    rng = np.random.default_rng(seed)
    members = []
    for kind in rng.choice(FORESTS, 3):
        hierarchy, values, _ = case(kind, int(rng.integers(2**32)))
        members.append(Plain(hierarchy, Table(values, kind="gain"), hra.Hull()))
    whole = [member.hierarchy_for(None) for member in members]
    least, most = sum(h.base_cost for h in whole), sum(h.total_cost for h in whole)
    result = pool(*members, traversal=hra.Hull(finish="none")).allocate([None] * 3, int(rng.integers(least, most + 1)))
    for bid in result.bids:
        assert bid.next <= result.price * (1 + 1e-9)
        assert bid.last >= result.price * (1 - 1e-9)


def test_held_members_bid_past_the_price():
    members, limits = (steps(9, 8, 7), steps(5, 4, 3), steps(2, 1)), [(None, 1), (None, None), (2, None)]
    result = pool(*members, limits=limits).allocate([None] * 3, 5)
    assert [member.cost for member in result.members] == [1, 2, 2]
    rich, free, poor = result.bids
    assert rich.next == 8 > result.price  # would pay more, but may not
    assert poor.last == 1 < result.price  # was given what it would not have bought
    assert free.next == result.price == 3 == result.members[1].price


def test_the_price_does_not_depend_on_the_traversal_having_one():
    members = (steps(9, 5, 1), steps(8, 6, 2))
    prices = {pool(*members, traversal=t).allocate((None, None), 4).price for t in (hra.Hull(), hra.BestFirst())}
    assert prices == {2.0}


def test_the_example_of_the_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    printed = re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert capsys.readouterr().out == "".join(printed)
