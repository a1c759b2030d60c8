"""Splats in PLY files: rotations as quaternions, opacities up to the ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.points import SplatCloud, load_points, save_points
from hra.domains.points.files.reading import quaternions
from hra.files.ply import read_elements

unit = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)


def turned(quaternion: np.ndarray, point: np.ndarray) -> np.ndarray:
    """By the product of quaternions, without a matrix."""
    w, axis = quaternion[0], quaternion[1:]
    across = np.cross(axis, point)
    return point + 2 * w * across + 2 * np.cross(axis, across)


@given(st.lists(unit, min_size=1, max_size=4))
def test_quaternions_turn_as_their_matrices_do(found: list[tuple[float, ...]]) -> None:
    given_ones = [np.array(q) / np.linalg.norm(q) for q in found]
    matrices = np.array([[turned(q, axis) for axis in np.eye(3)] for q in given_ones]).transpose(0, 2, 1)
    back = quaternions(matrices)
    # A quaternion and its negative are one rotation.
    signs = np.sign((back * given_ones).sum(axis=1, keepdims=True))
    assert np.allclose(back * signs, given_ones, atol=1e-7)


def test_opacities_at_the_ends_come_back(tmp_path: Path) -> None:
    shares = np.array([0.0, 1.0, 0.25])
    cloud = SplatCloud.of(np.eye(3), np.full((3, 3), 0.5), np.eye(4)[[0] * 3], np.full((3, 3), 0.5), shares)
    save_points(tmp_path / "a.ply", cloud)
    written = read_elements((tmp_path / "a.ply").read_bytes(), "a.ply")["vertex"].scalars["opacity"]
    assert np.allclose(written, np.log([1e-6, 1e6, 1 / 3]), atol=1e-4)
    found = load_points(tmp_path / "a.ply")
    assert isinstance(found, SplatCloud)
    assert np.allclose(found.opacities, shares, atol=2e-6) and np.isfinite(found.opacities).all()
    assert np.allclose(found.covariances, np.tile([0.25, 0, 0, 0.25, 0, 0.25], (3, 1)), atol=1e-6)
