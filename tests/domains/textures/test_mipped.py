from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.textures import MippedTexture
from hra.domains.textures.mipped import mip_pages
from hra.domains.textures.mips import level_shapes


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 64))
def test_every_level_is_a_page_down_to_the_tail(height: int, width: int, tail: int) -> None:
    pages = mip_pages(height, width, tail)
    sizes = [4 * rows * columns for rows, columns in level_shapes(height, width)]
    coarsest = pages.level[0]
    assert pages.bytes.tolist() == [sum(sizes[coarsest:]), *reversed(sizes[:coarsest])]
    assert pages.parent.tolist() == list(range(-1, coarsest))
    assert pages.finest.tolist() == [[coarsest]]
    assert pages.level[pages.finest[0, 0]] == 0


def test_the_hierarchy_is_a_chain() -> None:
    hierarchy = MippedTexture.from_image(np.zeros((64, 48, 3), np.uint8), tail=16).hierarchy
    assert hierarchy.base_cost == 4 * (16 * 12 + 8 * 6 + 4 * 3 + 2 * 2 + 1)
    assert hierarchy.cost.tolist() == [4 * 32 * 24, 4 * 64 * 48]
    assert hierarchy.parent is not None
    assert hierarchy.parent.tolist() == [-1, 0]
