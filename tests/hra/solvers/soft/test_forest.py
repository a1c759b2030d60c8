"""Forests of the soft cut: levels, and the caller's order."""

from __future__ import annotations

import numpy as np
import pytest

from hra.model.hierarchy import Hierarchy

torch = pytest.importorskip("torch")

from hra.solvers.soft.forest import SoftForest  # noqa: E402

PARENTS = [2, -1, 1, 1]  # a refinement before what it follows


def test_columns_and_rows_are_each_others_inverse_whatever_stands_behind() -> None:
    forest = SoftForest.of_parents(PARENTS, [1.0, 2, 3, 4])
    rows = torch.arange(8.0).reshape(2, 4)
    columns = forest.columns(rows)
    assert columns[0].tolist() == [1, 5] and columns[-1].tolist() == [0, 4]
    assert torch.equal(forest.rows(columns), rows)
    pairs = torch.stack([columns, -columns], dim=1)  # [R, 2, B]
    assert torch.equal(forest.rows(pairs), torch.stack([rows, -rows], dim=0))


def test_what_costs_something_else_has_no_base() -> None:
    hierarchy = Hierarchy.tree([-1, 0, 0], [4, 1, 2], mode="add")
    assert SoftForest.of(hierarchy).base_cost == 4
    other = SoftForest.of(hierarchy, cost=np.array([5.0, 6.0]))
    assert other.base_cost == 0 and other.cost[:, 0].tolist() == [5, 6] and other.room(7.5) == 7.5
