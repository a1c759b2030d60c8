"""A flight over a textured ground: the pages that each method holds in every frame, at every pool of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hra.domains import textures
from hra.pages.explore.packed import packed
from hra.pages.explore.paths import Held, path_slider, path_track, pools_of
from hra.pages.explore.textures import drawn_ground
from hra.residency import LRU, GodotRule, Log, Policy, Refusing, Trace, UniformBias
from hra.residency.verdict import judge_log

FRAMES = 24
_OURS = "hra: an allocation for every frame"
_RULES: dict[str, Policy] = {
    "LRU: the least recently used goes": LRU(),
    "refuse while full, as 3DTilesRenderer": Refusing(),
    "Godot's rule": GodotRule(),
    "the same bias for all, as engines have it": UniformBias(),
}


@dataclass(frozen=True, eq=False)
class Flight:
    """A scene, the cameras of F frames, and what each of them sees."""

    scene: textures.PlaneScene
    cameras: Sequence[Any]
    seen: Sequence[textures.Feedback]

    @classmethod
    def over(cls, image: Any, frames: int = FRAMES) -> Flight:
        """A flight over an image, as `hra.domains.textures.PlaneScene.ground` takes it."""
        scene = textures.PlaneScene.ground(image)
        cameras = textures.flyover(scene.planes[0], frames, viewport=(960, 540))
        source = textures.AnalyticFeedback(scene)
        return cls(scene, cameras, [source.observe(camera) for camera in cameras])

    @cached_property
    def trace(self) -> Trace:
        """What every frame wants."""
        return textures.record(self.scene.textures, self.seen)

    @cached_property
    def allocator(self) -> textures.TextureAllocator:
        """Takes what a frame has seen."""
        return textures.TextureAllocator(self.scene.textures, textures.AnalyticFeedback(self.scene))

    def allocated(self, pool: float) -> Held:
        """An allocation for every frame, followed by a streamer; no choice of pages leaves less than ``least``."""
        made = textures.replay(self.allocator, self.seen, pool)
        return self._held(_OURS, made.log, pool, made.least_residual)

    def kept(self, policy: Policy, pool: float) -> Held:
        """What a policy holds that sees the frames' demands; mip tails are there and cost their bytes in any case."""
        tails = self._tails
        log = policy.run(self.trace, int(pool))
        if np.isin(log.events, -1 - np.flatnonzero(tails)).any():
            log = policy.run(self.trace, int(pool - self.trace.cost[tails].sum()))
        return self._held(policy.name, log, pool, np.full(len(self.seen), np.nan))

    @cached_property
    def _tails(self) -> np.ndarray:
        return self.scene.textures.hierarchy.added_by < 0

    def _held(self, name: str, log: Log, pool: float, least: np.ndarray) -> Held:
        loaded = judge_log(name, log, self.trace, int(pool)).loaded_bytes
        there = [items | self._tails for items in log.residents(self._tails.size)]
        drawn = [textures.ResidentTextures.drawable(self.scene.textures, items) for items in there]
        pairs = zip(drawn, self.seen, strict=True)
        error = np.array([textures.texel_residual(pages, seen) for pages, seen in pairs])
        held = np.array([self.trace.cost[items].sum() for items in there])
        return Held(held, loaded, error, least, [pages.pages for pages in drawn])


def flight_view(image: Any, budget: int, frames: int = FRAMES) -> dict[str, Any]:
    """What a page needs to show a flight over an image at every pool, and what each method holds on the way.

    Parameters
    ----------
    budget : bytes where the slider begins, one of its steps.
    """
    flight = Flight.over(image, frames)
    pools = pools_of(flight.trace, budget)
    rows = {_OURS: [flight.allocated(pool) for pool in pools]}
    rows |= {name: [flight.kept(policy, pool) for pool in pools] for name, policy in _RULES.items()}
    cuts = [cut for made in rows.values() for row in made for cut in row.cuts]
    ground, number = drawn_ground(flight.scene, flight.cameras[0], cuts)
    matrices = [(camera.projection @ camera.view).T.ravel() for camera in flight.cameras]
    return {
        **ground,
        **path_slider(pools, budget, frames, "error in px2, mean of the flight"),
        "kind": "flight",
        "name": "flight",
        "bound": "no choice of pages within the pool goes below",
        "matrices": packed(np.concatenate(matrices).astype(np.float32)),
        "tracks": [path_track(name, pools, made, number) for name, made in rows.items()],
    }
