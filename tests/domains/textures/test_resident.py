"""

Flights as traces, against a walk from every sample to its page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    Feedback,
    MippedTexture,
    PlaneScene,
    ResidentTextures,
    TextureSet,
    TiledTexture,
    record,
)
from hra.domains.textures.pages import page_parents
from hra.errors import ArrayError, MetricError
from hra.residency import close_upward


def with_pages(textures: TextureSet, share: float, seed: int) -> ResidentTextures:
    """Random resident pages, each with all coarser ones."""
    hierarchy = textures.hierarchy
    active = np.random.default_rng(seed).random(hierarchy.node_cost.size) < share
    assert hierarchy.node_parent is not None
    for page, parent in enumerate(hierarchy.node_parent):  # coarse pages come first
        active[page] = parent < 0 or (active[page] and active[parent])
    return ResidentTextures(textures, active)


def resident_levels(resident: ResidentTextures, texture: int) -> dict[tuple[int, int], list[int]]:
    """All resident levels over each cell, found by position."""
    hierarchy = resident.textures.hierarchy
    node, table = hierarchy.node, resident.textures.textures[texture].pages
    own = np.flatnonzero((node["texture"] == texture) & resident.active)
    return {
        (row, column): [
            int(node["level"][page])
            for page in own
            if (node["y"][page], node["x"][page]) == (row >> node["level"][page], column >> node["level"][page])
        ]
        for row, column in np.ndindex(*table.finest.shape)
    }


def reference_texel(texture: TiledTexture, level: int, shown: int, y: int, x: int) -> np.ndarray:
    """Texel (y, x) of ``level`` taken from the coarser level ``shown``, within the page that covers its page."""
    position = []
    for at, fine, coarse in zip((y, x), texture.mips[level].shape, texture.mips[shown].shape, strict=False):
        first = (at // 8 >> (shown - level)) * 8
        position.append(min(max(int(Fraction(2 * at + 1, 2 * fine) * coarse), first), first + 7, coarse - 1))
    return texture.mips[shown][tuple(position)]


def check_level_map_and_image(height: int, width: int, share: float, seed: int, level: int) -> None:
    texture = TiledTexture.from_image(np.random.default_rng(seed).random((height, width, 1), np.float32), tile=8)
    resident = with_pages(TextureSet([texture]), share, seed)
    level = min(level, len(texture.mips) - 1)
    levels, level_map, image = resident_levels(resident, 0), resident.level_map(), resident.compose(level)
    assert image.shape == texture.mips[level].shape
    for cell, found in levels.items():
        assert level_map[cell] == min(found)
    for y, x in np.ndindex(*image.shape[:2]):
        shown = max(level, min(levels[y // 8 << level, x // 8 << level]))
        assert image[y, x] == reference_texel(texture, level, shown, y, x)


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0, 1), st.integers(0, 1000), st.integers(0, 4))
def test_a_texture_of_any_size_shows_its_resident_pages(
    height: int, width: int, share: float, seed: int, level: int
) -> None:
    check_level_map_and_image(height, width, share, seed, level)


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("seed", range(3))
def test_every_level_shows_its_resident_pages(seed: int, level: int) -> None:
    check_level_map_and_image(125, 97, 0.6, seed, level)


def test_all_pages_make_every_level_exactly(noise: Callable[..., np.ndarray]) -> None:
    textures = TextureSet(
        [TiledTexture.from_image(noise(75, 117), tile=8), MippedTexture.from_image(noise(31, 17), tail=4)]
    )
    resident = ResidentTextures(textures, np.ones(textures.hierarchy.node_cost.size, np.bool_))
    assert resident.bytes == textures.hierarchy.total_cost
    for index, texture in enumerate(textures.textures):
        assert not resident.level_map(index).any()
        for level, mip in enumerate(texture.mips):
            np.testing.assert_array_equal(resident.compose(level, index), mip)


def test_the_tail_alone_is_enlarged(noise: Callable[..., np.ndarray]) -> None:
    texture = TiledTexture.from_image(noise(32, 64), tile=16)
    textures = TextureSet([texture])
    resident = ResidentTextures(textures, textures.hierarchy.added_by < 0)
    assert (resident.level_map() == 2).all()
    np.testing.assert_array_equal(resident.compose(), np.array(texture.mips[2]).repeat(4, 0).repeat(4, 1))
    np.testing.assert_array_equal(resident.compose(1), np.array(texture.mips[2]).repeat(2, 0).repeat(2, 1))
    np.testing.assert_array_equal(resident.compose(3), texture.mips[3])


def test_one_finer_tile_shows_where_it_lies(noise: Callable[..., np.ndarray]) -> None:
    texture = TiledTexture.from_image(noise(32, 32), tile=16)
    textures = TextureSet([texture])
    pages, active = texture.pages, textures.hierarchy.added_by < 0
    active[pages.finest[1, 0]] = True
    image = ResidentTextures(textures, active).compose()
    expected = np.array(texture.mips[1]).repeat(2, 0).repeat(2, 1)
    expected[16:, :16] = texture.mips[0][16:, :16]
    np.testing.assert_array_equal(image, expected)


@pytest.mark.case(82)
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1), (5, 3)])
def test_textures_of_any_size_can_be_resident(noise: Callable[..., np.ndarray], size: tuple[int, int]) -> None:
    texture = TiledTexture.from_image(noise(*size))
    textures = TextureSet([texture])
    base = ResidentTextures(textures, textures.hierarchy.added_by < 0)
    assert base.compose().shape == (*size, 3)
    assert base.bytes == textures.hierarchy.base_cost


def test_pages_without_the_coarser_ones_are_refused(noise: Callable[..., np.ndarray]) -> None:
    textures = TextureSet([TiledTexture.from_image(noise(32, 32), tile=8)])
    active = np.zeros(textures.hierarchy.node_cost.size, np.bool_)
    with pytest.raises(ArrayError):
        ResidentTextures(textures, active)
    active[[0, -1]] = True
    with pytest.raises(ArrayError) as caught:
        ResidentTextures(textures, active)
    assert str(active.size - 1) in caught.value.where
    with pytest.raises(ArrayError):
        ResidentTextures(textures, np.ones(3, np.bool_))


@given(seed=st.integers(0, 10**6))
def test_what_can_be_drawn_has_all_coarser_pages(scene: PlaneScene, seed: int) -> None:
    parent = page_parents(scene.textures.hierarchy)
    held = np.random.default_rng(seed).random(parent.size) < 0.7
    expected = []
    for page in range(parent.size):
        chain = [page]
        while parent[chain[-1]] >= 0:
            chain.append(int(parent[chain[-1]]))
        expected.append(all(held[above] for above in chain[:-1]))
    assert ResidentTextures.drawable(scene.textures, held).active.tolist() == expected


@given(seeds=st.lists(st.integers(0, 10**6), max_size=3))
def test_every_sample_demands_the_page_of_its_level_and_those_above(
    scene: PlaneScene, camera_of: Callable[..., Camera], seeds: list[int]
) -> None:
    source, hierarchy = AnalyticFeedback(scene, 1), scene.textures.hierarchy
    feedbacks = [source.observe(camera_of(seed)) for seed in seeds]
    trace = record(scene.textures, feedbacks)
    parent, level = hierarchy.node_parent, hierarchy.attribute("level")
    assert parent is not None and trace.weights is not None and len(trace) == len(seeds)
    for frame, feedback in enumerate(feedbacks):
        expected: dict[int, float] = defaultdict(float)
        for page, footprint, pixels in zip(feedback.page, feedback.footprint, feedback.pixels, strict=True):
            while 2.0 ** (level[page] + 1) <= footprint and parent[page] >= 0:
                page = parent[page]
            expected[int(page)] += float(pixels)
            while (page := parent[page]) >= 0:
                expected[int(page)] += 0.0
        weights = trace.weights[trace.frames[frame] : trace.frames[frame + 1]]
        assert dict(zip(trace.frame(frame).tolist(), weights.tolist(), strict=True)) == pytest.approx(expected)
    assert [set(trace.frame(f)) for f in range(len(trace))] == [
        set(close_upward(trace).frame(f)) for f in range(len(trace))
    ]
    np.testing.assert_array_equal(trace.cost, hierarchy.node_cost)


def test_feedback_of_other_textures_is_refused(scene: PlaneScene) -> None:
    one = np.ones(1, np.float32)
    with pytest.raises(MetricError):
        record(scene.textures, [Feedback(np.array([10**6], np.int32), one, one, 1.0)])
