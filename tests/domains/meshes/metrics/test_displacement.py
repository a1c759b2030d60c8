"""What is remembered of source clusters between gains and thresholds is that of the same mesh and camera."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np

import hra
from hra.domains import meshes
from hra.domains.meshes.metrics.displacement import source_pixels, sources_of


def asked_directly(hierarchy: hra.Hierarchy, camera: hra.Camera) -> tuple[np.ndarray, np.ndarray]:
    return camera.boxes_near_view(hierarchy.attribute("box"), hierarchy.removed_by < 0)


def test_turns_of_meshes_and_cameras_find_what_each_alone_does(skull_clusters: meshes.ClusterMesh):
    bounds = skull_clusters.bounds
    cameras = [hra.Camera.orbit(bounds, azimuth=a, distance=d * np.ptp(bounds)) for a, d in ((0, 0.05), (0, 0.1))]
    other = replace(skull_clusters.hierarchy)  # equal, but another one
    for camera in (*cameras, *cameras):
        for hierarchy in (skull_clusters.hierarchy, other):
            pixels, apart = asked_directly(hierarchy, camera)
            assert (apart > 0).any() and (apart == 0).any()
            found = source_pixels(hierarchy, camera)
            np.testing.assert_array_equal(found, np.where(apart > 0, 0.0, pixels))
            found[:] = np.nan  # callers write into it
            sources = sources_of(hierarchy, camera)
            np.testing.assert_array_equal(sources.pixels, pixels)
            np.testing.assert_array_equal(sources.apart, apart)


def test_nothing_keeps_meshes_and_cameras(skull_clusters: meshes.ClusterMesh):
    hierarchy, camera = replace(skull_clusters.hierarchy), hra.Camera.orbit(skull_clusters.bounds)
    found = weakref.ref(hierarchy), weakref.ref(camera)
    source_pixels(hierarchy, camera)
    del hierarchy, camera
    gc.collect()
    assert found[0]() is None and found[1]() is None
