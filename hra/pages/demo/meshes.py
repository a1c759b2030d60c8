"""Demonstration of meshes: a scanned skull as a cluster DAG, cut to a triangle budget and to a pixel error."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hra import samples
from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.compiling import Stopwatch
from hra.domains import meshes
from hra.pages.demo.pictures import curves, distinct_colours, draw_mesh, title_size
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold

BUDGET = 10_000
PIXEL_ERROR = 1.0


def run() -> tuple[dict[str, Any], dict[str, Figure]]:
    """The figures of the report's mesh section and its pictures by name."""
    watch = Stopwatch()
    clusters = meshes.build(samples.path("skull.ply"))
    build_s = watch.wall
    camera = _camera(clusters.bounds)
    budgeted = meshes.MeshAllocator(clusters, traversal=Exact()).allocate(camera, BUDGET)
    by_pixels = meshes.MeshAllocator(clusters, traversal=Threshold(PIXEL_ERROR)).allocate(camera, np.inf)
    record = {
        "source_triangles": int(clusters.hierarchy.total_cost),
        "clusters": clusters.hierarchy.node_cost.size,
        "levels": int(clusters.hierarchy.attribute("level").max()) + 1,
        "budget": BUDGET,
        "triangles": int(budgeted.cost),
        "gap": budgeted.gap,
        "residual_gap": budgeted.residual_gap,
        "pixel_error_px": PIXEL_ERROR,
        "pixel_triangles": int(by_pixels.cost),
        "build_s": build_s,
    }
    pictures = {"mesh_clusters": _clusters(clusters, camera, budgeted), "mesh_error": _error_curves(clusters, camera)}
    return record, pictures


def _camera(bounds: np.ndarray) -> Camera:
    """The skull lies along x with z up; close enough to fill the picture."""
    length = float(np.linalg.norm(bounds[1] - bounds[0]))
    return Camera.orbit(bounds, azimuth=30, elevation=20, distance=0.7 * length, up=(0, 0, 1), viewport=(1280, 860))


def _clusters(clusters: meshes.ClusterMesh, camera: Camera, budgeted: Allocation) -> Figure:
    """Source and budget cut, every cluster in a colour of its own."""
    full = meshes.MeshAllocator(clusters).allocate(camera, np.inf)
    figure = Figure(figsize=(11, 4.0), layout="constrained")
    colours = distinct_colours(clusters.hierarchy.node_cost.size)
    for axes, allocation in zip(figure.subplots(1, 2), (full, budgeted), strict=True):
        triangles = clusters.triangles(allocation.cut)
        cluster = np.repeat(allocation.cut, clusters.triangles_per_cluster[allocation.cut])
        draw_mesh(axes, clusters.positions, triangles, colours[cluster], camera)
        axes.set_title(f"{len(triangles):,} triangles,\n{allocation.cut.size} clusters", fontsize=title_size(11))
    return figure


def _error_curves(clusters: meshes.ClusterMesh, camera: Camera) -> Figure:
    """How much more error each rule leaves than the bound allows, against the budget."""
    hierarchy = clusters.hierarchy
    budgets = np.geomspace(max(hierarchy.base_cost, hierarchy.total_cost / 50), 0.95 * hierarchy.total_cost, 24)
    rules: dict[str, Traversal] = {"hull": Hull(), "best first": BestFirst(), "pixel threshold": Threshold()}
    lines = {}
    for name, traversal in rules.items():
        allocator = meshes.MeshAllocator(clusters, traversal=traversal)
        lines[name] = (budgets, [100 * allocator.allocate(camera, budget).residual_gap for budget in budgets])
    return curves(lines, "budget in triangles", "error above the least possible, %", log=True)
