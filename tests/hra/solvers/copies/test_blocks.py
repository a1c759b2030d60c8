"""Shares that go from one step of a sequence to the next, with the copies that they belong to."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.solvers.copies.blocks import LANES, even_shares, shares_after, shares_of_copy
from hra.solvers.copies.copies import Copies
from tests.hra.solvers.copies.test_at_price import random_copies


@given(st.integers(0, 2**32 - 1))
def test_copies_keep_their_shares(seed: int) -> None:
    """Who has shares of its own keeps them, a block gets those of its first copy, who is new its neighbour's."""
    rng = np.random.default_rng(seed)
    before, _ = random_copies(rng)
    old = even_shares(before)
    old.value[:] = rng.random(old.value.size)
    counts = tuple(rng.integers(1, 200, len(before.counts)).tolist())
    copies, starts = Copies(before.hierarchies, counts), np.concatenate([[0], np.cumsum(before.counts)])
    came_from = [
        starts[kind] + rng.integers(0, known, count)
        for kind, (known, count) in enumerate(zip(before.counts, counts, strict=True))
    ]
    for own in came_from:
        own[rng.random(own.size) < 0.2] = -1
    now = shares_after(copies, before, old, np.concatenate(came_from))
    for kind, own in enumerate(came_from):
        was = starts[kind]
        for i in range(own.size):
            was = own[i] if own[i] >= 0 else was
            alone = now.at[now.first[kind] + i // LANES + 1] - now.at[now.first[kind] + i // LANES]
            if i % LANES == 0 or alone > len(copies.hierarchies[kind].predecessors[1]):
                expected = shares_of_copy(before.rows, old, kind, was - starts[kind])
                assert np.array_equal(shares_of_copy(copies.rows, now, kind, i), expected)


def test_equal_steps_keep_equal_shares() -> None:
    copies, _ = random_copies(np.random.default_rng(1))
    old = even_shares(copies)
    old.value[:] = np.random.default_rng(2).random(old.value.size)
    now = shares_after(copies, copies, old, np.arange(sum(copies.counts)))
    assert np.array_equal(now.value, old.value)
