"""Distances from points to surfaces: what cannot be measured is refused."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import meshes
from hra.errors import MeshError

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
FACE = np.array([[0, 1, 2]], np.uint32)
POINTS = np.array([[0.2, 0.2, 0.5], [2.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("points", "positions", "triangles", "message"),
    [
        (POINTS, CORNERS, FACE[:0], "no triangles"),
        (POINTS, CORNERS, np.array([[0, 1, 9]], np.uint32), "but there are 3"),
        (POINTS, CORNERS[:0], FACE, "but there are 0"),
        (POINTS, CORNERS * np.nan, FACE, "not finite"),
        (POINTS[:, :2], CORNERS, FACE, r"\[V, 3\]"),
        (np.full((1, 3), np.inf), CORNERS, FACE, "not finite"),
    ],
)
def test_what_cannot_be_measured_is_refused(points, positions, triangles, message):
    with pytest.raises(MeshError, match=message):
        meshes.nearest_distances(points, positions, triangles)


def test_no_points_have_no_distances():
    assert meshes.nearest_distances(POINTS[:0], CORNERS, FACE).shape == (0,)
