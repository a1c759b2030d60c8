"""What a pool of bytes shows: allocations by two metrics, and a uniform mip bias.

Run ``python examples/plot_texture_views.py [FOLDER]``; the pictures are written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from hra import samples
from hra.domains import textures
from hra.files.images import flip_map, psnr

POOL, LEVELS = 2**20, {"cmap": "viridis_r", "vmin": 0, "vmax": 5}


def panel(axes, title, image, **options):
    """An image [H, W] or [H, W, 3] without ticks."""
    axes.imshow(image, **options)
    axes.set_title(title, fontsize=9)
    axes.axis("off")


if __name__ == "__main__":
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    scene = textures.PlaneScene.ground(samples.path("earth.jpg"))
    source = textures.AnalyticFeedback(scene)
    cameras = textures.flyover(scene.planes[0], frames=40, viewport=(960, 540))
    by_texel = textures.TextureAllocator(scene.textures, source)
    by_detail = textures.TextureAllocator(scene.textures, source, textures.DetailError.of(scene.textures))
    trace = textures.replay(by_texel, cameras, POOL)
    camera = cameras[int(trace.residual.argmax())]
    reference = textures.render(scene, everything := by_texel.realize(by_texel.allocate(camera, np.inf)), camera)
    shown = {
        "by texel error": by_texel.realize(by_texel.allocate(camera, POOL)),
        "by detail error": by_detail.realize(by_detail.allocate(camera, POOL)),
        "uniform mip bias": textures.uniform_bias(scene.textures, source.observe(camera), POOL),
    }
    figure = Figure(figsize=(15, 8), layout="constrained")
    (first, time, wanted), *columns = figure.subplots(3, 4).T
    panel(first, f"frame {cameras.index(camera)}, everything wanted resident", np.clip(reference, 0, 1))
    panel(wanted, f"level, {everything.bytes:,} bytes", everything.level_map(), **LEVELS)
    time.plot(trace.resident_bytes / 2**20, label="resident, by texel error")
    time.plot(trace.uploaded_bytes / 2**20, label="uploaded")
    time.axhline(POOL / 2**20, color="black", linestyle="--", label="pool")
    time.set(xlabel="frame", ylabel="MiB")
    time.legend()
    for (view_axes, flip_axes, level_axes), (name, resident) in zip(columns, shown.items(), strict=True):
        view = textures.render(scene, resident, camera)
        difference = flip_map(view, reference)
        print(title := f"{name}: {psnr(view, reference):.1f} dB, FLIP {difference.mean():.4f}")
        panel(view_axes, title, np.clip(view, 0, 1))
        panel(flip_axes, "FLIP", difference, cmap="magma", vmin=0, vmax=0.5)
        panel(level_axes, f"level, {resident.bytes:,} bytes", resident.level_map(), **LEVELS)
    figure.colorbar(columns[-1][1].images[0], ax=columns[-1][1], label="FLIP", shrink=0.8)
    figure.colorbar(columns[-1][2].images[0], ax=columns[-1][2], label="finest resident level", shrink=0.8)
    figure.savefig(folder / "texture_views.png", dpi=90)
