"""Spheres around spheres: they enclose exactly, and are not much larger than they must be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.building.spheres import enclosing_spheres


def encloses(outer_center, outer_radius, centers, radii) -> bool:
    """Whether every sphere lies inside the outer one, in rational arithmetic: |c - C| <= R - r, squared."""
    for center, radius in zip(centers.tolist(), radii.tolist(), strict=True):
        room = Fraction(float(outer_radius)) - Fraction(radius)
        square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(center, outer_center.tolist(), strict=True))
        if room < 0 or square > room**2:
            return False
    return True


@given(st.integers(1, 9), st.integers(0, 10_000), st.sampled_from([1e-9, 1.0, 1e7]))
def test_spheres_are_enclosed_exactly(count: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    centers = (rng.normal(size=(count, 3)) * scale).astype(np.float32)
    radii = (rng.random(count) * scale * rng.choice([0.0, 0.1, 3.0])).astype(np.float32)
    items = rng.permutation(count)
    center, radius = enclosing_spheres(centers, radii, np.array([0, count]), items)
    assert encloses(center[0], radius[0], centers, radii)


def test_the_sphere_of_two_points_and_of_one_sphere_is_the_smallest() -> None:
    points = np.array([[0, 0, 0], [2, 0, 0], [5, 5, 5]], np.float32)
    center, radius = enclosing_spheres(points, np.array([0, 0, 3], np.float32), np.array([0, 2, 3]), np.arange(3))
    assert np.allclose(center, [[1, 0, 0], [5, 5, 5]])
    assert np.allclose(radius, [1, 3])


def test_the_sphere_of_a_ball_of_points_is_at_most_two_percent_too_large(rng: np.random.Generator) -> None:
    points = rng.normal(size=(500, 3))
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    _, radius = enclosing_spheres(points, np.zeros(500, np.float32), np.array([0, 500]), np.arange(500))
    assert radius[0] == pytest.approx(1, rel=0.02)
