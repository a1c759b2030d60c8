"""Streamed frames: whole from the first one, without cracks, within the pool."""

from __future__ import annotations

import numpy as np

import hra
from hra.domains import meshes
from hra.kernels.raster import EMPTY
from hra_lab.evaluation.meshes.crack_judge import pixels_inside

SIZE = (161, 121)


def test_teleports_show_the_whole_object_and_no_back(lumpy_asset: meshes.MeshAsset) -> None:
    allocator = meshes.PageAllocator(lumpy_asset)
    pool = (len(lumpy_asset.page_bytes) // 2 + 1) * lumpy_asset.slot_bytes
    streamer = meshes.MeshStreamer(allocator, pool, upload_bytes=lumpy_asset.slot_bytes)
    whole = lumpy_asset.read()
    with meshes.Renderer(lumpy_asset, SIZE, pool_bytes=pool) as renderer:
        for azimuth in (0, 0, 170, 170, 80, 300):
            camera = hra.Camera.orbit(lumpy_asset.bounds, azimuth=azimuth, up=(0, 0, 1), viewport=SIZE)
            update = streamer.step(camera)
            renderer.load(update)
            renderer.draw(camera, update.cut)
            covered = renderer.visible().clusters != EMPTY
            assert not meshes.boundary_chain(whole.triangles(update.cut))[0].size
            assert pixels_inside(whole, renderer, camera, update.cut)[0] == 0
            renderer.draw(camera, update.cut, "none")
            full = renderer.visible().clusters != EMPTY
            np.testing.assert_array_equal(covered, full)
            assert covered.sum() > 2000


def test_random_cuts_show_no_back(lumpy: meshes.ClusterMesh) -> None:
    random = np.random.default_rng(5)
    with meshes.Renderer(lumpy, SIZE) as renderer:
        for budget in (400, 900, 2_500, 6_000):
            camera = hra.Camera.orbit(
                lumpy.bounds, azimuth=random.uniform(0, 360), elevation=random.uniform(-60, 60), viewport=SIZE
            )
            cut = meshes.MeshAllocator(lumpy).allocate(camera, budget=min(budget, lumpy.triangle_count)).cut
            renderer.draw(camera, cut)
            inside, cast = pixels_inside(lumpy, renderer, camera, cut)
            assert inside == 0 and cast < 20


def test_a_hole_is_seen(lumpy: meshes.ClusterMesh) -> None:
    camera = hra.Camera.orbit(lumpy.bounds, viewport=SIZE)
    cut = np.flatnonzero(lumpy.hierarchy.attribute("level") == 0)
    with meshes.Renderer(lumpy, SIZE) as renderer:
        renderer.draw(camera, cut)
        seen = renderer.visible().clusters
        cut = cut[cut != seen[60, 80]]
        renderer.draw(camera, cut)
        assert pixels_inside(lumpy, renderer, camera, cut)[0] > 3
