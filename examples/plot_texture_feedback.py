"""Feedback drawn by OpenGL: what the pixels of a flight want, and what a pool of bytes holds of it over time.

Run ``python examples/plot_texture_feedback.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from hra import Eccentricity, samples
from hra.domains import textures

POOL = 3 * 2**20
VIEWPORT = (960, 540)
LEVELS = {"cmap": "viridis_r", "vmin": 0, "vmax": 5}


def level_image(feedback, stride):
    """The wanted level of every cell of the screen, NaN where nothing is seen."""
    levels = np.full((-(-VIEWPORT[1] // stride), -(-VIEWPORT[0] // stride)), np.nan)
    column, row = (feedback.position // stride).astype(int).T
    levels[row, column] = feedback.wanted_level
    return levels


if __name__ == "__main__":
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    scene = textures.PlaneScene.ground(samples.path("earth.jpg"))
    cameras = textures.flyover(scene.planes[0], frames=40, viewport=VIEWPORT)
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    (wanted, time), (plain, foveated) = figure.subplots(2, 2)
    with textures.GLFeedback(scene, stride=2) as drawn:
        trace = textures.replay(textures.TextureAllocator(scene.textures, drawn), cameras, POOL)
        camera = cameras[int(trace.residual.argmax())]
        feedback, rays = drawn.observe(camera), textures.AnalyticFeedback(scene, stride=2).observe(camera)
        gaze = textures.WeightedFeedback(drawn, Eccentricity(gaze=(240, 400), pixels_per_degree=20).areal_weight)
        for axes, source, name in ((plain, drawn, "equal pixels"), (foveated, gaze, "gaze at the lower left")):
            allocator = textures.TextureAllocator(scene.textures, source)
            resident = allocator.realize(allocator.allocate(camera, POOL / 2))
            shown = axes.imshow(resident.level_map(), **LEVELS)
            axes.set_title(f"resident levels, {name}, half the pool", fontsize=9)
            axes.axis("off")
    mean = [np.average(f.wanted_level, weights=f.pixels) for f in (feedback, rays)]
    print(f"mean wanted level: {mean[0]:.4f} drawn, {mean[1]:.4f} by rays; {trace}")
    wanted.imshow(level_image(feedback, 2), **LEVELS)
    wanted.set_title(f"wanted level, frame {cameras.index(camera)}", fontsize=9)
    wanted.axis("off")
    figure.colorbar(shown, ax=[plain, foveated], label="level", shrink=0.8)
    time.plot(trace.resident_bytes / 2**20, label="resident")
    time.plot(trace.uploaded_bytes / 2**20, label="uploaded")
    time.axhline(POOL / 2**20, color="black", linestyle="--", label="pool")
    time.set(xlabel="frame", ylabel="MiB")
    time.legend()
    figure.savefig(folder / "texture_feedback.png", dpi=90)
