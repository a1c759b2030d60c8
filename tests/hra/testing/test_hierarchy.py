from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hra.errors import HierarchyError
from hra.model.hierarchy import Hierarchy
from hra.testing import CheckFailed, check_hierarchy
from hra.testing.instances import KINDS, case


@pytest.mark.parametrize("kind", KINDS)
def test_our_hierarchies_pass(kind: str):
    for seed in range(10):
        check_hierarchy(case(kind, seed, 12)[0])


def test_mistakes_of_a_hierarchy_are_named():
    tree = Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 1, 1], attributes={"size": [1.0, np.nan, 1, 1, 1]})
    with pytest.raises(CheckFailed, match="'size' is not finite"):
        check_hierarchy(tree)
    parent = np.array([-1, 0, 0, 2, 1], np.int32)  # a child under another parent than the refinements say
    with pytest.raises(HierarchyError, match="cannot be a child"):
        replace(tree, node={}, node_parent=parent)
    wrong = replace(tree, node={})
    object.__setattr__(wrong, "node_parent", parent)  # past the constructor, as no caller should
    with pytest.raises(CheckFailed, match="is shown"):
        check_hierarchy(wrong)
    with pytest.raises(HierarchyError, match="before it is added"):
        replace(tree, node={}, edges=tree.edges[:, ::-1].copy())
