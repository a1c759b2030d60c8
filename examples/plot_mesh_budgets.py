"""One scan, four budgets: the cut of the skull that each buys, shaded, and coloured by the level of its clusters.

A second picture shows the clusters themselves, at full detail and in a cut.
Run ``python examples/plot_mesh_budgets.py [FOLDER]``; the pictures are written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes

BUDGETS = (40_000, 10_000, 3_000, 1_000)


def main(folder: Path) -> None:
    """The best cut within each budget, with its proof."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters = meshes.build(samples.path("skull.ply"))
    size = np.ptp(clusters.bounds, axis=0).max()
    view = {"azimuth": 35, "elevation": 15, "up": (0, 0, 1), "viewport": (640, 440)}
    camera = hra.Camera.orbit(clusters.bounds, distance=0.95 * size, **view)
    allocator = meshes.MeshAllocator(clusters, traversal=hra.Exact())
    figure = Figure(figsize=(15, 5.6), layout="constrained")
    for column, budget in zip(figure.subplots(2, len(BUDGETS)).T, BUDGETS, strict=True):
        allocation = allocator.allocate(camera, budget)
        pixels = np.sqrt(allocation.residual)
        column[0].set_title(f"{allocation.cost:,.0f} of {budget:,} triangles\n{pixels:.2g} px over the view")
        for axes, colour in zip(column, ("shaded", "level"), strict=True):
            axes.imshow(meshes.render(clusters, allocation.cut, camera, colour))
            axes.axis("off")
        print(f"{allocation.cost:,.0f} of {budget:,} triangles: {pixels:.3g} px, at most {allocation.gap:.1e} missed")
    figure.savefig(folder / "mesh_budgets.png", dpi=90)
    plot_clusters(allocator, camera, folder / "mesh_clusters.png")


def plot_clusters(allocator: meshes.MeshAllocator, camera: hra.Camera, path: Path) -> None:
    """A colour for every cluster: all of the source's, and those of a cut."""
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    for axes, budget in zip(figure.subplots(1, 2), (np.inf, 10_000), strict=True):
        allocation = allocator.allocate(camera, budget)
        axes.set_title(f"{allocation.cost:,.0f} triangles in {len(allocation.cut)} clusters")
        axes.imshow(meshes.render(allocator.cluster_mesh, allocation.cut, camera, "cluster"))
        axes.axis("off")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
