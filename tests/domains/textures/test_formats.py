from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains.textures import BC1, BC3, BC4, BC5, BC6H, BC7, R8, R16F, RGBA8, RGBA16F, RGBA32F, TexelFormat
from hra.errors import HraError


@pytest.mark.parametrize(
    ("texels", "height", "width", "size"),
    [
        (RGBA8, 1, 1, 4),
        (RGBA8, 479, 641, 479 * 641 * 4),
        (RGBA16F, 3, 5, 120),
        (BC1, 4, 4, 8),
        (BC1, 1, 1, 8),
        (BC1, 3, 5, 16),
        (BC7, 9, 8, 6 * 16),
        (BC3, 5, 4, 2 * 16),
        (BC4, 1, 5, 2 * 8),
        (BC5, 4, 4, 16),
        (BC6H, 8, 1, 2 * 16),
        (R8, 3, 5, 15),
        (R16F, 3, 5, 30),
        (RGBA32F, 1, 1, 16),
    ],
)
def test_incomplete_blocks_count_in_full(texels: TexelFormat, height: int, width: int, size: int) -> None:
    assert texels.bytes(height, width) == size


def test_many_rectangles_at_once() -> None:
    height, width = np.array([1, 4, 5, 479]), np.array([9, 4, 1, 641])
    sizes = [BC1.bytes(h, w) for h, w in zip(height.tolist(), width.tolist(), strict=True)]
    assert BC1.bytes(height, width).tolist() == sizes


@pytest.mark.parametrize("sizes", [(0, 1), (-4, 1), (1.5, 1), (4, 0), (4, -2)])
def test_blocks_have_bytes_and_texels(sizes: tuple[Any, Any]) -> None:
    """A pool of bytes below 0 held everything."""
    with pytest.raises(HraError, match="block_"):
        TexelFormat("own", *sizes)
