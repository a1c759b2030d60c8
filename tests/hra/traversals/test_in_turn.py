from __future__ import annotations

import pytest

import hra
from hra.errors import HierarchyError
from hra.solvers.picking.picker import Top
from hra.traversals.in_turn import InTurn


def test_what_is_no_flat_hierarchy_is_refused():
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1] * 5)
    with pytest.raises(HierarchyError, match="independent nodes"):
        hra.solve(tree, 3, errors=[3.0, 1.0, 1.0, 0.0, 0.0], traversal=InTurn(((1, Top()),)))
