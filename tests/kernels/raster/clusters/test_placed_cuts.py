"""Prefix sums on the GPU against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from hra.kernels.raster import Context
from hra.kernels.raster.clusters.placed_cuts import PrefixSums, blocks_of


@pytest.mark.parametrize("count", [0, 1, 255, 1024, 1025, 5000, 300_000])
def test_sums_are_those_of_numpy(context: Context, count: int) -> None:
    values = np.random.default_rng(count).integers(0, 9, max(count, 1)).astype(np.uint32)
    with PrefixSums(context, max(count, 1)) as sums, context.use() as gl:
        buffer = gl.buffer(values)
        sums.run(buffer, count)
        before = np.frombuffer(sums.before.read(), np.uint32)[:count].astype(np.int64)
        blocks = np.frombuffer(sums.sums.read(), np.uint32)[: blocks_of(count) + 1].astype(np.int64)
        buffer.release()
    expected = np.concatenate([[0], np.cumsum(values[:count], dtype=np.int64)])
    np.testing.assert_array_equal(before + blocks[np.arange(count) // 1024], expected[:-1])
    assert blocks[-1] == expected[-1]
