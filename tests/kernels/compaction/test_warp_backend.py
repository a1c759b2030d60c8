from __future__ import annotations

import numpy as np
import pytest

from hra.kernels.compaction import compact


def test_the_kind_of_array_is_kept():
    warp = pytest.importorskip("warp")
    torch = pytest.importorskip("torch")
    from hra.kernels.compaction import warp_backend

    flags = np.random.default_rng(0).random(1000) < 0.3
    found = compact(torch.from_numpy(flags))
    assert isinstance(found, torch.Tensor)
    # Warp arrays are what the backend gets for a CUDA array; on the CPU they take the same path.
    listed = warp_backend.compact(warp.array(flags, device="cpu"))
    assert isinstance(listed, warp.array)
    np.testing.assert_array_equal(listed.numpy(), found.numpy())
