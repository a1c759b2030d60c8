"""Feedback buffer: against ray casting of the same scene, and its counts against its pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra import Camera
from hra.domains.textures import AnalyticFeedback, PlaneScene, TexturedPlane, TiledTexture
from hra.domains.textures.views.raycast import Hits, cast_rays
from hra.errors import ArrayError
from hra.kernels.raster import EMPTY, Context, DrawList, FeedbackBuffer, FeedbackImage, TextureTable, TileRequests

TILE = 16
SIZES = [(333, 150), (64, 200)]
SQUARE = [[-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]]
# Where v points down the screen, as texture rows do.
SQUARE_UV = [[0, 1], [1, 1], [0, 0], [1, 0]]
TWO_TRIANGLES = [[0, 1, 2], [2, 1, 3]]


@pytest.fixture(scope="module")
def scene() -> PlaneScene:
    """A ground of odd size, and a wall that stands on it and hides a part of it."""
    textures = [TiledTexture.from_image(np.zeros((height, width, 1), np.uint8), TILE) for width, height in SIZES]
    wall = np.array([-2.0, 3, -1]), np.array([3.0, 0, 0.5]), np.array([0.0, -3, 0])
    return PlaneScene([TexturedPlane.ground(textures[0], 20.0), TexturedPlane(textures[1], *wall)])


def observe(context: Context, scene: PlaneScene, camera: Camera) -> tuple[FeedbackImage, TileRequests]:
    corners = [plane.points(*np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]]).T) for plane in scene.planes]
    uv = np.tile([[0, 0], [1, 0], [0, 1], [1, 1.0]], (len(corners), 1))
    rows = np.concatenate([np.array(TWO_TRIANGLES) + 4 * k for k in range(len(corners))])
    ranges = np.array([[2 * k, 2 * k + 2] for k in range(len(corners))])
    draws = DrawList(context, np.concatenate(corners), rows, ranges=ranges, uv=uv)
    buffer = FeedbackBuffer(context, camera.viewport, TextureTable(np.array(SIZES), TILE), camera.reversed_depth)
    with draws, buffer:
        buffer.draw(draws, camera.projection @ camera.view)
        return buffer.read(), buffer.requests()


def assert_agrees(found: FeedbackImage, hits: Hits) -> None:
    texture = np.where(found.texture == EMPTY, -1, found.texture.astype(int))
    both = (texture == hits.plane) & (texture >= 0)
    assert (texture != hits.plane).mean() < 0.002  # at outlines, where a triangle's rounded corners decide
    relative = found.footprint[both] / hits.footprint[both]
    assert np.abs(relative - 1).max(initial=0) < 1e-3
    texel = np.stack([hits.x, hits.y], -1)[both]
    other_tile = (texel // TILE != found.finest_tile[both]).any(axis=1)
    to_border = np.abs(texel - np.round(texel / TILE) * TILE).min(axis=1)
    assert (to_border[other_tile] < 0.01).all()
    assert other_tile.mean() < 0.001 or other_tile.sum() <= 1


@given(
    eye=st.tuples(st.floats(-12, 12), st.floats(0.2, 8), st.floats(-12, 12)),
    target=st.tuples(st.floats(-3, 3), st.floats(-1, 2), st.floats(-3, 3)),
    reversed_depth=st.booleans(),
)
def test_it_agrees_with_ray_casting(context, scene, eye, target, reversed_depth):
    if np.linalg.norm(np.cross(np.subtract(eye, target), [0, 1, 0])) < 0.1:
        return
    camera = Camera.perspective(eye, target, viewport=(96, 64), reversed_depth=reversed_depth)
    assert_agrees(observe(context, scene, camera)[0], cast_rays(scene, camera))


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_a_ground_to_the_horizon_agrees_to_a_ten_thousandth(context, reversed_depth):
    texture = TiledTexture.from_image(np.zeros((150, 333, 1), np.uint8), TILE)
    scene = PlaneScene([TexturedPlane.ground(texture, 2000.0)])
    camera = Camera.perspective((0, 1.5, 0), (0, 1.4, -5), viewport=(321, 201), reversed_depth=reversed_depth)
    found, hits = observe(context, scene, camera)[0], cast_rays(scene, camera)
    both = (found.texture == 0) & (hits.plane == 0)
    assert both.mean() > 0.4 and hits.footprint[both].max() > 20
    assert np.abs(found.footprint[both] / hits.footprint[both] - 1).max() < 5e-4
    assert (found.finest_tile[both] == (np.stack([hits.x, hits.y], -1)[both] // TILE)).all(axis=1).mean() > 0.999


def test_it_holds_what_analytic_feedback_holds(context, scene):
    camera = Camera.perspective((4, 3, 9), (0, 0.5, 0), viewport=(128, 96))
    found = observe(context, scene, camera)[0]
    expected = AnalyticFeedback(scene, stride=1).observe(camera)
    seen = found.texture != EMPTY
    finest = scene.textures.finest_pages
    page = [finest[t][y, x] for t, (x, y) in zip(found.texture[seen], found.finest_tile[seen], strict=True)]
    nodes = scene.textures.hierarchy.size if hasattr(scene.textures.hierarchy, "size") else max(page) + 1
    counts = [np.bincount(pages, minlength=nodes) for pages in (page, expected.page)]
    assert np.abs(counts[0] - counts[1]).sum() <= 0.002 * seen.sum()
    wanted = np.sort(np.log2(found.footprint[seen])), np.sort(expected.wanted_level)
    assert abs(wanted[0].mean() - wanted[1].mean()) < 1e-3


@given(seed=st.integers(0, 1000), size=st.tuples(st.integers(1, 70), st.integers(1, 50)))
def test_requests_are_the_pixels_counted(context, seed, size):
    random = np.random.default_rng(seed)
    sizes, uv = random.integers(1, 3000, (3, 2)), random.uniform(-2, 2, (30, 2))
    rows, ids = np.arange(30).reshape(-1, 3), random.integers(0, 3, 10)
    ranges = np.stack([np.arange(10), np.arange(1, 11)], 1)
    with (
        DrawList(context, random.uniform(-1.5, 1, (30, 3)), rows, ranges=ranges, ids=ids, uv=uv) as draws,
        FeedbackBuffer(context, size, TextureTable(sizes, 64)) as buffer,
    ):
        buffer.draw(draws, np.eye(4))
        image, found = buffer.read(), buffer.requests()
        again = buffer.requests()
    seen = image.texture != EMPTY
    key = np.column_stack([image.texture[seen], image.level[seen], image.tile[seen][:, ::-1]])
    expected, pixels = np.unique(key, axis=0, return_counts=True)
    np.testing.assert_array_equal(np.stack([found.texture, found.level, found.y, found.x], 1), expected)
    np.testing.assert_array_equal(found.pixels, pixels)
    np.testing.assert_array_equal(again.pixels, pixels)
    tiles = -(-sizes[found.texture] // 64)
    assert ((found.x << found.level) < tiles[:, 0]).all() and ((found.y << found.level) < tiles[:, 1]).all()
    fits = np.maximum(sizes.max(axis=1), 1)[found.texture] <= 64 * 2.0**found.level
    assert (found.x[fits] == 0).all() and (found.y[fits] == 0).all()  # the mip tail is one tile


def test_a_texture_at_its_own_size_wants_level_0_and_smaller_ones_coarser(context):
    levels = {}
    with DrawList(context, SQUARE, TWO_TRIANGLES, uv=SQUARE_UV) as draws:
        for pixels in (256, 128, 64, 32):
            with FeedbackBuffer(context, (pixels, pixels), TextureTable(np.array([[256, 256]]), 32)) as buffer:
                buffer.draw(draws, np.eye(4))
                image = buffer.read()
                levels[pixels] = np.unique(image.level).tolist()
                assert np.allclose(image.footprint, 256 / pixels)
                assert image.tile[0, 0].tolist() == [0, 0] and (image.tile[-1, 0] == [0, 7 >> image.level[0, 0]]).all()
    assert levels == {256: [0], 128: [1], 64: [2], 32: [3]}


def test_textures_repeat(context):
    with (
        DrawList(context, SQUARE, TWO_TRIANGLES, uv=2 * np.array(SQUARE_UV) - 1) as draws,
        FeedbackBuffer(context, (64, 64), TextureTable(np.array([[32, 32]]), 8)) as buffer,
    ):
        buffer.draw(draws, np.eye(4))
        tile = buffer.read().tile
    np.testing.assert_array_equal(tile[:32, :32], tile[32:, 32:])
    assert tile[0, 0].tolist() == [0, 0] and tile[31, 31].tolist() == [3, 3]


def test_nothing_drawn_wants_nothing(context):
    with FeedbackBuffer(context, (3, 2), TextureTable(np.zeros((0, 2), int))) as buffer:
        image, found = buffer.read(), buffer.requests()
        with DrawList(context, SQUARE, TWO_TRIANGLES, ranges=np.zeros((0, 2), int), uv=SQUARE_UV) as draws:
            buffer.draw(draws, np.eye(4))
    assert (image.texture == EMPTY).all() and (image.footprint == 1).all() and (image.level == 0).all()
    assert found.pixels.size == found.texture.size == 0


def test_bad_draws_are_refused(context):
    with FeedbackBuffer(context, (3, 2), TextureTable(np.array([[8, 8]]))) as buffer:
        with DrawList(context, SQUARE, TWO_TRIANGLES) as draws, pytest.raises(ArrayError, match="no texture coord"):
            buffer.draw(draws, np.eye(4))
        with (
            DrawList(context, SQUARE, TWO_TRIANGLES, ids=[1], uv=SQUARE_UV) as draws,
            pytest.raises(ArrayError, match="texture 1 of 1"),
        ):
            buffer.draw(draws, np.eye(4))


@pytest.mark.parametrize(
    ("sizes", "tile", "message"),
    [
        (np.zeros((2, 3), int), 8, "whole numbers"),
        (np.array([[4, 0]]), 8, "no texels"),
        (np.array([[4, 2**25]]), 8, "not in"),
        (np.array([[4.5, 2]]), 8, "whole numbers"),
        (np.array([[4, 2]]), 0, "tile of 0"),
    ],
)
def test_bad_tables_are_refused(sizes, tile, message):
    with pytest.raises(ArrayError, match=message):
        TextureTable(sizes, tile)


@given(sizes=st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 5000)), max_size=4), tile=st.integers(1, 300))
def test_tables_number_the_tiles_that_the_texture_domain_cuts(sizes, tile):
    from hra.domains.textures.tiles import tile_pages

    sizes, tile = sizes, max(tile, 20)
    table = TextureTable(np.array(sizes, int).reshape(-1, 2), tile)
    for number, (width, height) in enumerate(sizes):
        pages = tile_pages(height, width, tile)
        begin, end = table.first_level[number : number + 2]
        assert table.level[begin:end].tolist() == list(range(table.tail[number] + 1))
        assert pages.level.max() == table.tail[number]
        counts = np.bincount(pages.level)
        np.testing.assert_array_equal(np.diff(table.first_tile)[begin:end], counts)
