"""Projected bounds against plain projections of points, for every kind of depth, and bounds beyond reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, BackendUnavailable
from hra.kernels import project_boxes, project_spheres
from tests.helpers.views import KINDS, camera_of, random_boxes, window_matrix

BACKENDS = ("reference", "numba", "warp")
SIZE = (75, 100)
seeds = st.integers(0, 2**32 - 1)


def view_of(kind: str, seed: int) -> tuple[np.ndarray, bool]:
    """A matrix from a random place in a random direction, and whether its depth is reversed."""
    rng = np.random.default_rng(seed)
    eye = rng.normal(size=3) * 10
    camera = camera_of(kind, (100, 75), eye, eye + rng.normal(size=3))
    return window_matrix(camera), camera.reversed_depth


def random_spheres(rng: np.random.Generator, count: int) -> np.ndarray:
    radius = np.exp(rng.uniform(np.log(0.05), np.log(6.0), (count, 1)))
    return np.concatenate([rng.normal(size=(count, 3)) * 20, radius], axis=1)


def points_in_boxes(rng: np.random.Generator, boxes: np.ndarray) -> np.ndarray:
    """Corners and random points of each box [K, 40, 3]."""
    share = np.concatenate([np.indices((2, 2, 2)).reshape(3, -1).T, rng.random((32, 3))])
    return boxes[:, None, 0] * (1 - share) + boxes[:, None, 1] * share


def points_on_spheres(rng: np.random.Generator, spheres: np.ndarray) -> np.ndarray:
    """Random points of each surface [K, 400, 3]."""
    direction = rng.normal(size=(400, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return spheres[:, None, :3] + direction * spheres[:, None, 3:]


def assert_holds(bounds, points: np.ndarray, matrix: np.ndarray, reversed_depth: bool) -> None:
    """Every point in view lies in its object's rectangle and not nearer than its depth."""
    clip = points @ matrix[:, :3].T + matrix[:, 3]
    x, y, z, w = np.moveaxis(clip, -1, 0)
    in_view = (w > 0) & (np.abs(x) <= w) & (np.abs(y) <= w) & (z >= 0) & (z <= w)
    with np.errstate(all="ignore"):
        column = np.minimum(np.floor((x / w + 1) / 2 * SIZE[1]), SIZE[1] - 1)
        row = np.minimum(np.floor((1 - y / w) / 2 * SIZE[0]), SIZE[0] - 1)
        x0, y0, x1, y1 = bounds.rects.T[..., None]
        inside = (x0 <= column) & (column <= x1) & (y0 <= row) & (row <= y1)
        nearest = bounds.depth[:, None].astype(np.float64)
        behind = z / w <= nearest if reversed_depth else z / w >= nearest
    assert (inside & behind)[in_view].all()


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_points_of_boxes_and_spheres_are_covered(kind, seed):
    rng = np.random.default_rng(seed)
    matrix, reversed_depth = view_of(kind, seed)
    boxes, spheres = random_boxes(rng, 60), random_spheres(rng, 60)
    found = project_boxes(boxes, matrix, SIZE, reversed_depth=reversed_depth)
    assert_holds(found, points_in_boxes(rng, boxes.astype(np.float64)), matrix, reversed_depth)
    found = project_spheres(spheres, matrix, SIZE, reversed_depth=reversed_depth)
    assert_holds(found, points_on_spheres(rng, spheres), matrix, reversed_depth)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", BACKENDS[1:])
