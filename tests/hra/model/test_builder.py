from __future__ import annotations

from typing import Any

import numpy as np

import hra
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import Plain, Table


class Strips(HierarchyBuilder):
    """As many independent nodes as the context has numbers."""

    def build(self, context: Any) -> Hierarchy:
        return Hierarchy.flat(np.ones(len(context)))


def test_a_builder_makes_the_hierarchy_of_each_context():
    allocator = Plain(Strips(), Table(kind="gain"), hra.Hull())
    assert allocator.allocate([1, 5, 3], 2).cut.tolist() == [1, 2]
    assert allocator.allocate([1, 5], 1).cut.tolist() == [1]
