"""No cut of a closed mesh shows its inside, and none has a border: random cuts, budgets, pixels, streamed frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.kernels.raster import EMPTY
from hra_lab.evaluation.meshes.crack_judge import pixels_inside, pixels_open
from hra_lab.inputs.mesh_sources import bumpy

SIZE = (201, 151)


def cuts_of(
    mesh: meshes.ClusterMesh, random: np.random.Generator, count: int
) -> Iterator[tuple[hra.Camera, np.ndarray]]:
    """Views from outside, and by turns a random cut, that of a budget and that of a pixel error."""
    low, high = mesh.root_triangle_count, mesh.triangle_count
    for k in range(count):
        around, above, far = random.uniform(0, 360), random.uniform(-80, 80), random.uniform(1.4, 3)
        distance = far * float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))
        # The near plane is beyond nothing: the eye is outside of a sphere around the mesh.
        camera = hra.Camera.orbit(mesh.bounds, azimuth=around, elevation=above, distance=distance, viewport=SIZE)
        budget = float(np.exp(random.uniform(np.log(low), np.log(high))))
        if k % 3 == 0:
            gains = random.random(len(mesh.hierarchy.node_cost))
            yield camera, hra.solve(mesh.hierarchy, budget, gains=gains).cut
        elif k % 3 == 1:
            yield camera, meshes.MeshAllocator(mesh).allocate(camera, budget).cut
        else:
            traversal = hra.Threshold(float(random.uniform(0.3, 8)))
            yield camera, meshes.MeshAllocator(mesh, traversal=traversal).allocate(camera, np.inf).cut


def check_cuts(mesh: meshes.ClusterMesh, seed: int, count: int, few: int = 0) -> int:
    """Judge cuts of a closed mesh; how many of them differ. Those of ``few`` triangles may pass through themselves."""
    found = set()
    with meshes.Renderer(mesh, SIZE) as renderer:
        for camera, cut in cuts_of(mesh, np.random.default_rng(seed), count):
            assert meshes.is_closed(mesh.mesh(cut))
            renderer.draw(camera, cut)
            assert pixels_open(mesh, renderer, camera, cut) == 0
            assert len(mesh.triangles(cut)) < few or pixels_inside(mesh, renderer, camera, cut)[0] == 0
            assert (renderer.visible().clusters != EMPTY).any()
            found.add(cut.tobytes())
    return len(found)


def check_stream(mesh: meshes.ClusterMesh, file: Path, seed: int, frames: int, few: int) -> None:
    """Judge the frames of a mesh streamed through a pool of a third of its pages, two of them in each frame."""
    mesh.save(file)
    asset, random = meshes.open_asset(file), np.random.default_rng(seed)
    whole, pool = asset.read(), max(len(asset.page_bytes) // 3, 2) * asset.slot_bytes
    streamer = meshes.MeshStreamer(meshes.PageAllocator(asset), pool, upload_bytes=2 * asset.slot_bytes)
    with meshes.Renderer(asset, SIZE, pool_bytes=pool) as renderer:
        for _ in range(frames):
            around = float(random.choice([random.uniform(0, 360), 30]))
            far = 1.6 * float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))
            camera = hra.Camera.orbit(mesh.bounds, azimuth=around, distance=far, viewport=SIZE)
            update = streamer.step(camera)
            renderer.load(update)
            renderer.draw(camera, update.cut)
            assert meshes.is_closed(whole.mesh(update.cut))
            assert pixels_open(whole, renderer, camera, update.cut) == 0
            assert len(whole.triangles(update.cut)) < few or pixels_inside(whole, renderer, camera, update.cut)[0] == 0


def test_seeded_cuts_show_no_inside(lumpy: meshes.ClusterMesh) -> None:
    assert check_cuts(lumpy, seed=11, count=9) >= 6


@pytest.mark.slow
# The skull is a shell, whose thin walls pass through each other in cuts of any size.
@pytest.mark.parametrize(("name", "few"), [("skull", 50_000), ("bumpy sphere", 3_000)])
def test_many_cuts_and_streams_have_no_holes(name: str, few: int, tmp_path: Path) -> None:
    mesh = meshes.build(hra.samples.path("skull.ply") if name == "skull" else bumpy(6))
    assert check_cuts(mesh, seed=5, count=45, few=few) >= 40
    check_stream(mesh, tmp_path / "mesh.hra", seed=6, frames=20, few=few)