@given(seed=seeds)
def test_backends_give_the_same(kind, backend, seed):
    rng = np.random.default_rng(seed)
    matrix, reversed_depth = view_of(kind, seed)
    for project, bounds in ((project_boxes, random_boxes(rng, 50)), (project_spheres, random_spheres(rng, 50))):
        expected = project(bounds, matrix, SIZE, reversed_depth=reversed_depth, backend="reference")
        found = project(bounds, matrix, SIZE, reversed_depth=reversed_depth, backend=backend)
        np.testing.assert_array_equal(found.rects, expected.rects)
        np.testing.assert_allclose(found.depth, expected.depth, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_rectangles_are_tight(kind, seed):
    """The object reaches into the outermost pixels; spheres are sampled at points, which miss their rim a little."""
    rng = np.random.default_rng(seed)
    matrix, reversed_depth = view_of(kind, seed)
    boxes, spheres = random_boxes(rng, 40), random_spheres(rng, 40)
    for found, points, missed in (
        (project_boxes(boxes, matrix, SIZE, reversed_depth=reversed_depth), points_in_boxes(rng, boxes), 0),
        (project_spheres(spheres, matrix, SIZE, reversed_depth=reversed_depth), points_on_spheres(rng, spheres), 0.1),
    ):
        usual = np.isfinite(found.depth)
        x, y, _, w = np.moveaxis(points[usual] @ matrix[:, :3].T + matrix[:, 3], -1, 0)
        for first, last, pixels, size in (
            (*found.rects[usual].T[[0, 2]], (1 + x / w) / 2 * SIZE[1], SIZE[1]),
            (*found.rects[usual].T[[1, 3]], (1 - y / w) / 2 * SIZE[0], SIZE[0]),
        ):
            given_away = 0.05 + missed * (1 + np.ptp(pixels, axis=1))
            assert ((first == 0) | (pixels.min(axis=1) <= first + 1 + given_away)).all()
            assert ((last == size - 1) | (pixels.max(axis=1) >= last - given_away)).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_special_boxes(kind, backend):
    camera = camera_of(kind, (100, 75))
    far_side = -np.inf if camera.reversed_depth else np.inf
    boxes = np.array(
        [
            [[-1, -1, -5], [1, 1, 5]],  # through the near plane
            [[np.nan, -1, -5], [1, 1, -4]],
            [[-1, -1, -np.inf], [1, 1, -4]],
            [[-1, -1, 5], [1, 1, 9]],  # behind the eye
            [[900, -1, -5], [901, 1, 5]],  # through the near plane, but beside the view
            [[900, -1, -5], [901, 1, -4]],
        ]
    )
    found = project_boxes(boxes, window_matrix(camera), SIZE, reversed_depth=camera.reversed_depth, backend=backend)
    assert found.rects.tolist() == [[0, 0, 99, 74]] * 3 + [[0, 0, -1, -1]] * 3
    assert found.depth.tolist() == [-far_side] * 3 + [far_side] * 3
    spheres = np.array([[0, 0, 0, 2], [0, 0, np.nan, 1], [0, 0, -5, -1], [0, 0, 9, 1], [900, 0, 0, 1]])
    found = project_spheres(spheres, window_matrix(camera), SIZE, reversed_depth=camera.reversed_depth, backend=backend)
    assert found.rects.tolist() == [[0, 0, 99, 74]] * 3 + [[0, 0, -1, -1]] * 2


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_what_lies_beyond_the_far_plane_is_outside(kind):
    found = project_boxes(np.array([[[-1.0, -1, -900], [1, 1, -800]]]), window_matrix(camera_of(kind, (100, 75))), SIZE)
    assert found.rects.tolist() == [[0, 0, -1, -1]]


def test_slack_moves_depth_towards_the_eye():
    boxes, matrix = np.array([[[-1.0, -1, -6], [1, 1, -5]]]), window_matrix(camera_of("perspective", (100, 75)))
    plain, moved = (float(project_boxes(boxes, matrix, SIZE, slack=slack).depth[0]) for slack in (0.0, 2.0**-10))
    assert plain - moved == pytest.approx(2.0**-10, rel=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_bounds_are_fine_and_the_kind_of_array_is_kept(backend):
    torch, matrix = pytest.importorskip("torch"), np.eye(4)
    assert project_boxes(np.zeros((0, 2, 3), np.float32), matrix, SIZE, backend=backend).rects.shape == (0, 4)
    found = project_spheres(torch.rand(5, 4), matrix, SIZE, backend=backend)
    assert isinstance(found.rects, torch.Tensor) and found.depth.dtype == torch.float32


BOXES = np.zeros((1, 2, 3), np.float32)


@pytest.mark.parametrize(
    ("boxes", "matrix", "options", "message"),
    [
        (np.zeros((1, 6), np.float32), np.eye(4), {}, "shape"),
        (np.zeros((1, 2, 3), int), np.eye(4), {}, "int64"),
        ([[0, 0]], np.eye(4), {}, "not an array"),
        (BOXES, np.eye(3), {}, "not a view"),
        (BOXES, np.full((4, 4), np.nan), {}, "not a view"),
        (BOXES, "camera", {}, "cannot be read"),
        (BOXES, np.eye(4), {"slack": -1.0}, "slack is -1"),
        (BOXES, np.eye(4), {"slack": np.nan}, "slack is nan"),
    ],
)
def test_bad_arguments_are_refused(boxes, matrix, options, message):
    with pytest.raises(ArrayError, match=message):
        project_boxes(boxes, matrix, SIZE, **options)


def test_unknown_backends_are_refused():
    with pytest.raises(BackendUnavailable):
        project_boxes(BOXES, np.eye(4), SIZE, backend="none")
