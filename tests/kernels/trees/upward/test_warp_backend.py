from __future__ import annotations

import numpy as np
import pytest

from hra.kernels.trees import grid_tree, reduce_up, spheres_up


def test_any_device_and_kind_of_array():
    warp = pytest.importorskip("warp")
    torch = pytest.importorskip("torch")
    from hra.kernels.trees.upward import warp_backend

    tree = grid_tree(4, 4)
    values = np.random.default_rng(0).random((2, 16, 3), dtype=np.float32)
    expected = reduce_up(tree, values, "mean")
    tensor = reduce_up(tree, torch.from_numpy(values), "mean")
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_array_equal(tensor.numpy(), expected)
    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    weight = np.random.default_rng(1).random((2, 16))
    arrays = [warp.array(array, device="cpu") for array in (values, weight[..., None])]
    found = warp_backend.mean_up(tree, *arrays)
    assert isinstance(found, warp.array)
    np.testing.assert_array_equal(found.numpy(), reduce_up(tree, values, "mean", weight=weight))
    centers, _ = warp_backend.spheres_up(tree, arrays[0], None)
    np.testing.assert_array_equal(centers.numpy(), spheres_up(tree, values)[0])
    sent = tree.to("cpu")
    np.testing.assert_array_equal(reduce_up(sent, values, "mean"), expected)
