"""Demonstration of textures: an Earth map streamed along a flight, within a pool of bytes in every frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hra import samples
from hra.camera import Camera
from hra.domains import textures
from hra.files.images import psnr
from hra.pages.demo.pictures import PALETTE, images

POOL_BYTES = 3 * 2**20
FRAMES = 60
VIEWPORT = (960, 540)


def run() -> tuple[dict[str, Any], dict[str, Figure]]:
    """The figures of the report's texture section and its pictures by name."""
    scene = textures.PlaneScene.ground(samples.path("earth.jpg"), width=100.0)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    cameras = textures.flyover(scene.planes[0], FRAMES, viewport=VIEWPORT)
    trace = textures.replay(allocator, cameras, POOL_BYTES)
    record = {
        "frames": len(trace),
        "pool_bytes": POOL_BYTES,
        "texture_bytes": int(scene.textures.hierarchy.total_cost),
        "peak_bytes": int(trace.resident_bytes.max()),
        "gap": float(trace.gap.max()),
        "uploads_bytes": int(trace.uploaded_bytes.sum()),
    }
    views = _views(scene, allocator, cameras[int(trace.residual.argmax())])
    return record, {"texture_residency": _residency(trace), "texture_views": views}


def _residency(trace: textures.ResidencyTrace) -> Figure:
    """Resident and uploaded bytes per frame under the line of the pool."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots()
    frame = np.arange(len(trace))
    axes.fill_between(frame, trace.resident_bytes / 2**20, color=PALETTE[5], alpha=0.5, label="resident")
    axes.bar(frame, trace.uploaded_bytes / 2**20, color=PALETTE[1], label="uploaded in this frame")
    axes.axhline(trace.pool_bytes / 2**20, color="black", linestyle="--", label="pool")
    axes.set(xlabel="frame", ylabel="MiB", ylim=(0, 1.25 * trace.pool_bytes / 2**20), xlim=(-0.5, len(trace) - 0.5))
    axes.legend(loc="upper right", ncols=3)
    return figure


def _views(scene: textures.PlaneScene, allocator: textures.TextureAllocator, camera: Camera) -> Figure:
    """The frame that misses most: with the pool, with everything resident, and the map of resident levels."""
    pooled = allocator.realize(allocator.allocate(camera, POOL_BYTES))
    full = allocator.realize(allocator.allocate(camera, np.inf))
    seen, reference = textures.render(scene, pooled, camera), textures.render(scene, full, camera)
    levels = pooled.level_map(0).astype(float)
    shade = 1 - levels / max(levels.max(), 1)
    title = f"pool: {psnr(seen, reference):.1f} dB against all resident"
    panels = [(title, seen), ("everything wanted resident", reference), ("resident level, finest bright", _grey(shade))]
    return images(panels, columns=3, width=4)


def _grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[..., None], 3, axis=2)
