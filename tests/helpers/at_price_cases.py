"""What several tests of at price share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.copies.blocks import in_blocks
from hra.solvers.copies.copies import Copies

seeds = st.integers(0, 2**32 - 1)


def random_copies(rng: np.random.Generator, most: int = 200) -> tuple[Copies, np.ndarray]:
    """One or two kinds of random graphs, with more copies than have shares of their own, and gains for all."""
    kinds = []
    for size in rng.integers(1, 12, int(rng.integers(1, 3))).tolist():
        edges = [(a, b) for b in range(size) for a in range(b) if rng.random() < 2 / size]
        kinds.append(Hierarchy.dag(rng.integers(1, 9, size), np.array(edges, np.int32).reshape(-1, 2)))
    copies = Copies(tuple(kinds), tuple(rng.integers(1, most, len(kinds)).tolist()))
    return copies, rng.random(copies.lanes) * 2.0 ** rng.integers(0, 8, copies.lanes)


def blocks_of(copies: Copies, gain: np.ndarray) -> np.ndarray:
    return in_blocks(copies.rows, gain, np.empty(copies.lanes))
