"""Errors from all sides: no camera at the distance sees more, and hardly one sees much less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.domains.meshes.metrics.surface_error import AllSidesError, reaches, stretch_around
from hra.errors import CameraError

FOCAL = 100.0


@given(distance=st.floats(1.001, 20), reach=st.floats(0.0, 1.0))
def test_the_stretch_is_the_largest_on_the_sphere(distance: float, reach: float) -> None:
    angle = np.linspace(0, np.pi, 20_001)
    depth = distance - reach * np.cos(angle)
    from_eye = np.hypot(depth, reach * np.sin(angle))
    seen = (from_eye / depth**2).max()
    bound = stretch_around(np.array([reach]), distance)[0]
    assert seen <= bound <= seen * 1.01


def test_every_camera_sees_at_most_the_error_from_all_sides(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy, distance = bumpy_clusters.hierarchy, 3.0
    center = bumpy_clusters.bounds.astype(float).mean(axis=0)
    metric = AllSidesError(tuple(center.tolist()), distance, FOCAL, "certified")
    bounds = metric.peak(hierarchy, None)
    errors = meshes.SurfaceError("certified").peak(hierarchy, None)
    rng, worst = np.random.default_rng(0), np.zeros(len(errors))
    for direction in rng.normal(size=(60, 3)):
        eye = center + distance * direction / np.linalg.norm(direction)
        camera = hra.Camera.perspective(eye, center, rng.normal(size=3), viewport=(200, 200))
        # The points of the surface itself, and as far off as the other surface may be.
        for cluster in rng.integers(0, len(errors), 20):
            corners = bumpy_clusters.mesh(np.array([cluster])).positions.astype(float)
            moved = corners + errors[cluster] * _toward(eye, corners)
            shift = np.linalg.norm(camera.project(moved).pixels - camera.project(corners).pixels, axis=1).max()
            worst[cluster] = max(worst[cluster], shift * FOCAL / camera.focal_pixels)
    assert (worst <= bounds * (1 + 1e-6)).all() and worst.max() > 0


def _toward(eye: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Directions [N, 3] across the line of sight."""
    across = np.cross(eye - points, [0.3, -0.5, 0.8])
    return across / np.linalg.norm(across, axis=1, keepdims=True)


def test_errors_never_fall_from_fine_to_coarse(bumpy_clusters: meshes.ClusterMesh) -> None:
    hierarchy = bumpy_clusters.hierarchy
    center = bumpy_clusters.bounds.astype(float).mean(axis=0)
    peak = AllSidesError(tuple(center.tolist()), 3.0, FOCAL, "certified").peak(hierarchy, None)
    for group in range(len(hierarchy)):
        members, coarser = hierarchy.added_by == group, hierarchy.removed_by == group
        assert peak[members].max() <= peak[coarser].min()


def test_an_eye_within_the_mesh_is_refused(bumpy_clusters: meshes.ClusterMesh) -> None:
    _, reach = reaches(bumpy_clusters.hierarchy, (0, 0, 0))
    with pytest.raises(CameraError, match="inside the mesh"):
        AllSidesError((0, 0, 0), 0.9 * reach, FOCAL).peak(bumpy_clusters.hierarchy, None)
