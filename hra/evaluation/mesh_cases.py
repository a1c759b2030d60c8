"""The demo mesh as a graph of cluster groups, seen from around."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hra import samples
from hra.camera import Camera
from hra.domains import meshes
from hra.evaluation.cases import Case
from hra.evaluation.sizes import Sizes


def mesh_cases(sizes: Sizes) -> Iterator[Case]:
    """Every view at every budget; the error is in squared pixels (see `hra.domains.meshes.ScreenError`).

    Thresholds go by the same error as budgets, so that rules are compared and not errors.
    """
    clusters = meshes.build(samples.path("skull.ply"), certified=False)
    allocator = meshes.MeshAllocator(clusters, meshes.ScreenError("quadric"))
    for azimuth in np.arange(sizes.cameras) * (360 / sizes.cameras):
        camera = Camera.orbit(clusters.bounds, azimuth=float(azimuth), elevation=20, up=(0, 0, 1))
        problem = allocator.error_metric(clusters.hierarchy, camera, np.inf)
        for share in sizes.triangles:
            budget = np.floor(share * clusters.hierarchy.total_cost)
            words = f"{100 * share:.0f} % of triangles"
            yield Case("mesh", words, f"azimuth {azimuth:.0f}", replace(problem, budget=budget))
