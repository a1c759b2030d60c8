"""Cells of an octree on disk: those of the tree over all points, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hra.errors import LimitExceeded
from hra.kernels.chunking import Records, octree_cells
from hra.kernels.trees import build_tree, morton_codes


def written(path: Path, places: np.ndarray) -> Records:
    rows = np.column_stack([places, np.arange(len(places))]).astype(np.float32)
    rows.tofile(path)
    return Records(path, 4, 0, len(rows))


# At the third spread all points are in one cell of the first counting grid, and of the second.
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-5])
def test_cells_are_the_largest_nodes_that_fit(tmp_path: Path, spread: float):
    rng = np.random.default_rng(0)
    places = (rng.random((3000, 3)) * spread).astype(np.float32)
    bounds = np.array([[0, 0, 0], [1, 1, 1]])
    cells = [cell.read() for cell in octree_cells(written(tmp_path / "rows", places), bounds, 64, tmp_path)]
    grown = build_tree(places, bounds=bounds)
    sizes = grown.end - grown.begin
    tops = np.flatnonzero((sizes <= 64) & (sizes[grown.tree.parent] > 64))
    tops = tops[np.argsort(grown.begin[tops])]
    expected = [np.sort(grown.order[grown.begin[v] : grown.end[v]]) for v in tops]
    assert [cell[:, 3].astype(int).tolist() for cell in cells] == [rows.tolist() for rows in expected]
    together = np.concatenate(cells)
    np.testing.assert_array_equal(together[np.argsort(together[:, 3]), :3], places)
    codes = morton_codes(np.array([cell[0, :3] for cell in cells]), bounds=bounds)
    assert (np.diff(codes.astype(np.int64)) > 0).all()


def test_few_rows_stay_where_they_are(tmp_path: Path):
    records = written(tmp_path / "rows", np.zeros((10, 3)))
    assert octree_cells(records, np.zeros((2, 3)), 10, tmp_path) == [records]


def test_too_many_at_one_place_are_refused(tmp_path: Path):
    places = np.concatenate([np.zeros((20, 3)), np.ones((5, 3))])
    with pytest.raises(LimitExceeded, match="20 points lie at one place"):
        octree_cells(written(tmp_path / "rows", places), np.array([[0, 0, 0], [1, 1, 1]]), 10, tmp_path)
