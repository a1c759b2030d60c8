"""Sums over trees of points, against what each node's own leaves say."""

from __future__ import annotations

from collections import Counter
from time import process_time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.points import PointCloud, build
from hra.domains.points.cloud.moments import commonest
from hra.kernels.trees import build_tree


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 2**16), st.sampled_from(["u1", "i8", "f4"]))
def test_nodes_have_the_least_of_the_commonest_values(count: int, kinds: int, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    tree, values = build_tree(rng.random((count, 3), np.float32)).tree, rng.integers(0, kinds, count).astype(kind)
    found = commonest(tree.parent, tree.leaf, values)
    below: list[list[float]] = [[] for _ in tree.parent]
    for leaf, value in zip(tree.leaf.tolist(), values.tolist(), strict=True):
        node = leaf
        while node >= 0:
            below[node].append(value)
            node = tree.parent[node]
    wanted = [max(Counter(sorted(some)).items(), key=lambda entry: (entry[1], -entry[0]))[0] for some in below]
    assert found.tolist() == wanted and found.dtype == values.dtype


def test_as_many_classes_as_points_take_no_more_time_than_few() -> None:
    places, seconds = np.random.default_rng(0).random((20_000, 3)), []
    for classes in (np.zeros(20_000), np.zeros(20_000), np.arange(20_000.0)):
        begun = process_time()
        build(PointCloud(places, fields={"classification": classes}))
        seconds.append(process_time() - begun)
    assert seconds[2] < 10 * seconds[1] + 0.2
