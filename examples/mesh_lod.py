"""Mesh level of detail: one scanned skull, three triangle budgets and one pixel error.

Run ``python examples/mesh_lod.py [FOLDER]``; the cuts are written there as GLB, and a picture of them (default: out).
"""

import sys
from pathlib import Path

import numpy as np

import hra
from hra import samples
from hra.domains import meshes
from hra.files.images import save_png


def main(folder: Path) -> None:
    """Build the cluster hierarchy, cut it, and compare traversals at one budget."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters = meshes.build(samples.path("skull.ply"))
    print(clusters)
    camera = hra.Camera.orbit(clusters.bounds, azimuth=30, elevation=20, up=(0, 0, 1))

    allocator, pictures = meshes.MeshAllocator(clusters, traversal=hra.Exact()), []
    for budget in (2_000, 10_000, 25_000):
        allocation = allocator.allocate(camera, budget)
        print(allocation)
        allocator.realize(allocation).export(folder / f"skull_{budget}.glb")
        pictures.append(meshes.render(clusters, allocation.cut, camera, "cluster")[::2, ::2])
    save_png(folder / "skull.png", np.hstack(pictures))

    one_pixel = meshes.MeshAllocator(clusters, traversal=hra.Threshold(1.0)).allocate(camera, np.inf)
    print(f"one pixel of error takes {one_pixel.cost:,.0f} triangles")

    for traversal in (hra.Exact(), hra.Hull(), hra.BestFirst(), hra.Threshold()):
        allocation = meshes.MeshAllocator(clusters, traversal=traversal).allocate(camera, 10_000)
        print(f"{type(traversal).__name__:>10}: {allocation.residual:.4g} {allocation.problem.unit} remain")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
