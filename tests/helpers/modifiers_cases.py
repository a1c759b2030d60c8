"""What several tests of modifiers share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import hra
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import Plain, Table
from tests.helpers.hierarchies import KINDS

seeds = st.integers(0, 2**32 - 1)


kinds = pytest.mark.parametrize("kind", KINDS)


def allocator(hierarchy: Hierarchy, traversal: hra.Traversal) -> Plain:
    return Plain(hierarchy, Table(kind="gain"), traversal)


def room(rng: np.random.Generator, hierarchy: Hierarchy) -> float:
    return float(hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 1))
