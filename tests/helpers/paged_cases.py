"""What several tests of paged share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import hra
from hra.residency import PagedHierarchy

SEEDS = st.integers(0, 10**6)


SLOT = 8


def random_content(seed: int) -> tuple[hra.Hierarchy, np.ndarray, np.ndarray, PagedHierarchy]:
    """Content that is a graph or a tree, gains, and up to five pages of one slot each."""
    random = np.random.default_rng(seed)
    count, pages = int(random.integers(4, 14)), int(random.integers(1, 6))
    if random.random() < 0.5:
        parents = np.array([-1, *(random.integers(0, k) for k in range(1, count))])
        content = hra.Hierarchy.tree(parents, np.ones(count))
    else:
        added = np.repeat(np.arange(-1, count // 2 - 1), 2)
        removed = np.array([random.integers(a + 1, count // 2) if a + 1 < count // 2 else -1 for a in added])
        for group in range(count // 2 - 1):
            removed[group] = group  # every group removes something that is there before
        removed[removed >= count // 2 - 1] = -1
        content = hra.Hierarchy.groups(np.ones(len(added)), added, removed)
    gain = random.integers(0, 10, len(content)).astype(float)
    page_of = random.integers(0, pages, content.node_cost.size)
    return content, gain, page_of, PagedHierarchy.of(content, page_of, np.full(pages, SLOT))


def problem_of(content: hra.Hierarchy, gain: np.ndarray) -> hra.Problem:
    return hra.Problem(content, gain, 0.0, np.inf, "error", True, gain.copy)
