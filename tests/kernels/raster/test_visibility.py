"""Visibility buffer: against a plain rasteriser, and what selections, instances and passes promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra import Camera
from hra.domains import meshes
from hra.errors import ArrayError, CameraError
from hra.kernels.raster import EMPTY, Context, DrawList, VisibilityBuffer, VisibilityImage
from tests.kernels.raster.plain_rasteriser import rasterise

FULL_SCREEN = [[-1, -1, 0], [3, -1, 0], [-1, 3, 0]]
SQUARE = [[-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]]


def triangles(seed: int, count: int) -> np.ndarray:
    """Random corners [count, 3, 3] in front of the camera of `view`, some of them partly out of view."""
    random = np.random.default_rng(seed)
    return random.uniform([-3, -2, -2], [3, 2, 2], (count, 1, 3)) + random.uniform(-1.5, 1.5, (count, 3, 3))


def view(size: tuple[int, int], reversed_depth: bool = False) -> Camera:
    return Camera.perspective((0, 0, 6), (0, 0, 0), viewport=size, near=1, far=12, reversed_depth=reversed_depth)


def soup(context: Context, corners: np.ndarray, **options) -> DrawList:
    """Separate triangles, each drawn by a draw of its own."""
    rows = np.arange(3 * len(corners)).reshape(-1, 3)
    ranges = np.stack([np.arange(len(corners)), np.arange(1, len(corners) + 1)], 1)
    return DrawList(context, corners.reshape(-1, 3), rows, **{"ranges": ranges} | options)


def render(draws: DrawList, camera: Camera, where: np.ndarray | None = None) -> VisibilityImage:
    with VisibilityBuffer(draws.context, camera.viewport, camera.reversed_depth) as buffer:
        buffer.draw(draws, camera.projection @ camera.view, where)
        return buffer.read()


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 12),
    size=st.tuples(st.integers(1, 60), st.integers(1, 40)),
    reversed_depth=st.booleans(),
)
def test_random_triangles_agree_with_a_plain_rasteriser(context, seed, count, size, reversed_depth):
    corners, camera = triangles(seed, count), view(size, reversed_depth)
    expected = rasterise(corners, camera.projection @ camera.view, size, reversed_depth)
    with soup(context, corners) as draws:
        found = render(draws, camera)
    sure = expected.certain
    np.testing.assert_array_equal(
        np.where(found.ids == EMPTY, -1, found.ids.astype(int))[sure], expected.triangle[sure]
    )
    np.testing.assert_array_equal(found.ids, found.triangles)
    assert (np.abs(found.depth - expected.depth) <= expected.slack + 1e-7)[sure].all()


def test_most_pixels_of_the_comparison_are_certain():
    camera = view((60, 40))
    for seed in range(20):
        result = rasterise(triangles(seed, 6), camera.projection @ camera.view, (60, 40), False)
        assert result.certain.mean() > 0.7 and (result.triangle >= 0)[result.certain].mean() > 0.02


@pytest.mark.parametrize("size", [(1, 1), (4, 4), (5, 4), (64, 1), (33, 65)])
def test_triangles_with_a_common_edge_cover_each_pixel_once(context, size):
    # The diagonal goes through pixel centres. The second draw lies behind the first and shows through any hole.
    behind = [[x, y, 0.5] for x, y, _ in FULL_SCREEN]
    with (
        DrawList(context, SQUARE + behind, [[0, 1, 2], [2, 1, 3], [4, 5, 6]], ranges=[[0, 2], [2, 3]]) as draws,
        VisibilityBuffer(context, size) as buffer,
    ):
        buffer.draw(draws, np.eye(4))
        found = buffer.read()
    assert (found.ids == 0).all()
    if size == (4, 4):  # below the diagonal one triangle, above it the other, and the diagonal is of one
        on_diagonal = found.triangles[np.arange(4), np.arange(4)]
        assert len(set(on_diagonal.tolist())) == 1
        assert found.triangles[3, 0] == 0 and found.triangles[0, 3] == 1


def test_the_row_0_is_at_the_top_and_the_size_is_width_and_height(context):
    upper_left = [[-1, 1, 0], [0, 1, 0], [-1, 0, 0]]
    with DrawList(context, upper_left, [[0, 1, 2]], ids=[3]) as draws, VisibilityBuffer(context, (6, 4)) as buffer:
        buffer.draw(draws, np.eye(4))
        found = buffer.read()
    assert found.ids.shape == found.depth.shape == found.triangles.shape == (4, 6)
    assert found.ids[0, 0] == 3 and (found.ids[2:] == EMPTY).all() and (found.ids[:, 3:] == EMPTY).all()


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_the_camera_s_pixels_are_those_of_the_buffer(context, reversed_depth):
    camera = Camera.perspective((3, 4, 5), (0, 1, 0), viewport=(200, 100), reversed_depth=reversed_depth)
    points = np.random.default_rng(1).uniform(-1, 1, (40, 3))
    for number, (point, pixel) in enumerate(zip(points, camera.project(points).pixels, strict=True)):
        corners = point + 0.3 * np.array([[1, 0, -1], [-1, 1, 0], [0, -1, 1]])
        with soup(context, corners[None], ids=[number]) as draws:
            rows, columns = np.nonzero(render(draws, camera).ids == number)
        assert np.abs([columns.mean() + 0.5, rows.mean() + 0.5] - pixel).max() < 0.6


@given(seed=st.integers(0, 10_000), mask=st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_selection_is_what_a_list_of_it_alone_draws(context, seed, mask):
    corners, camera, where = triangles(seed, 8), view((48, 32)), np.array(mask)
    ids = np.arange(100, 108)
    with soup(context, corners, ids=ids) as all_draws, soup(context, corners[where], ids=ids[where]) as some:
        found, expected = render(all_draws, camera, where), render(some, camera)
        everything = render(all_draws, camera)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.depth, expected.depth)
    assert (everything.depth <= found.depth).all()  # more triangles never push depth back
    kept = np.isin(everything.ids, ids[where])
    np.testing.assert_array_equal(found.ids[kept], everything.ids[kept])


def test_passes_add_up(context):
    corners, camera = triangles(3, 30), view((80, 60))
    first = np.arange(30) % 3 == 0
    with soup(context, corners) as draws:
        expected = render(draws, camera)
        with VisibilityBuffer(context, (80, 60)) as buffer:
            for where in (first, ~first):
                buffer.draw(draws, camera.projection @ camera.view, where)
            found = buffer.read()
            buffer.clear()
            cleared = buffer.read()
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.depth, expected.depth)
    assert (cleared.ids == EMPTY).all() and (cleared.depth == 1).all()


def test_both_depth_conventions_see_the_same(context):
    corners = triangles(5, 40)
    with soup(context, corners) as draws:
        standard, reverse = (render(draws, view((160, 120), flag)) for flag in (False, True))
    assert (standard.ids != reverse.ids).mean() < 1e-3  # equal depths to the last bit aside
    assert (standard.depth[standard.ids == EMPTY] == 1).all() and (reverse.depth[reverse.ids == EMPTY] == 0).all()


def test_depth_has_32_bits_and_the_precision_of_reversed_depth(context):
    # Far away, where steps of 2**-24 are far apart: only floats near 0 can tell these two.
    camera = Camera.perspective((0, 0, 0), (0, 0, -1), viewport=(8, 8), near=0.1, reversed_depth=True)
    far, farther = ([[-9e9, -9e9, -d], [9e9, -9e9, -d], [0, 9e9, -d]] for d in (1e6, 1.0001e6))
    with soup(context, np.array([farther, far])) as draws:
        found = render(draws, camera)
    assert (found.ids[2:, 2:6] == 1).all()
    assert found.depth[4, 4] == pytest.approx(1e-7, rel=1e-5)


def test_a_near_draw_hides_a_far_one_in_either_order(context):
    near, far = ([[x, y, z] for x, y, _ in FULL_SCREEN] for z in (-0.5, 0.5))
    for corners, visible in (((near, far), 0), ((far, near), 1)):
        with soup(context, np.array(corners, float)) as draws, VisibilityBuffer(context, (3, 2)) as buffer:
            buffer.draw(draws, np.eye(4))
            assert (buffer.read().ids == visible).all()
            assert (buffer.read().depth == np.float32(0.25)).all()


def test_triangles_before_the_near_plane_and_behind_the_eye_are_clipped(context):
    camera = view((40, 30))
    ground = np.array([[[-50, -1, 50], [50, -1, 50], [0, -1, -50]]], float)  # from behind the eye to the horizon
    with soup(context, ground) as draws:
        found = render(draws, camera)
    seen = found.ids == 0
    assert seen[-1].all() and not seen[:15].any()
    assert (np.diff(found.depth[seen.argmax(axis=0)[20] :, 20]) < 0).all()  # nearer and nearer towards the bottom


def test_instances_are_the_same_triangles_elsewhere(context):
    shift = np.tile(np.eye(4), (3, 1, 1))
    shift[:, 0, 3] = -0.5, 0, 0.5
    small = np.array([[-0.1, -1, 0], [0.1, -1, 0], [0.1, 1, 0], [-0.1, 1, 0]])
    rows = [[0, 1, 2], [0, 2, 3]]
    with (
        DrawList(context, small, rows, ranges=[[0, 2]] * 3, ids=[5, 6, 7], transforms=shift) as draws,
        VisibilityBuffer(context, (40, 2)) as buffer,
    ):
        buffer.draw(draws, np.eye(4))
        found = buffer.read().ids[0]
    assert [found[10], found[20], found[30], found[15], found[0]] == [5, 6, 7, EMPTY, EMPTY]


def test_one_transform_is_that_of_all_draws(context):
    turned = np.diag([-1.0, 1, 1, 1])
    left = np.array([[[-1, -1, 0], [0, -1, 0], [-1, 3, 0]]] * 2, float)
    with soup(context, left, transforms=turned) as draws, VisibilityBuffer(context, (8, 1)) as buffer:
        buffer.draw(draws, np.eye(4))
        assert (buffer.read().ids[0] != EMPTY).tolist() == [False] * 4 + [False] + [True] * 3


def test_transforms_far_from_the_origin_keep_their_precision(context):
    # 1e7 units away float32 has steps of one unit; the product of the matrices is taken in float64.
    away, aside = np.eye(4), np.eye(4)
    away[0, 3], aside[0, 3] = 1e7 + 0.4, 0.2
    camera = Camera.perspective((1e7 + 0.2, 0, 3), (1e7 + 0.2, 0, 0), viewport=(64, 64))
    here = Camera.perspective((0, 0, 3), (0, 0, 0), viewport=(64, 64))
    corners = np.array([[[-0.3, -0.2, 0], [0.4, -0.1, 0], [0.1, 0.5, 0]]])
    with soup(context, corners, transforms=away) as draws, soup(context, corners, transforms=aside) as expected:
        assert (render(draws, camera).ids == 0).any()
        np.testing.assert_array_equal(render(draws, camera).ids, render(expected, here).ids)


def test_the_clusters_of_a_cut_are_drawn_under_their_numbers(context):
    x, y = np.meshgrid(np.linspace(-1, 1, 50), np.linspace(-1, 1, 50))
    points = np.stack([x, y, 0.3 * np.sin(5 * x) * np.cos(4 * y)], -1).reshape(-1, 3)
    first = (50 * np.arange(49)[:, None] + np.arange(49)).reshape(-1, 1)
    built = meshes.build(meshes.from_arrays(points, (first + np.array([0, 1, 50, 1, 51, 50])).reshape(-1, 3)))
    camera = Camera.orbit(built.bounds, azimuth=20, elevation=15, viewport=(120, 90))
    where = built.hierarchy.attribute("level") == 0
    ranges = np.stack([built.offsets[:-1], built.offsets[1:]], 1) // 3
    with DrawList(context, built.positions, built.indices.reshape(-1, 3), ranges=ranges) as draws:
        found = render(draws, camera, where)
    drawn = found.ids != EMPTY
    assert 0.2 < drawn.mean() < 0.9
    assert (
        set(np.unique(found.ids[drawn])) <= set(np.nonzero(where)[0].tolist()) and len(np.unique(found.ids[drawn])) > 3
    )
    begin, end = ranges[found.ids[drawn]].T
    assert ((begin <= found.triangles[drawn]) & (found.triangles[drawn] < end)).all()


@pytest.mark.parametrize(
    ("vertices", "rows", "options"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3), int), {}),
        (FULL_SCREEN, np.zeros((0, 3), int), {}),
        (FULL_SCREEN, [[0, 1, 2]], {"ranges": np.zeros((0, 2), int)}),
        (FULL_SCREEN, [[0, 1, 2]], {"ranges": [[0, 0], [1, 1]]}),
        (FULL_SCREEN, [[0, 0, 0]], {}),
    ],
)
def test_empty_draws_draw_nothing(context, vertices, rows, options):
    with DrawList(context, vertices, rows, **options) as draws, VisibilityBuffer(context, (1, 1)) as buffer:
        buffer.draw(draws, np.eye(4))
        buffer.draw(draws, np.eye(4), np.zeros(len(draws), bool))
        assert buffer.read().ids.tolist() == [[EMPTY]]


def test_one_pixel_is_a_viewport(context):
    with (
        DrawList(context, FULL_SCREEN, [[0, 1, 2]], ids=[EMPTY - 1]) as draws,
        VisibilityBuffer(context, (1, 1), reversed_depth=True) as buffer,
    ):
        buffer.draw(draws, np.diag([1, 1, 0, 1.0]) + np.eye(4, k=1) * [[0], [0], [0.25], [0]])
        found = buffer.read()
    assert (found.ids.tolist(), found.triangles.tolist(), found.depth.tolist()) == ([[EMPTY - 1]], [[0]], [[0.25]])


def test_arrays_of_other_libraries_are_taken(context):
    import torch

    vertices, rows = torch.tensor(FULL_SCREEN, dtype=torch.float64), torch.tensor([[0, 1, 2]])
    with DrawList(context, vertices, rows) as draws, VisibilityBuffer(context, (2, 2)) as buffer:
        buffer.draw(draws, torch.eye(4), torch.tensor([True]))
        assert (buffer.read().ids == 0).all()


@pytest.mark.parametrize(
    ("vertices", "rows", "options", "message"),
    [
        (np.zeros((3, 2)), [[0, 1, 2]], {}, r"\[3, 2\] is not float \[N, 3\]"),
        ([[0, 0, np.nan]] * 3, [[0, 1, 2]], {}, "not finite"),
        ("mesh", [[0, 1, 2]], {}, "no array"),
        (FULL_SCREEN, [[0, 1, 3]], {}, r"not in 0\.\.2"),
        (FULL_SCREEN, [[0, 1, -1]], {}, r"not in 0\.\.2"),
        (FULL_SCREEN, [[0.0, 1.0, 2.0]], {}, "not whole numbers"),
        (FULL_SCREEN, [[0, 1, 2]], {"ranges": [[0, 2]]}, r"not in 0\.\.1"),
        (FULL_SCREEN, [[0, 1, 2]], {"ranges": [[1, 0]]}, "ends before it begins"),
        (FULL_SCREEN, [[0, 1, 2]], {"ids": [1, 2]}, "2 numbers for 1 draws"),
        (FULL_SCREEN, [[0, 1, 2]], {"ids": [EMPTY]}, "not in"),
        (FULL_SCREEN, [[0, 1, 2]], {"ids": [-1]}, "not in"),
        (FULL_SCREEN, [[0, 1, 2]], {"transforms": np.zeros((2, 4, 4))}, "2 matrices for 1 draws"),
        (FULL_SCREEN, [[0, 1, 2]], {"uv": np.zeros((2, 2))}, "2 rows for 3 vertices"),
    ],
)
def test_bad_draws_are_refused(context, vertices, rows, options, message):
    with pytest.raises(ArrayError, match=message):
        DrawList(context, vertices, rows, **options)


@pytest.mark.parametrize(
    ("matrix", "where", "message"),
    [
        (np.eye(3), None, "not a matrix"),
        (np.full((4, 4), np.nan), None, "not finite"),
        (np.zeros((1, 4, 4)), None, "one matrix"),
        (np.eye(4), [True, False], r"not bool \[1\]"),
        (np.eye(4), [0], r"not bool \[1\]"),
    ],
)
def test_bad_views_and_masks_are_refused(context, matrix, where, message):
    with (
        DrawList(context, FULL_SCREEN, [[0, 1, 2]]) as draws,
        VisibilityBuffer(context, (2, 2)) as buffer,
        pytest.raises((ArrayError, CameraError), match=message),
    ):
        buffer.draw(draws, matrix, where)


@pytest.mark.parametrize("size", [(0, 4), (4, -1), (4.5, 4), (4,), "big", None, (1 << 20, 1), (True, False)])
def test_bad_sizes_are_refused(context, size):
    with pytest.raises(CameraError, match="no size"):
        VisibilityBuffer(context, size)
