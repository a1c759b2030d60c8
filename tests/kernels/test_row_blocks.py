from __future__ import annotations

import numpy as np
import pytest

from hra.kernels import gaussian_pyramid, row_blocks


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(threads, make_image, monkeypatch):
    image = make_image((2, 301, 200, 3), np.float32)
    expected = gaussian_pyramid(image, backend="numba").data
    monkeypatch.setattr(row_blocks.config, "NUMBA_NUM_THREADS", threads)
    monkeypatch.setattr(row_blocks, "_BYTES_PER_THREAD", 2**12)
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", 2**14)
    np.testing.assert_array_equal(gaussian_pyramid(image, backend="numba").data, expected)
