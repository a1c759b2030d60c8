"""Joining refinements of negative cost where nothing is compiled."""

from __future__ import annotations

import numpy as np
import pytest

from hra.model.hierarchy import Hierarchy
from hra.solvers import reduction


def test_costs_without_a_common_unit_are_joined_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with NUMBA_DISABLE_JIT=1, where compiled functions are plain ones."""
    hierarchy = Hierarchy.tree([-1, 0, 1, 1], [1 / 3, 0.7**9, 0.1, 1e-3])
    assert not hierarchy.units.exact and hierarchy.shrinks
    compiled = reduction.join.__wrapped__(hierarchy)
    monkeypatch.setattr(reduction, "_join", getattr(reduction._join, "py_func", reduction._join))
    plain = reduction.join.__wrapped__(hierarchy)
    assert np.array_equal(compiled.hierarchy.node_cost, plain.hierarchy.node_cost)
