"""A camera that fills its picture: everything is in view, and nothing could be nearer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera.framing import fit_camera
from hra.errors import CameraError


@given(
    seed=st.integers(0, 10_000),
    azimuth=st.floats(-180, 180),
    elevation=st.floats(-89, 89),
    viewport=st.sampled_from([(1920, 1080), (300, 900), (64, 64)]),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_all_points_are_in_view_and_the_picture_is_full(seed, azimuth, elevation, viewport, scale) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 3)) * rng.uniform(0.1, 3, 3) * scale + rng.normal(size=3) * scale
    camera = fit_camera(points, azimuth, elevation, viewport=viewport)
    seen = camera.project(points)
    assert seen.in_front.all()
    share = seen.pixels / np.array(viewport)
    assert (share > 0).all() and (share < 1).all()
    spread = share.max(axis=0) - share.min(axis=0)
    depth = -(points @ camera.view[2, :3] + camera.view[2, 3])
    if depth.min() > 0.011 * np.ptp(depth):  # else something long reaches up to the eye
        assert spread.max() == pytest.approx(0.94, abs=1e-6)
        # In the middle of the side that is full.
        axis = int(spread.argmax())
        assert share[:, axis].max() + share[:, axis].min() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("points", [[[1, 2, 3]], [[0, 0, 0], [0, 0, 1]], [[5, 5, 5], [5, 5, 5]]])
def test_points_and_lines_can_be_looked_at(points) -> None:
    assert fit_camera(np.array(points, float), 0, 0).project(points).in_front.all()


def test_angles_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(CameraError):
        fit_camera(np.eye(3), float("nan"))
