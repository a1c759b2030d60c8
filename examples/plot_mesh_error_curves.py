"""Error against triangles: clusters cut to a budget, clusters cut by a threshold, and a chain of separate meshes.

Run ``python examples/plot_mesh_error_curves.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes

BUDGETS = np.geomspace(350, 30_000, 10)


def pixel_errors(points, surface, camera):
    """How far the surface is from points of the source, in pixels."""
    distance = meshes.nearest_distances(points, surface.positions, surface.triangles)
    return distance * camera.pixels_per_unit(points, np.zeros(len(points)))


if __name__ == "__main__":
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    source = meshes.load(samples.path("skull.ply"))
    clusters, chain = meshes.build(source), meshes.build_discrete(source)
    size = np.ptp(source.bounds, axis=0).max()
    cameras = {
        "all in view": hra.Camera.orbit(source.bounds, azimuth=30),
        "close up": hra.Camera.orbit(source.bounds, azimuth=30, distance=0.75 * size),
    }
    points = meshes.surface_points(source, 3000, np.random.default_rng(0))
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    for axes, (view, camera) in zip(figure.subplots(1, 2), cameras.items(), strict=True):
        inside = points[camera.spheres_visible(points, np.zeros(len(points)))]
        drawn = {}
        for name, traversal in (("clusters, budget", hra.Hull()), ("clusters, threshold", hra.Threshold())):
            allocator = meshes.MeshAllocator(clusters, traversal=traversal)
            drawn[name] = [allocator.realize(allocator.allocate(camera, budget)) for budget in BUDGETS]
        drawn["discrete chain"] = [chain.levels[chain.by_budget(budget)] for budget in BUDGETS]
        for name, surfaces in drawn.items():
            errors = [np.sqrt(np.square(pixel_errors(inside, surface, camera)).mean()) for surface in surfaces]
            axes.loglog(BUDGETS, errors, marker="o", label=name)
            print(f"{view}, {name}: {errors[3]:.3g} px at {BUDGETS[3]:,.0f}, {errors[6]:.3g} px at {BUDGETS[6]:,.0f}")
        axes.set(title=view, xlabel="triangle budget", ylabel="root mean square distance, pixels")
        axes.legend()
    figure.savefig(folder / "mesh_error_curves.png", dpi=90)
