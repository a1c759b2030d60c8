"""Sets at a price: valid, bounded, and the same however many rows are left out because nothing there is in surplus."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from hra.solvers.copies.blocks import LANES, in_rows, lanes_of
from tests.helpers.at_price_cases import blocks_of, random_copies, seeds


@given(seeds)
def test_blocks_hold_what_rows_hold(seed: int) -> None:
    copies, gain = random_copies(np.random.default_rng(seed))
    blocks = blocks_of(copies, gain)
    assert np.array_equal(in_rows(copies.rows, blocks, np.empty_like(blocks)), gain)
    for kind, part in enumerate(copies.parts(gain)):
        for lane in range(0, copies.counts[kind], LANES):
            assert np.array_equal(lanes_of(copies.rows, kind, lane, blocks), part[:, lane : lane + LANES])
