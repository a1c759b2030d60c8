"""One byte budget for geometry and texture: the split follows from one price per byte, not from a guess.

Run ``python examples/shared_budget.py``.
"""

import numpy as np

import hra
from hra import samples
from hra.domains import meshes, textures
from hra.images import load_image


def main() -> None:
    """Show how a skull above an Earth map shares a pool, and what fixed halves would lose."""
    clusters = meshes.build(samples.path("skull.ply")).with_cost("bytes")
    image = np.round(load_image(samples.path("earth.jpg")) * 255).astype(np.uint8)
    scene = textures.Scene([textures.TexturedPlane.ground(textures.TiledTexture.from_image(image), width=2.0)])
    geometry = meshes.MeshAllocator(clusters)
    texture = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    camera = hra.Camera.orbit(clusters.bounds, azimuth=30, elevation=15, up=(0, 0, 1), viewport=(1280, 720))

    for mebibytes in (0.75, 1, 2, 4):
        budget = mebibytes * 2**20
        pooled = hra.pool(geometry, texture).allocate((camera, camera), budget)
        halves = [allocator.allocate(camera, budget / 2) for allocator in (geometry, texture)]
        mesh_share = pooled.members[0].cost / pooled.whole.cost
        print(
            f"{mebibytes:>5} MiB: mesh takes {100 * mesh_share:.0f} %, residual {pooled.whole.residual:.4g} px2 "
            f"(fixed halves: {sum(half.residual for half in halves):.4g} px2)"
        )


if __name__ == "__main__":
    main()
