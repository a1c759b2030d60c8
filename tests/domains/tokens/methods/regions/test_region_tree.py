"""Region trees: any list of merges, and its cuts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.regions.hybrid_regions import smaller_first
from hra.domains.tokens.methods.regions.region_sources import grid_merges, region_edges
from hra.domains.tokens.methods.regions.region_tree import RegionTree, region_boxes


def random_tree(leaves: int, seed: int, size: tuple[int, int] = (9, 11)) -> RegionTree:
    """Leaves of random pixels, merged in random order."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, leaves, size).astype(np.int32)
    labels.ravel()[generator.permutation(labels.size)[:leaves]] = np.arange(leaves)
    alive, merges = list(range(leaves)), []
    for node in range(leaves, 2 * leaves - 1):
        pair = [alive.pop(generator.integers(len(alive))) for _ in range(2)]
        merges.append(pair)
        alive.append(node)
    return RegionTree(labels, np.array(merges, np.int32).reshape(-1, 2))


def leaf_sets(tree: RegionTree) -> list[set[int]]:
    """The leaves below each node."""
    sets = [{leaf} for leaf in range(tree.leaves)]
    for a, b in tree.merges:
        sets.append(sets[a] | sets[b])
    return sets


@given(st.integers(1, 30), st.integers(0, 9))
def test_areas_and_boxes_are_those_of_the_pixels_below(leaves, seed):
    tree = random_tree(leaves, seed)
    for node, below in enumerate(leaf_sets(tree)):
        y, x = np.nonzero(np.isin(tree.labels, list(below)))
        assert tree.areas[node] == y.size
        assert tree.boxes[node].tolist() == [x.min(), y.min(), x.max() + 1, y.max() + 1]
    assert tree.tree.levels[0] == (0, 1) and tree.parent[-1] == -1


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 9))
def test_a_cut_undoes_the_last_merges(leaves, count, seed):
    tree = random_tree(leaves, seed)
    groups = [{leaf} for leaf in range(leaves)]
    sets = leaf_sets(tree)
    for k in range(leaves - min(count, leaves)):
        groups = [group for group in groups if not group <= sets[leaves + k]] + [sets[leaves + k]]
    labels = tree.cut(count)
    assert sorted(np.unique(labels)) == list(range(min(count, leaves)))
    found = {frozenset(np.unique(tree.labels[labels == region]).tolist()) for region in np.unique(labels)}
    assert found == {frozenset(group) for group in groups}


def test_pixels_outside_the_nodes_are_shown_by_none():
    tree = RegionTree(np.array([[0, 1, 2]], np.int32), np.array([[1, 2], [0, 3]], np.int32))
    assert tree.shown(np.array([3])).tolist() == [[-1, 0, 0]]
    assert tree.shown(np.array([], np.int64)).tolist() == [[-1, -1, -1]]


def test_boxes_of_absent_labels_are_empty():
    boxes = region_boxes(np.array([[-1, 0], [-1, 0]], np.int32), 2)
    assert boxes[0].tolist() == [1, 0, 2, 2]
    assert (boxes[1, 2:] == 0).all()


@given(st.integers(1, 30), st.integers(0, 9))
def test_smaller_first_keeps_the_regions_and_sorts_the_merges(leaves, seed):
    tree = random_tree(leaves, seed)
    ordered = RegionTree(tree.labels, smaller_first(tree.merges, tree.areas[:leaves]))
    assert (np.diff(ordered.areas[leaves:]) >= 0).all()
    assert {frozenset(group) for group in leaf_sets(tree)} == {frozenset(group) for group in leaf_sets(ordered)}


def test_edges_join_what_touches():
    labels = np.array([[0, 0, 2], [1, 0, 2], [1, -1, 3]])
    assert region_edges(labels).tolist() == [[0, 1], [0, 2], [2, 3]]
    assert region_edges(np.zeros((1, 1), int)).shape == (0, 2)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 5))
def test_grid_merges_join_every_cell_once(rows, columns, seed):
    keep = np.random.default_rng(seed).random((rows, columns)) < 0.6
    keep[0, 0] = True
    grid = np.full((rows, columns), -1)
    grid[keep] = np.arange(keep.sum())
    merges = grid_merges(grid, int(keep.sum()))
    assert sorted(merges.ravel()) == list(range(2 * (int(keep.sum()) - 1)))


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_the_cuts_of_a_square_grid_are_its_blocks(size):
    grid = np.arange(256).reshape(16, 16)
    labels = RegionTree(grid.astype(np.int32), grid_merges(grid, 256)).cut((16 // size) ** 2)
    blocks = labels.reshape(16 // size, size, 16 // size, size)
    assert (blocks == blocks[:, :1, :, :1]).all()
    assert np.unique(labels).size == (16 // size) ** 2
