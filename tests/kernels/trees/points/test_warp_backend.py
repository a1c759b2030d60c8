from __future__ import annotations

import numpy as np
import pytest

from hra.kernels.trees import build_tree


def test_the_path_of_device_arrays_gives_the_same():
    warp = pytest.importorskip("warp")
    from hra.kernels.trees.points import warp_backend
    from hra.kernels.trees.points.building import codes_of

    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    points = np.random.default_rng(3).random((700, 3), dtype=np.float32)
    codes, order = warp_backend.sort_keys(codes_of(warp_backend, warp.array(points, device="cpu"), None, 64))
    offsets, parent, begin, end = warp_backend.grow(codes, 3, 4)
    leaf, node, first_child = warp_backend.link(parent, begin, order)
    found = (codes, order, parent, begin, end, leaf, node, first_child)
    assert all(isinstance(array, warp.array) for array in found)
    expected = build_tree(points, leaf_size=4, backend="reference")
    tree = expected.tree
    wanted = (expected.order, tree.parent, expected.begin, expected.end, tree.leaf, tree.node, tree.first_child)
    for array, other in zip(found[1:], wanted, strict=True):
        np.testing.assert_array_equal(array.numpy(), other)
    assert tuple(offsets) == tree.level_offsets
