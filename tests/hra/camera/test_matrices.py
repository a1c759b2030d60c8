from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import matrices
from hra.errors import CameraError

NUMBERS = st.floats(-10, 10).map(lambda x: round(x, 3))


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.floats(0.1, 3), st.booleans())
def test_a_frustum_holds_what_clip_space_holds(point: tuple, near: float, reversed_depth: bool):
    far = near + 7
    projection = matrices.perspective_matrix(50, 1.5, near, far, reversed_depth)
    view = matrices.look_at(np.array([1.0, 2.0, 3.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]))
    x, y, z, w = projection @ view @ np.append(point, 1.0)
    low = 0 if reversed_depth else -w
    margins = [w - abs(x), w - abs(y), z - low, w - z]
    distances = matrices.frustum_planes(projection, view) @ np.append(point, 1.0)
    if min(map(abs, margins)) > 1e-6:
        assert (distances.min() > 0) == (min(margins) > 0)


def test_near_and_far_are_the_ends_of_depth():
    for reversed_depth, ends in ((False, (-1, 1)), (True, (1, 0))):
        projection = matrices.perspective_matrix(60, 1, 0.5, 20, reversed_depth)
        for distance, end in zip((0.5, 20), ends, strict=True):
            clip = projection @ [0, 0, -distance, 1]
            assert clip[2] / clip[3] == pytest.approx(end, abs=1e-12)


def test_a_view_turns_and_shifts_only():
    view = matrices.look_at(np.array([3.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 2.0]))
    np.testing.assert_allclose(view[:3, :3] @ view[:3, :3].T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(view @ [3, 1, 2, 1], [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose((view @ [0, 1, 0, 1])[:2], 0, atol=1e-12)


@pytest.mark.parametrize("value", [(0, 1), [0, math.nan, 1], ["a", "b", "c"], (1e200, 0, 0)])
def test_what_is_no_point_is_refused(value):
    with pytest.raises(CameraError, match="up"):
        matrices.direction("up", value)


def test_what_is_kept_is_read_only_and_a_copy():
    given_view = np.eye(4)
    kept = matrices.view_matrix(given_view)
    given_view[0, 3] = 5
    assert kept[0, 3] == 0
    assert not kept.flags.writeable
