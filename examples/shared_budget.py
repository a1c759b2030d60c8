"""One pool for geometry and textures: the split follows from one price per byte, not from a guess.

Run ``python examples/shared_budget.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes, textures

POOLS = 0.5, 0.6, 0.75, 0.9, 1, 1.25, 1.5  # MiB


def main() -> None:
    """Show how a skull above an Earth map shares a pool, and what fixed halves would lose."""
    clusters = meshes.build(samples.path("skull.ply")).with_cost("bytes")
    scene = textures.PlaneScene.ground(samples.path("earth.jpg"), width=2.0)
    geometry = meshes.MeshAllocator(clusters)
    texture = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    camera = hra.Camera.orbit(clusters.bounds, azimuth=30, elevation=15, up=(0, 0, 1), viewport=(1280, 720))

    rows = []
    for mebibytes in POOLS:
        budget = mebibytes * 2**20
        pooled = hra.pool(geometry, texture).allocate((camera, camera), budget)
        halves = sum(allocator.allocate(camera, budget / 2).residual for allocator in (geometry, texture))
        mesh_share = 100 * pooled.members[0].cost / pooled.whole.cost
        rows.append((mesh_share, pooled.whole.residual, halves))
        print(
            f"{mebibytes:>5} MiB: mesh takes {mesh_share:.0f} %, residual {pooled.whole.residual:.4g} px2 "
            f"(fixed halves: {halves:.4g} px2)"
        )

    shares, together, apart = np.array(rows).T
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(POOLS, apart, "o-", label="fixed halves")
    left.plot(POOLS, together, "o-", label="one pool")
    left.set(xlabel="MiB", ylabel="residual, px2", yscale="log")
    left.legend()
    right.stackplot(POOLS, shares, 100 - shares, labels=["mesh", "texture"], alpha=0.6)
    right.set(xlabel="MiB", ylabel="share of the pool, %", ylim=(0, 100))
    right.legend()
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "shared_budget.png", dpi=110)


if __name__ == "__main__":
    main()
