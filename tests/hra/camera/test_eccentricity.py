"""Cortical magnification: known values, monotone, and the inputs that are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera.eccentricity import Eccentricity
from hra.errors import ArrayError

coordinates = st.floats(-1e4, 1e4)


def test_degrees_of_a_pixel_grid():
    eye = Eccentricity((3, 4), pixels_per_degree=10)
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(6)), axis=-1)
    degrees = eye.degrees(grid)
    assert degrees.shape == (6, 5)
    assert degrees[0, 0] == pytest.approx(0.5)
    assert degrees[4, 3] == 0


def test_known_magnification():
    eye = Eccentricity((0, 0), pixels_per_degree=1)
    # 10 / (e + 0.75) at 0, 0.25, 1.25 and 9.25 degrees.
    np.testing.assert_allclose(eye.magnification([[0, 0], [0.25, 0], [0, -1.25], [-9.25, 0]]), [40 / 3, 10, 5, 1])
    np.testing.assert_allclose(eye.linear_weight([[0, 0], [0.75, 0], [2.25, 0]]), [1, 1 / 2, 1 / 4])
    np.testing.assert_allclose(eye.areal_weight([[0, 0], [0.75, 0], [2.25, 0]]), [1, 1 / 4, 1 / 16])


def test_published_foveal_magnification():
    assert Eccentricity((0, 0), m0=17.3).magnification([[0, 0]])[0] == pytest.approx(23.07, abs=0.01)


@given(st.tuples(coordinates, coordinates), st.floats(0.01, 10), st.lists(st.floats(0, 1e4), min_size=2, max_size=20))
def test_weights_fall_from_one_towards_zero(gaze: tuple[float, float], e0: float, distances: list[float]):
    eye = Eccentricity(gaze, e0=e0)
    positions = np.array(gaze) + np.array([[0.6, 0.8]]) * np.sort(distances)[:, None]
    linear, areal = eye.linear_weight(positions), eye.areal_weight(positions)
    assert (np.diff(linear) <= 1e-12).all()
    assert ((areal > 0) & (areal <= linear) & (linear <= 1)).all()
    peak = eye.magnification([gaze])
    np.testing.assert_allclose(eye.magnification(positions) / peak, linear)


def test_no_positions():
    assert Eccentricity((0, 0)).areal_weight(np.empty((0, 2))).shape == (0,)


def test_torch_positions():
    torch = pytest.importorskip("torch")
    assert Eccentricity((0, 0), pixels_per_degree=5).degrees(torch.tensor([[3.0, 4.0]])).tolist() == [1.0]


@pytest.mark.parametrize(
    "options",
    [
        {"gaze": (1,)},
        {"gaze": (1, 2, 3)},
        {"gaze": (math.nan, 0)},
        {"gaze": "xy"},
        {"gaze": None},
        {"pixels_per_degree": 0},
        {"pixels_per_degree": math.inf},
        {"m0": -1},
        {"e0": 0},
        {"e0": math.nan},
        {"e0": None},
    ],
)
def test_bad_parameters_are_refused(options: dict):
    with pytest.raises(ArrayError):
        Eccentricity(**{"gaze": (0, 0), **options})


@pytest.mark.parametrize("positions", [[1, 2, 3], 5, [["a", "b"]], [[1, 2], [3]]])
def test_bad_positions_are_refused(positions):
    with pytest.raises(ArrayError):
        Eccentricity((0, 0)).degrees(positions)


def test_the_first_position_that_is_not_finite_is_named():
    with pytest.raises(ArrayError, match=r"positions\[1\]"):
        Eccentricity((0, 0)).degrees([[0, 0], [math.nan, 0], [math.inf, 0]])


@given(st.tuples(st.floats(-50, 150), st.floats(-50, 150)), st.integers(0, 10_000))
def test_the_largest_weight_in_a_rectangle_is_that_of_its_best_point(gaze: tuple[float, float], seed: int):
    rng = np.random.default_rng(seed)
    eye, first = Eccentricity(gaze, pixels_per_degree=10), rng.integers(0, 100, (20, 2))
    rects = np.concatenate([first, first + rng.integers(0, 30, (20, 2))], axis=1)
    share = np.stack(np.meshgrid(*[np.linspace(0, 1, 61)] * 2), axis=-1).reshape(-1, 1, 2)
    points = first + share * (rects[:, 2:] + 1 - first)
    best = eye.linear_weight(points).max(axis=0)
    largest = eye.largest_linear_weight(rects)
    assert (largest >= best).all()
    np.testing.assert_allclose(largest, best, rtol=0.1)
    assert (eye.largest_linear_weight(rects + np.array([-1, -2, 0, 3])) >= largest).all()


@pytest.mark.parametrize("rects", [np.zeros(4), np.zeros((2, 2)), [["a"] * 4]])
def test_bad_rectangles_are_refused(rects):
    with pytest.raises(ArrayError):
        Eccentricity((0, 0)).largest_linear_weight(rects)
