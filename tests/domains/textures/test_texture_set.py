from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hra.domains.textures import MippedTexture, TextureSet, TiledTexture
from hra.errors import ImageError


def test_textures_keep_their_pages_side_by_side(noise: Callable[..., np.ndarray]) -> None:
    parts = [TiledTexture.from_image(noise(40, 24), tile=8), MippedTexture.from_image(noise(33, 9), tail=4)]
    textures = TextureSet(parts)
    hierarchy = textures.hierarchy
    assert hierarchy.base_cost == sum(part.hierarchy.base_cost for part in parts)
    assert hierarchy.total_cost == sum(part.hierarchy.total_cost for part in parts)
    for index, part in enumerate(parts):
        own = np.flatnonzero(hierarchy.attribute("texture") == index)
        parents = np.where(part.pages.parent < 0, -1, part.pages.parent + own[0])
        assert hierarchy.node_parent is not None
        np.testing.assert_array_equal(hierarchy.node_parent[own], parents)
        np.testing.assert_array_equal(hierarchy.attribute("level")[own], part.pages.level)
        np.testing.assert_array_equal(textures.finest_pages[index], part.pages.finest + own[0])


def test_a_set_of_one_has_the_texture_s_hierarchy(noise: Callable[..., np.ndarray]) -> None:
    texture = TiledTexture.from_image(noise(40, 24), tile=8)
    np.testing.assert_array_equal(TextureSet([texture]).hierarchy.cost, texture.hierarchy.cost)


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(ImageError):
        TextureSet([])
