"""``hra texture replay`` of an image: a flight over it, and what every policy loads and shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hra.caching import cached_property
from hra.console import choose_metric, choose_traversal, running, show, write_json
from hra.domains.textures.commands.replaying import PolicyRow, PolicyViews, show_rows, sizes, write_picture

if TYPE_CHECKING:
    import numpy as np

    from hra.camera import Camera
    from hra.domains.textures import Feedback, PlaneScene, ResidencyTrace
    from hra.domains.textures.views.quality import ViewJudge
    from hra.residency import Log, Trace

_OURS = "allocation"


@dataclass(frozen=True)
class FlightOptions:
    """What is flown and how it is replayed; sizes in bytes.

    Attributes
    ----------
    predict : the path ahead is guessed from the last step instead of known.
    policy : names as `hra.residency.replay.policies` has them.
    every : frames from one view that is compared to the next.
    flip : views are rated by FLIP, too.
    metric, traversal : of the allocations, by name.
    """

    pool: int
    upload: int | None
    look_ahead: int
    predict: bool
    policy: str
    frames: int
    seed: int
    viewport: tuple[int, int]
    every: int
    flip: bool = False
    metric: str | None = None
    traversal: str | None = None


@dataclass(frozen=True, eq=False)
class Flight:
    """A scene, the cameras of all frames and what each of them wants."""

    scene: PlaneScene
    cameras: Sequence[Camera]
    feedback: Sequence[Feedback]

    @classmethod
    def over(cls, image: Path, options: FlightOptions) -> Flight:
        """A flight over an image as a ground."""
        from hra.domains.textures import AnalyticFeedback, PlaneScene, flyover

        scene = PlaneScene.ground(image)
        cameras = flyover(scene.planes[0], options.frames, seed=options.seed, viewport=options.viewport)
        source = AnalyticFeedback(scene)
        return cls(scene, cameras, [source.observe(camera) for camera in cameras])

    @cached_property
    def demands(self) -> Trace:
        """The flight as a trace."""
        from hra.domains.textures import record

        return record(self.scene.textures, self.feedback)

    def replayed(self, options: FlightOptions) -> ResidencyTrace:
        """The flight with an allocation for every frame."""
        from hra.domains.textures import AnalyticFeedback, TextureAllocator, constant_motion, replay

        metric = choose_metric(options.metric) if options.metric else None
        traversal = choose_traversal(options.traversal) if options.traversal else None
        allocator = TextureAllocator(self.scene.textures, AnalyticFeedback(self.scene), metric, traversal)
        limits = {"upload_bytes": options.upload, "look_ahead": options.look_ahead}
        if options.predict:
            return replay(allocator, self.cameras, options.pool, **limits, predict=constant_motion)
        return replay(allocator, self.feedback, options.pool, **limits)

    @cached_property
    def least(self) -> Callable[[int, int], float]:
        """The texel error of a frame that no choice of pages of so many bytes undercuts, px2."""
        from hra.domains.textures import AnalyticFeedback, TextureAllocator

        allocator = TextureAllocator(self.scene.textures, AnalyticFeedback(self.scene))
        return cache(lambda frame, pool: allocator.allocate(self.feedback[frame], pool).least_residual)

    def views(self, log: Log, pool: int, judge: ViewJudge, every: int) -> PolicyViews:
        """How every n-th view looks under a log of residency in a pool."""
        import numpy as np

        from hra.domains.textures import ResidentTextures, texel_residual

        textures, frames = self.scene.textures, range(0, len(self.cameras), every)
        held = islice(log.residents(textures.hierarchy.node_cost.size), 0, None, every)
        drawn = [ResidentTextures.drawable(textures, items) for items in held]
        residual = [texel_residual(pages, self.feedback[frame]) for frame, pages in zip(frames, drawn, strict=True)]
        # Mip tails that a policy evicts are drawn all the same, beside a full pool.
        least = [self.least(frame, max(pool, pages.bytes)) for frame, pages in zip(frames, drawn, strict=True)]
        return PolicyViews(judge.quality(frames, drawn), np.array(residual), np.array(least))


def fly(image: Path, options: FlightOptions, json_file: Path | None, picture: Path | None) -> None:
    """Fly over the image, replay the flight by an allocation per frame and by policies, and show what each is worth."""
    with running("replay") as progress:
        flight = Flight.over(image, options)
        trace = flight.replayed(options)
        rows = list(_rows(flight, trace, options, progress))
    summary = {
        "frames": len(trace),
        "pool_bytes": options.pool,
        "texture_bytes": int(flight.scene.textures.hierarchy.total_cost),
        "peak_bytes": int(trace.resident_bytes.max()),
        "uploads_bytes": int(trace.uploaded_bytes.sum()),
        "gap": float(trace.gap.max()),
    }
    per_frame = {
        "resident": trace.resident_bytes,
        "uploaded": trace.uploaded_bytes,
        "queued": trace.queued,
        **_errors(trace, options.metric),
    }
    compared = {"judged_frames": list(range(0, len(trace), options.every)), "policies": [row.record() for row in rows]}
    write_json(json_file, {**sizes(flight.demands, options.pool), **summary, "per_frame": per_frame, **compared})
    if picture is not None:
        write_picture(picture, rows, options.pool)
    show(image.name, summary.items())
    show_rows(f"{image.name}: {flight.demands!r}", rows)


def _errors(trace: ResidencyTrace, metric: str | None) -> dict[str, np.ndarray]:
    """What remains of the error in every frame; a metric that was chosen by name has a unit of its own."""
    unit = "" if metric else "_px2"
    return {f"residual{unit}": trace.residual, f"least_residual{unit}": trace.least_residual}


def _rows(
    flight: Flight, trace: ResidencyTrace, options: FlightOptions, progress: Callable[[str], None]
) -> Iterator[PolicyRow]:
    """The allocation's replay first, then the policies."""
    from hra.domains.textures.views.quality import ViewJudge
    from hra.residency import Belady, evaluate
    from hra.residency.replay.evaluation import evaluate_log
    from hra.residency.replay.policies import policies

    chosen, demands = policies(options.policy, flight.demands, options.upload, options.look_ahead), flight.demands
    fewest = evaluate(Belady(), demands, options.pool)
    judge = ViewJudge(flight.scene, flight.cameras, options.flip)
    logs = ((policy.name, policy.run(demands, options.pool)) for policy in chosen)
    for name, log in [(_OURS, trace.log), *logs]:
        progress(f"replay: {name}")
        views = flight.views(log, options.pool, judge, options.every)
        yield PolicyRow(evaluate_log(name, log, demands, options.pool), fewest, views)
