"""Demonstration of a shared pool: one byte budget for the skull's geometry and the ground's texture in one view."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.camera import Camera
from hra.domains import meshes, textures
from hra.pages.demo.pictures import curves
from hra.pooling.pool import Pool

BUDGET_BYTES = 2**20


def run() -> tuple[dict[str, Any], dict[str, Figure]]:
    """The figures of the report's pool section and its picture: how the split moves with the budget."""
    clusters = meshes.build(samples.path("skull.ply")).with_cost("bytes")
    camera = Camera.orbit(clusters.bounds, azimuth=30, elevation=15, up=(0, 0, 1), viewport=(1280, 720))
    scene = _ground(clusters.bounds)
    pool = hra.pool(
        meshes.MeshAllocator(clusters), textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    )
    allocation = pool.allocate((camera, camera), BUDGET_BYTES)
    mesh, texture = allocation.members
    record = {
        "budget_bytes": BUDGET_BYTES,
        "mesh_bytes": int(mesh.cost),
        "texture_bytes": int(texture.cost),
        "gap": allocation.whole.gap,
    }
    return record, {"pool_split": _split(pool, camera)}


def _ground(bounds: np.ndarray) -> textures.PlaneScene:
    """The Earth map as a floor under the mesh, whose z axis points up, ten times as wide as the mesh."""
    texture = textures.PlaneScene.ground(samples.path("earth.jpg"), width=1.0).planes[0].texture
    width = 10 * float((bounds[1] - bounds[0]).max())
    centre = bounds.mean(axis=0)
    origin = np.array([centre[0] - width / 2, centre[1] + width / 4, bounds[0, 2]])
    plane = textures.TexturedPlane(texture, origin, np.array([width, 0, 0]), np.array([0, -width / 2, 0]))
    return textures.PlaneScene([plane])


def _split(pool: Pool, camera: Camera) -> Figure:
    budgets = np.geomspace(2**19, 2**25, 13)
    members = [pool.allocate((camera, camera), budget).members for budget in budgets]
    lines = {
        name: (budgets / 2**20, [pair[i].cost / 2**20 for pair in members])
        for i, name in enumerate(("mesh", "texture"))
    }
    return curves(lines, "pool in MiB", "share in MiB", log=True)
