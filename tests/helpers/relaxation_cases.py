"""What several tests of relaxation share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.helpers.hierarchies import random_parents

seeds = st.integers(0, 2**32 - 1)


def node_parents(rng: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    nodes = np.arange(size)
    return {
        "quadtree": (nodes - 1) // 4,
        "binary": (nodes - 1) // 2,
        "star": np.where(nodes, 0, -1),
        "chain": nodes - 1,
        "chains": np.where(nodes % 30, nodes - 1, -1),
        "random": random_parents(rng, size),
        "chain of stars": np.where(nodes % 100, nodes - nodes % 100, nodes - 100).clip(-1),
    }
