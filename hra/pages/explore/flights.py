"""A flight over a textured ground: the pages that each method holds in every frame, at every pool of bytes.

A step of the page's track is one frame with one pool. A recorded trace is shown in the same way: what each policy
holds along it, and what was not there when wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.domains import textures
from hra.pages.explore.packed import packed
from hra.pages.explore.textures import drawn_ground
from hra.pages.explore.track import STEPS, Number, Track, budgets_between, slider
from hra.residency import LRU, Belady, GodotRule, Log, Policy, Refusing, Streaming, Trace, UniformBias, evaluate
from hra.residency.replay.evaluation import evaluate_log

FRAMES = 24
_OURS = "hra: an allocation for every frame"
_RULES: dict[str, Policy] = {
    "LRU: the least recently used goes": LRU(),
    "refuse while full, as 3DTilesRenderer": Refusing(),
    "Godot's rule": GodotRule(),
    "the same bias for all, as engines have it": UniformBias(),
}
# Points of the page's path; frames between two of them are averaged.
_POINTS = 120
_TRACE_RULES: dict[str, Policy] = {
    "hra: parents first, by gain per byte": Streaming(),
    "LRU: the least recently used goes": LRU(),
    "refuse while full, as 3DTilesRenderer": Refusing(),
    "Godot's rule": GodotRule(),
    "Belady: knows the whole path": Belady(),
}


def trace_view(trace: Trace, budget: int) -> dict[str, Any]:
    """What a page needs to show what policies hold along a trace.

    Parameters
    ----------
    budget : bytes where the slider begins, one of its steps.
    """
    pools = pools_of(trace, budget)
    starts = points(len(trace))
    wanted = _means([trace.cost[trace.frame(frame)].sum() for frame in range(len(trace))], starts)
    tracks = [
        path_track(name, pools, [held_along(policy, trace, pool, starts) for pool in pools])
        for name, policy in _TRACE_RULES.items()
    ]
    return {
        "kind": "trace",
        "name": "trace",
        "bound": "",
        **path_slider(pools, budget, starts.size, "bytes that a frame wanted and that were not there, mean"),
        "wanted": packed(wanted),
        "tracks": tracks,
    }


def points(frames: int) -> np.ndarray:
    """The frames at which at most 120 points of a path begin, int64 [S]."""
    return np.unique(np.linspace(0, frames, min(frames, _POINTS), endpoint=False).astype(np.int64))


def held_along(policy: Policy, trace: Trace, pool: float, starts: np.ndarray) -> Held:
    """What ``policy`` holds at each point of the path, mean bytes of its frames."""
    result = evaluate(policy, trace, int(pool))
    numbers = (result.resident_bytes, result.loaded_bytes, result.missing_bytes)
    held, loaded, missing = (_means(values, starts) for values in numbers)
    return Held(held, loaded, missing, np.full(starts.size, np.nan))


def _means(values: Any, starts: np.ndarray) -> np.ndarray:
    """The mean of the frames from each start to the next, float64 [S]."""
    sums = np.add.reduceat(np.asarray(values, np.float64), starts)
    return sums / np.diff([*starts, len(values)])


@dataclass(frozen=True, eq=False)
class Held:
    """What one method holds along F frames with one pool.

    Attributes
    ----------
    held, loaded : int64 [F], bytes at the end of each frame, and those that it loaded.
    error : float64 [F], what is left of each frame's error; ``least`` as `Track` has it.
    cuts : int64 [K] each, what each frame draws; empty where nothing is drawn.
    """

    held: np.ndarray
    loaded: np.ndarray
    error: np.ndarray
    least: np.ndarray
    cuts: Sequence[np.ndarray] = ()


def path_track(name: str, pools: np.ndarray, rows: Sequence[Held], number: Number = np.asarray) -> dict[str, Any]:
    """One method's answers at P pools [P] as the page reads them, pool by pool, each frame by frame."""
    frames = rows[0].held.size
    held, error, least = (
        np.concatenate([getattr(row, part) for row in rows], dtype=float) for part in ("held", "error", "least")
    )
    loaded = np.concatenate([row.loaded for row in rows]).astype(np.float32)
    cuts = [cut for row in rows for cut in row.cuts]
    track = Track(name, np.repeat(pools, frames), held, error, least, cuts, {"loaded": packed(loaded)})
    return track.record(number)


def path_slider(pools: np.ndarray, start: float, frames: int, error: str) -> dict[str, Any]:
    """What a view along a path says of its two sliders, see `slider`; the second begins in the middle."""
    return {**slider(pools, start, "bytes", error), "pools": packed(pools), "frames": frames}


def pools_of(trace: Trace, start: float) -> np.ndarray:
    """Pools from little more than what is always there to all that is ever wanted, float64 [P]."""
    fixed = np.zeros(0) if trace.parents is None else trace.cost[trace.parents < 0]
    wanted = trace.cost[np.unique(trace.demands)]
    least = fixed.sum() + 2 * wanted.max(initial=1)
    return budgets_between(least, max(least, wanted.sum() + fixed.sum()), STEPS, (start,))


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
        loaded = evaluate_log(name, log, self.trace, int(pool)).loaded_bytes
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
