"""Saved trees: archives whose parents are not tree are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hra.domains.points import PointCloud, build, build_out_of_core, load_tree, save_tree
from hra.errors import FileError


def written(path: Path, parent: np.ndarray) -> Path:
    """A tree of two points and their parent with other parents."""
    widths = {"position": 3, "color": 3, "reach": 0, "size": 0, "color_loss": 0, "cover_loss": 0, "shift": 0}
    arrays = {name: np.ones((3, width) if width else 3, np.float32) for name, width in widths.items()}
    np.savez(path, kind=np.array(PointCloud.unit), parent=parent, **arrays)  # pyright: ignore[reportArgumentType]
    return path


def test_a_tree_that_is_one_is_read(tmp_path: Path) -> None:
    found = load_tree(written(tmp_path / "a.npz", np.array([-1, 0, 0])))
    assert found.parent.tolist() == [-1, 0, 0] and found.kind is PointCloud


@pytest.mark.parametrize("parent", [[], [0, 0, 0], [-1, 1, 0], [-1, -1, 0], [[-1, 0, 0]], -1, [-1, 0, 2]], ids=str)
def test_parents_that_are_no_tree_are_refused(parent: object, tmp_path: Path) -> None:
    path = written(tmp_path / "a.npz", np.array(parent, np.int64))
    with pytest.raises(FileError, match="the parents are not in level order") as caught:
        load_tree(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("name", ["a.ply", "a", "a.hpt.npz"])
def test_trees_are_not_written_under_other_suffixes(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"trees of clouds are written as \.hpt"):
        save_tree(tmp_path / name, build(PointCloud([[0, 0, 0]])))
    with pytest.raises(FileError, match=r"trees of clouds are written as \.hpt"):
        build_out_of_core(tmp_path / "a.las", tmp_path / name, memory=2**30)
    assert not [*tmp_path.iterdir()]
