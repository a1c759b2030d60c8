"""Row: a frame of placed copies under a budget, from the camera to the picture, part by part."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.domains.meshes.scene.placements import instances_seen
from hra_lab.bench.meshes.instances_row import Field
from hra_lab.bench.suite import Scale

NEEDS = ("meshoptimizer:simplify", "moderngl:create_context")
VIEWPORT = (320, 180)
_EACH, _STEP, _SMALL = 500, 0.0002, 4


@dataclass(frozen=True)
class FrameBenchmark:
    """Copies of the skull on a field, of which the camera sees a tenth: the next frame of a sequence.

    Parameters
    ----------
    copies : how many stand there.
    """

    name: str
    copies: int
    needs: tuple[str, ...] = NEEDS

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Medians of seconds by the clock; ``ours_s`` is their sum without the first frame's upload."""
        field = Field.of(self.copies if scale == "full" else min(self.copies, _SMALL))
        with Frames(field) as frames:
            first = time.perf_counter()
            frames.next()
            first = time.perf_counter() - first
            parts = [frames.next() for _ in range(repeat + 1)][1:]
            facts, uploaded = frames.facts, frames.uploaded
            driver = frames.renderer.driver
        seconds = {name: statistics.median(part[name] for part in parts) for name in parts[0]}
        return {
            "name": self.name,
            "n": len(field.scene),
            "in_view": frames.seen,
            "driver": driver,
            "first_frame_s": first,
            "ours_s": sum(seconds.values()),
            "parts": seconds,
            "uploaded_bytes": uploaded,
            "triangles": facts.triangles,
            "in_frustum": facts.in_frustum,
            "visible": facts.visible,
            "drawn": facts.drawn,
            **dict.fromkeys(("peer", "peer_s")),
        }


class Frames:
    """A sequence of frames over a field: chosen, told to the GPU, culled, drawn, shaded."""

    def __init__(self, field: Field) -> None:
        self._field, self._number = field, 0
        self._last: meshes.SceneAllocation | None = None
        self.renderer = meshes.Renderer(field.scene, VIEWPORT)
        self.seen, self.uploaded = 0, 0
        self.facts: Any = None

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, *error: object) -> None:
        self.renderer.close()

    def next(self) -> dict[str, float]:
        """One frame; seconds of its parts."""
        camera = camera_of(self._field, _STEP * self._number)
        self._number += 1
        in_view = int(np.count_nonzero(instances_seen(self._field.scene.copies, (meshes.View(camera),))))
        budget = _EACH * max(in_view, 1)
        chosen, allocation = _timed(lambda: self._field.scene.allocate(camera, budget, previous=self._last))
        cut, _ = _timed(lambda: allocation.cuts)
        self._last = allocation
        before = self.renderer.uploaded_bytes
        whole, self.facts = _timed(lambda: self.renderer.draw(camera, allocation, timed=True))
        shade, _ = _timed(lambda: self.renderer.picture("cluster"))
        self.uploaded, self.seen = self.renderer.uploaded_bytes - before, int(np.count_nonzero(allocation.drawn))
        steps = self.facts.seconds
        return {
            "choose": chosen,
            "list_cuts": cut,
            "compact_and_upload": whole - sum(steps.values()),
            "place": steps["place"],
            "first_pass": steps.get("first", 0.0),
            "pyramid": steps.get("pyramid", 0.0),
            "second_pass": steps.get("second", 0.0),
            "shade": shade,
        }


def camera_of(field: Field, moved: float) -> Camera:
    """The field's camera that sees a tenth of many copies; of few ones it sees all."""
    near = field.camera(0.1 if len(field.scene) > 1000 else 1.0, moved)
    return Camera.from_matrices(near.view, _aspect(near.projection, near.viewport), VIEWPORT)


def _aspect(projection: np.ndarray, viewport: tuple[int, int]) -> np.ndarray:
    result = projection.copy()
    result[0] *= (viewport[0] / viewport[1]) / (VIEWPORT[0] / VIEWPORT[1])
    return result


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result
