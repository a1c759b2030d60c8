from __future__ import annotations

import pytest

from hra.domains.textures import BC1, BC7, RGBA8, RGBA16F, TexelFormat


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
    ],
)
def test_incomplete_blocks_count_in_full(texels: TexelFormat, height: int, width: int, size: int) -> None:
    assert texels.bytes(height, width) == size
