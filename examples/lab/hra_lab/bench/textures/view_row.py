"""Row: how views look with a pool, allocated by two metrics and by a uniform mip bias."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.textures import (
    AnalyticFeedback,
    DetailError,
    Feedback,
    PlaneScene,
    ResidentTextures,
    TexelError,
    TextureAllocator,
    flyover,
    uniform_bias,
    view_quality,
)
from hra_lab.bench.suite import Scale
from hra_lab.bench.textures.scenes import earth_scene

_POOL_PART = 1 / 22  # of the texture's bytes: 2 MiB of the Earth map's 43.7
Chooser = Callable[[Feedback, float], ResidentTextures]


@dataclass(frozen=True)
class ViewBenchmark:
    """Mean PSNR and FLIP of the frames of a flight against full residency."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; seconds are those of one allocation by texel error, and of choosing one bias."""
        scene, frames, viewport = (earth_scene(), 12, (960, 540)) if scale == "full" else (earth_scene(8), 2, (48, 27))
        cameras, source = flyover(scene.planes[0], frames, viewport=viewport), AnalyticFeedback(scene)
        feedback = [source.observe(camera) for camera in cameras]
        budget = scene.textures.hierarchy.base_cost + _POOL_PART * scene.textures.hierarchy.total_cost
        results, seconds = {}, {}
        for name, choose in _choosers(scene).items():
            begin = time.perf_counter()
            resident = [choose(seen, budget).active for seen in feedback]
            seconds[name] = (time.perf_counter() - begin) / frames
            quality = view_quality(scene, cameras, [np.flatnonzero(active) for active in resident], every=1)
            results[f"{name} dB"] = quality.mean_psnr
            results[f"{name} FLIP"] = float(quality.flip.mean())
        ours, peer = seconds["texel error"], seconds["uniform bias"]
        return {
            "name": self.name,
            "n": frames,
            "ours_s": ours,
            "peer": "uniform bias",
            "peer_s": peer,
            "ratio": peer / ours,
            "results": results,
        }


def _choosers(scene: PlaneScene) -> dict[str, Chooser]:
    """Ways to choose the resident pages, by name."""

    def by(metric: Any) -> Chooser:
        allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene), metric)
        return lambda feedback, budget: allocator.realize(allocator.allocate(feedback, budget))

    return {
        "texel error": by(TexelError()),
        "detail error": by(DetailError.of(scene.textures)),
        "uniform bias": lambda feedback, budget: uniform_bias(scene.textures, feedback, budget),
    }
