"""Texture streaming: a flight over a 4096 x 2048 Earth map with a pool that never overflows.

Run ``python examples/texture_streaming.py [FOLDER]``; the pictures are written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np

from hra import samples
from hra.domains import textures
from hra.files.images import psnr, save_png


def main(folder: Path) -> None:
    """Replay one flight with three pools and show what each pool costs in quality and uploads."""
    scene = textures.PlaneScene.ground(samples.path("earth.jpg"), width=100.0)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    cameras = textures.flyover(scene.planes[0], frames=40, viewport=(960, 540))

    print(f"the whole texture takes {scene.textures.hierarchy.total_cost / 2**20:.1f} MiB")
    for mebibytes in (2, 6, 12):
        trace = textures.replay(allocator, cameras, mebibytes * 2**20)
        print(f"{trace}; mean residual {trace.residual.mean():.3f} px2, worst gap {100 * trace.gap.max():.2g} %")

    camera = cameras[25]
    pooled = allocator.realize(allocator.allocate(camera, 2 * 2**20))
    full = allocator.realize(allocator.allocate(camera, np.inf))
    shown, whole = (textures.render(scene, texels, camera) for texels in (pooled, full))
    decibels = psnr(shown, whole)
    folder.mkdir(parents=True, exist_ok=True)
    save_png(folder / "frame_25.png", np.hstack([shown, whole]))
    print(f"frame 25 with 2 MiB: {decibels:.1f} dB against everything resident")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
