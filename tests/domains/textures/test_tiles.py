from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.textures import BC1, RGBA8, MippedTexture, TexelFormat, TiledTexture
from hra.domains.textures.mips import level_shapes
from hra.domains.textures.tiles import mip_pages, tile_pages

SIZES = [(1, 1), (1, 300), (300, 1), (3, 5), (128, 128), (129, 128), (479, 641), (2048, 4096)]


def reference_tiles(height: int, width: int, tile: int, texels: TexelFormat) -> dict[tuple[int, int, int], int]:
    """Bytes of every tile (level, y, x), cut one by one; the tail's levels are summed under its finest one."""
    tiles: dict[tuple[int, int, int], int] = {}
    tail = None
    for level, (rows, columns) in enumerate(level_shapes(height, width)):
        if tail is None and rows <= tile and columns <= tile:
            tail = level
        for top in range(0, rows, tile):
            for left in range(0, columns, tile):
                size = texels.bytes(min(rows - top, tile), min(columns - left, tile))
                key = (level if tail is None else tail, top // tile, left // tile)
                tiles[key] = tiles.get(key, 0) + size
    return tiles


def check(height: int, width: int, tile: int, texels: TexelFormat) -> None:
    pages = tile_pages(height, width, tile, texels)
    keys = list(zip(pages.level.tolist(), pages.y.tolist(), pages.x.tolist(), strict=True))
    assert dict(zip(keys, pages.bytes.tolist(), strict=True)) == reference_tiles(height, width, tile, texels)
    for (level, y, x), parent in zip(keys[1:], pages.parent[1:].tolist(), strict=True):
        assert keys[parent] == (level + 1, y // 2, x // 2)
    assert pages.parent[0] == -1
    assert (pages.parent < np.arange(pages.parent.size)).all()
    rows, columns = pages.finest.shape
    for row, column in {(0, 0), (rows - 1, 0), (0, columns - 1), (rows - 1, columns - 1)}:
        assert keys[pages.finest[row, column]] == (0, row, column)


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("texels", [RGBA8, BC1], ids=lambda texels: texels.name)
def test_tiles_are_those_cut_one_by_one(height: int, width: int, texels: TexelFormat) -> None:
    check(height, width, 128, texels)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 20))
def test_any_size_and_tile(height: int, width: int, tile: int) -> None:
    check(height, width, tile, RGBA8)


def test_the_whole_chain_is_paid_exactly() -> None:
    texels = sum(rows * columns for rows, columns in level_shapes(479, 641))
    assert tile_pages(479, 641).bytes.sum() == 4 * texels


def test_the_earth_has_the_known_number_of_tiles() -> None:
    assert tile_pages(2048, 4096).bytes.size == 512 + 128 + 32 + 8 + 2 + 1


def test_the_hierarchy_adds_tiles_to_the_tail() -> None:
    texture = TiledTexture.from_image(np.zeros((40, 24, 4), np.uint8), tile=8)
    hierarchy = texture.hierarchy
    assert hierarchy.cost_unit == "bytes"
    assert hierarchy.base_cost == texture.pages.bytes[0]
    assert hierarchy.total_cost == texture.pages.bytes.sum()
    np.testing.assert_array_equal(hierarchy.node_parent, texture.pages.parent)
    np.testing.assert_array_equal(hierarchy.attribute("level"), texture.pages.level)


def test_a_single_texel_has_nothing_to_refine() -> None:
    hierarchy = TiledTexture.from_image(np.zeros((1, 1, 4), np.uint8)).hierarchy
    assert len(hierarchy) == 0
    assert hierarchy.base_cost == 4


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
