"""``hra texture replay`` of an image: a flight over it, and what every policy loads and shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hra.cli.output import running, show, size, write_json
from hra.cli.texture_replay import ReplayOptions
from hra.cli.texture_verdicts import Judged, JudgedViews, show_judged, sizes, write_picture

if TYPE_CHECKING:
    import numpy as np

    from hra.camera import Camera
    from hra.domains.textures import Feedback, ResidencyTrace, Scene
    from hra.residency import Log, Trace

_OURS = "allocation"


@dataclass(frozen=True, eq=False)
class Flight:
    """A scene, the cameras of all frames and what each of them wants."""

    scene: Scene
    cameras: Sequence[Camera]
    feedback: Sequence[Feedback]

    @classmethod
    def over(cls, image: Path, options: ReplayOptions) -> Flight:
        """A flight over an image as a ground."""
        from hra.domains.textures import AnalyticFeedback, Scene, flyover

        scene = Scene.ground(image)
        cameras = flyover(scene.planes[0], options.frames, seed=options.seed, viewport=size(options.viewport))
        source = AnalyticFeedback(scene)
        return cls(scene, cameras, [source.observe(camera) for camera in cameras])

    @cached_property
    def demands(self) -> Trace:
        """The flight as a trace."""
        from hra.domains.textures import record

        return record(self.scene.textures, self.feedback)

    def replayed(self, options: ReplayOptions) -> ResidencyTrace:
        """The flight with an allocation for every frame."""
        from hra.domains.textures import AnalyticFeedback, TextureAllocator, constant_motion, replay

        allocator = TextureAllocator(self.scene.textures, AnalyticFeedback(self.scene))
        limits = {"upload_bytes": options.upload_bytes, "look_ahead": options.look_ahead}
        if options.predict:
            return replay(allocator, self.cameras, options.pool_bytes, **limits, predict=constant_motion)
        return replay(allocator, self.feedback, options.pool_bytes, **limits)

    def views(self, log: Log, least: np.ndarray, every: int) -> JudgedViews:
        """How every so many views look under a log of residency; ``least`` [F] is the least error of each, px2."""
        import numpy as np

        from hra.domains.textures import ResidentTextures, texel_residual, view_quality

        textures = self.scene.textures
        held = islice(log.residents(textures.hierarchy.node_cost.size), 0, None, every)
        drawn = [ResidentTextures.drawable(textures, items) for items in held]
        residual = [texel_residual(pages, seen) for pages, seen in zip(drawn, self.feedback[::every], strict=True)]
        pages = [np.flatnonzero(resident.active) for resident in drawn]
        quality = view_quality(self.scene, self.cameras[::every], pages, every=1)
        return JudgedViews(quality, np.array(residual), least[::every])


def fly(image: Path, options: ReplayOptions, json_file: Path | None, picture: Path | None) -> None:
    """Fly over the image, replay the flight by an allocation per frame and by policies, and show what each is worth."""
    with running("replay") as progress:
        flight = Flight.over(image, options)
        trace = flight.replayed(options)
        rows = list(_judged(flight, trace, options, progress))
    summary = {
        "frames": len(trace),
        "pool_bytes": options.pool_bytes,
        "texture_bytes": int(flight.scene.textures.hierarchy.total_cost),
        "peak_bytes": int(trace.resident_bytes.max()),
        "uploads_bytes": int(trace.uploaded_bytes.sum()),
        "gap": float(trace.gap.max()),
    }
    per_frame = {
        "resident": trace.resident_bytes,
        "uploaded": trace.uploaded_bytes,
        "queued": trace.queued,
        "residual_px2": trace.residual,
        "least_residual_px2": trace.least_residual,
    }
    judged = {"judged_frames": list(range(0, len(trace), options.every)), "policies": [row.record() for row in rows]}
    write_json(json_file, {**sizes(flight.demands, options.pool_bytes), **summary, "per_frame": per_frame, **judged})
    if picture is not None:
        write_picture(picture, rows, options.pool_bytes)
    show(image.name, summary.items())
    show_judged(f"{image.name}: {flight.demands!r}", rows)


def _judged(
    flight: Flight, trace: ResidencyTrace, options: ReplayOptions, progress: Callable[[str], None]
) -> Iterator[Judged]:
    """The allocation's replay first, then the policies."""
    from hra.residency import Belady, judge
    from hra.residency.policies import policies
    from hra.residency.verdict import judge_log

    chosen, demands = policies(options.policy, flight.demands, options.upload_bytes, options.look_ahead), flight.demands
    least = judge(Belady(), demands, options.pool_bytes)
    logs = ((policy.name, policy.run(demands, options.pool_bytes)) for policy in chosen)
    for name, log in [(_OURS, trace.log), *logs]:
        progress(name)
        views = flight.views(log, trace.least_residual, options.every)
        yield Judged(judge_log(name, log, demands, options.pool_bytes), least, views)
