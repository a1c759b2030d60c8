"""Importance maps against plain NumPy: never below what is there, monotone, and no more than the pyramid's blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.camera import ImportanceMap, View
from hra.errors import ArrayError, MetricError
from tests.helpers.importance import blocks, touched


@st.composite
def screens(draw) -> tuple[np.ndarray, tuple[int, int], list[int], list[int]]:
    """A map, a viewport, and two rectangles in it, the first within the second."""
    shape = draw(st.tuples(st.integers(1, 40), st.integers(1, 40)))
    values = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).random(shape).astype(np.float32) ** 4
    viewport = draw(st.tuples(st.integers(1, 300), st.integers(1, 300)))
    columns = sorted(draw(st.lists(st.integers(0, viewport[0] - 1), min_size=4, max_size=4)))
    rows = sorted(draw(st.lists(st.integers(0, viewport[1] - 1), min_size=4, max_size=4)))
    outer = [columns[0], rows[0], columns[3], rows[3]]
    return values, viewport, [columns[1], rows[1], columns[2], rows[2]], outer


@given(screens())
def test_it_is_the_largest_of_the_blocks_around_what_is_touched(given_screen) -> None:
    values, viewport, inner, outer = given_screen
    found = ImportanceMap(values).largest(np.array([inner, outer], np.int32), viewport)
    for rect, bound in zip((inner, outer), found, strict=True):
        x0, y0, x1, y1 = touched(rect, values.shape, viewport)
        assert bound == blocks(values, (x0, y0, x1, y1)) >= values[y0 : y1 + 1, x0 : x1 + 1].max()
        if max(x1 - x0, y1 - y0) < 2:
            assert bound == values[y0 : y1 + 1, x0 : x1 + 1].max()
    assert found[0] <= found[1]


@pytest.mark.parametrize("shape", [(1, 1), (4, 6), (480, 640), (1000, 3)])
def test_every_pixel_is_touched_by_its_own_value(shape: tuple[int, int]) -> None:
    values, viewport = np.arange(np.prod(shape), dtype=np.float32).reshape(shape), (640, 480)
    x, y = np.random.default_rng(0).integers(0, viewport, (500, 2)).T
    rects = np.stack([x, y, x, y], 1).astype(np.int32)
    rows, columns = y * shape[0] // 480, x * shape[1] // 640
    found = ImportanceMap(values).largest(rects, viewport)
    assert (found >= values[rows, columns]).all()
    if shape[0] <= 480 and shape[1] <= 640 and 480 % shape[0] == 640 % shape[1] == 0:
        assert np.array_equal(found, values[rows, columns])


def test_what_is_out_of_view_has_no_weight() -> None:
    rects = np.array([[0, 0, -1, -1], [5, 5, 4, 9]], np.int32)
    assert ImportanceMap(np.ones((3, 3))).largest(rects, (640, 480)).tolist() == [0, 0]


def test_a_map_and_a_gaze_and_a_weight_multiply() -> None:
    camera = hra.Camera.perspective((0, 0, 4), (0, 0, 0), viewport=(200, 200))
    boxes = np.array([[[-1, -1, 0], [-0.5, -0.5, 0]], [[0.5, 0.5, 0], [1, 1, 0]]], np.float32)
    gaze, importance = hra.Eccentricity((20, 180)), ImportanceMap(np.array([[0.0, 0.25], [4.0, 0.0]]))
    gazed, mapped = View(camera, gaze).acuity(boxes), View(camera, importance=importance).acuity(boxes)
    assert mapped.tolist() == [2.0, 0.5]
    both = View(camera, gaze, 9.0, importance)
    np.testing.assert_allclose(both.acuity(boxes), 3 * gazed * mapped)
    assert not both.even and not View(camera, importance=importance).even and View(camera, weight=2.0).even
    placed = both.seen_from(np.diag([2.0, 2.0, 2.0, 1.0]))
    np.testing.assert_allclose(placed.acuity(boxes / 2), both.acuity(boxes), rtol=1e-6)


@pytest.mark.parametrize(
    "values", [np.ones(3), np.ones((0, 3)), np.array([[-1.0]]), np.array([[np.nan]]), np.array([[1e300]]), [["a"]]]
)
def test_other_values_are_refused(values: np.ndarray) -> None:
    with pytest.raises(ArrayError):
        ImportanceMap(values)


def test_a_view_takes_no_other_map() -> None:
    camera = hra.Camera.perspective((0, 0, 4), (0, 0, 0), viewport=(200, 200))
    with pytest.raises(MetricError, match="importance"):
        View(camera, importance=np.ones((3, 3)))  # pyright: ignore[reportArgumentType]
