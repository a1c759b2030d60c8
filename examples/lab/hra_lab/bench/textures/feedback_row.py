"""Row: the feedback of a view by ray casting, from the pages' outlines, and drawn by OpenGL."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from hra.domains.textures import (
    AnalyticFeedback,
    BoundsFeedback,
    Feedback,
    FeedbackSource,
    PlaneScene,
    TexelError,
    flyover,
)
from hra.domains.textures.feedback.gl import GLFeedback
from hra.errors import BackendUnavailable, MissingExtra
from hra_lab.bench.harness import Case, Contender, Gaps, measure
from hra_lab.bench.suite import Scale
from hra_lab.bench.textures.scenes import earth_scene
from hra_lab.bench.textures.timed_row import row_of

_PEER = "OpenGL"


@dataclass(frozen=True)
class FeedbackBenchmark:
    """Sources of feedback in turns on the same cameras, each judged by the texel error of the mip tails."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; ``*_error`` is the relative difference of the summed texel errors from those of every pixel."""
        scene, viewport = (earth_scene(), (1920, 1080)) if scale == "full" else (earth_scene(8), (96, 54))
        sources: dict[str, FeedbackSource] = {"hra": AnalyticFeedback(scene), "outlines": BoundsFeedback(scene)}
        absent = {}
        with ExitStack() as stack:
            try:
                sources[_PEER] = stack.enter_context(GLFeedback(scene))
            except (BackendUnavailable, MissingExtra) as error:
                absent[_PEER] = error.what
            return self._row(scene, viewport, sources, repeat, absent)

    def _row(
        self, scene: PlaneScene, viewport: tuple[int, int], sources: dict[str, FeedbackSource], repeat: int, absent: Any
    ) -> dict[str, Any]:
        cameras = flyover(scene.planes[0], repeat + 1, viewport=viewport)
        exact = AnalyticFeedback(scene, stride=1)
        errors: dict[str, float] = dict.fromkeys(sources, 0.0)

        def judge(camera: Any, outputs: Any) -> dict[str, Gaps]:
            reference = _whole_error(scene, exact.observe(camera))
            for name, feedback in outputs.items():
                difference = abs(_whole_error(scene, feedback) - reference) / max(reference, 1e-300)
                errors[name] = max(errors[name], difference)
            return {}

        contenders = tuple(Contender(name, source.observe) for name, source in sources.items())
        case = Case(contenders, lambda number: cameras[number], judge, viewport[0] * viewport[1], 0)
        clocks = measure(case, repeat)
        row = row_of(self.name, case.size, clocks, _PEER, {f"{name} error": error for name, error in errors.items()})
        return row | {"absent": absent}


def _whole_error(scene: PlaneScene, feedback: Feedback) -> float:
    """Texel error with nothing but the mip tails, px2."""
    hierarchy = scene.textures.hierarchy
    return float(TexelError().evaluate(hierarchy, feedback)[hierarchy.added_by < 0].sum())
