"""Clouds that the tests share."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.points import PointCloud, SplatCloud


@pytest.fixture
def cloud() -> PointCloud:
    """Points on a sphere, coloured by place."""
    rng = np.random.default_rng(3)
    places = rng.normal(size=(600, 3))
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    return PointCloud(places, (places + 1) / 2)


@pytest.fixture
def splats() -> SplatCloud:
    """Turned Gaussians of all shapes."""
    rng = np.random.default_rng(4)
    scales, colors = rng.uniform(0.01, 0.1, (200, 3)), rng.random((200, 3))
    return SplatCloud.of(rng.random((200, 3)), scales, rng.normal(size=(200, 4)), colors, rng.uniform(0.1, 0.9, 200))
