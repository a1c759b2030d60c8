"""What several tests of penalties share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from tests.helpers.hierarchies import KINDS

seeds = st.integers(0, 2**32 - 1)


kinds = pytest.mark.parametrize("kind", KINDS)


def random_shares(rng: np.random.Generator, hierarchy: Hierarchy) -> np.ndarray:
    before, _ = hierarchy.predecessors
    share, owner = rng.random(len(hierarchy.edges)) + 1e-3, np.repeat(np.arange(len(hierarchy)), np.diff(before))
    return share / np.bincount(owner, share, len(hierarchy))[owner]
