"""Images that reach every branch of the kernels: sizes, dtypes, channels and batches."""

from __future__ import annotations

import numpy as np
import pytest

# Height x width: single pixels, rows, columns, powers of two, odd at the first level or only further up, video sizes.
SIZES = [
    (1, 1), (1, 2), (2, 1), (1, 13), (37, 1), (2, 2), (3, 3), (5, 7), (6, 10), (64, 64), (100, 75), (127, 129),
    (255, 256), (479, 641), (720, 1280),
]  # fmt: skip


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param


@pytest.fixture(params=[np.float32, np.uint8])
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def make_image(random: np.random.Generator):
    """A function (shape, dtype) -> random image, floats in [-1, 1] or uint8."""

    def make(shape: tuple[int, ...], dtype: type) -> np.ndarray:
        if dtype is np.uint8:
            return random.integers(0, 256, shape, dtype=np.uint8)
        return (random.random(shape, dtype=np.float32) * 2 - 1).astype(dtype)

    return make
