from __future__ import annotations

import sys

import numpy as np
import pytest

from hra.kernels.cut import ForestCut, all_valid, price_search
from tests.helpers.search_cases import assert_same, case, random_capacity


def test_the_path_of_device_arrays_gives_the_same():
    warp = pytest.importorskip("warp")
    torch = pytest.importorskip("torch")
    from hra.kernels.backends import give_back
    from hra.kernels.cut import warp_backend

    forest, gain, rng = case(5)
    capacity = random_capacity(forest, len(gain), rng)
    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    found = warp_backend.price_search(forest.to("cpu"), warp.array(gain, device="cpu"), capacity)
    assert all(isinstance(array, warp.array) for array in found)
    tensors = [give_back(array, torch.zeros(1)) for array in found]
    assert all(isinstance(tensor, torch.Tensor) for tensor in tensors)
    assert_same(ForestCut(*(tensor.numpy() for tensor in tensors)), price_search(forest, gain, capacity, "reference"))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_invalid_gains_are_found_by_both(bad):
    from hra.kernels.cut import warp_backend

    gain = np.ones((3, 4), np.float32)
    assert all_valid(gain) and warp_backend.all_valid(gain, sys.float_info.max)
    gain[2, 1] = bad
    assert not all_valid(gain) and not warp_backend.all_valid(gain, sys.float_info.max)
