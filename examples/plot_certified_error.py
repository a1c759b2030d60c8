"""Certified error: what a cut promises of every point of the surface, beside what samples measure.

Run ``python examples/plot_certified_error.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes

PIXELS = (0.25, 0.5, 1, 2, 4)


def main(folder: Path) -> None:
    """Promise, sampled distance and simplifier's estimate of five cuts; where the error of one is."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters = meshes.build(samples.path("skull.ply"))
    source = meshes.load(samples.path("skull.ply"))
    size = np.ptp(clusters.bounds, axis=0).max()
    view = {"azimuth": 35, "elevation": 15, "up": (0, 0, 1), "viewport": (960, 660)}
    camera = hra.Camera.orbit(clusters.bounds, distance=0.95 * size, **view)
    points, rows = meshes.surface_points(source, 20_000, np.random.default_rng(0)), []
    for pixels in PIXELS:
        allocation = meshes.MeshAllocator(clusters, traversal=hra.Threshold(pixels)).allocate(camera, np.inf)
        mesh = clusters.mesh(allocation.cut)
        bound = float(clusters.hierarchy.attribute("hausdorff")[allocation.cut].max())
        estimate = float(clusters.hierarchy.attribute("error")[allocation.cut].max())
        sampled = float(meshes.nearest_distances(points, mesh.positions, mesh.triangles).max())
        rows.append((allocation.cost, bound, sampled, estimate))
        promise = f"at most {1000 * bound:.3f} mm promised, {1000 * sampled:.3f} mm found"
        print(f"{pixels} px: {allocation.cost:,.0f} triangles, {promise}")
    count, *curves = np.array(rows).T
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for curve, label in zip(curves, ("certified bound", "largest of 20,000 samples", "quadric estimate"), strict=True):
        left.plot(count, 1000 * curve, "o-", label=label)
    left.set(xscale="log", yscale="log", xlabel="triangles of the cut", ylabel="distance from the source, mm")
    left.legend()
    best = meshes.MeshAllocator(clusters).allocate(camera, count[-1])
    right.imshow(meshes.render(clusters, best.cut, camera, "error"))
    right.set_title(f"where the least error of {best.cost:,.0f} triangles is")
    right.axis("off")
    figure.savefig(folder / "certified_error.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
