"""Agglomeration against plain references, and the promises that it makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import ward

from hra.domains.tokens.methods.regions.agglomeration import Linkage, agglomerate
from hra.domains.tokens.methods.regions.region_sources import region_edges


def distance(linkage: Linkage, first: np.ndarray, second: np.ndarray, sizes: list[float]) -> float:
    """The definition, from mean features."""
    f, g = first[:-2], second[:-2]
    aside = np.linalg.norm(first[-2:] - second[-2:])
    if linkage is Linkage.WARD:
        return float(sizes[0] * sizes[1] / sum(sizes) * np.sum((f - g) ** 2))
    if linkage is Linkage.COLOUR:
        return float(np.linalg.norm(f - g) + aside + sum(sizes) / 10_000)
    return float(0.6 * (1 - f @ g) + 0.4 * aside / 64)


def plain_merges(features, sizes, edges, linkage, group):
    """All pairs looked at before every merge; means recomputed from the leaves."""
    members = {leaf: [leaf] for leaf in range(len(sizes))}
    touching = {tuple(sorted(edge)) for edge in edges.tolist()}
    merges = []
    for node in range(len(sizes), 2 * len(sizes) - 1):

        def cost(pair):
            parts = [members[side] for side in pair]
            first, second = (np.average(features[part], axis=0, weights=sizes[part]) for part in parts)
            across = len({int(group[leaf]) for part in parts for leaf in part}) > 1
            return across, distance(linkage, first, second, [float(sizes[part].sum()) for part in parts]), pair

        pairs = [
            (a, b)
            for a in members
            for b in members
            if a < b and any(tuple(sorted((i, j))) in touching for i in members[a] for j in members[b])
        ]
        a, b = min(map(cost, pairs))[-1]
        members[node] = members.pop(a) + members.pop(b)
        merges.append((a, b))
    return merges


def grid_problem(rows: int, columns: int, seed: int, dimensions: int = 3):
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(rows * columns, dimensions + 2)).astype(np.float32)
    sizes = generator.integers(1, 20_000, rows * columns).astype(float)
    return features, sizes, region_edges(np.arange(rows * columns).reshape(rows, columns))


@pytest.mark.parametrize("linkage", Linkage)
@given(rows=st.integers(1, 4), columns=st.integers(1, 4), seed=st.integers(0, 20), groups=st.integers(1, 3))
def test_the_closest_neighbours_are_merged_first(linkage, rows, columns, seed, groups):
    features, sizes, edges = grid_problem(rows, columns, seed)
    group = np.random.default_rng(seed).integers(0, groups, rows * columns)
    merges = agglomerate(features, sizes, edges, linkage, group=group)
    assert merges.tolist() == [list(pair) for pair in plain_merges(features, sizes, edges, linkage, group)]


def test_ward_on_a_complete_graph_is_that_of_scipy():
    features = np.random.default_rng(3).normal(size=(40, 6)).astype(np.float32)
    edges = np.stack(np.triu_indices(40, 1), axis=1)
    merges = agglomerate(features, np.ones(40), edges, Linkage.WARD)
    assert merges.tolist() == np.sort(ward(features[:, :4].astype(float))[:, :2].astype(int), axis=1).tolist()


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from(Linkage), st.integers(0, 9))
def test_all_leaves_are_merged_into_connected_regions(rows, columns, linkage, seed):
    features, sizes, edges = grid_problem(rows, columns, seed)
    merges = agglomerate(features, sizes, edges, linkage)
    assert sorted(merges.ravel()) == list(range(2 * (rows * columns - 1)))
    below = [{leaf} for leaf in range(rows * columns)]
    for a, b in merges:
        assert any(
            (i in below[a]) + (i in below[b]) + (j in below[a]) + (j in below[b]) == 2
            and (i in below[a]) != (j in below[a])
            for i, j in edges
        )
        below.append(below[a] | below[b])


def test_separate_parts_are_joined_last():
    features = np.zeros((4, 3), np.float32)
    merges = agglomerate(features, np.ones(4), np.array([[0, 2], [1, 3]]), Linkage.WARD)
    assert merges.tolist() == [[0, 2], [1, 3], [4, 5]]


def test_without_edges_everything_is_still_joined():
    merges = agglomerate(np.zeros((5, 3)), np.ones(5), np.empty((0, 2), int), Linkage.COLOUR)
    assert sorted(merges.ravel()) == list(range(8))
