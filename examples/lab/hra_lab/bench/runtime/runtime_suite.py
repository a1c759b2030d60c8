"""All rows of the runtime suite.

Row: a walk through rooms, of which walls hide most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.camera.occlusion import Occlusion
from hra.domains import meshes
from hra_lab.bench.runtime.frame_row import NEEDS, VIEWPORT, FrameBenchmark
from hra_lab.bench.runtime.peers_row import PeersBenchmark
from hra_lab.bench.suite import Row, Scale
from hra_lab.evaluation.meshes.frame_judge import judge_frame
from hra_lab.inputs.rooms import interior

_BUDGET = 200_000


@dataclass(frozen=True)
class InteriorBenchmark:
    """What two-pass occlusion culling saves there, and whether it culls what is seen."""

    name: str
    needs: tuple[str, ...] = NEEDS

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Sums over the frames of a walk.

        ``hidden_visible`` counts visible clusters that were culled; ``saved`` is the share of the triangles in the
        frustum that are found hidden, ``saved_drawn`` counts what the first pass draws of the last frame as not saved;
        ``of_full_resolution`` is what the pyramid culls over what a test of every pixel of the same depth would.
        """
        frames, side = (90, 4) if scale == "full" else (6, 2)
        rooms = interior(side=side, detail=12 if scale == "full" else 4)
        scene, culled, totals, hidden = meshes.Scene(rooms.placed), np.zeros(2), np.zeros(3), 0
        with meshes.Renderer(rooms.placed, VIEWPORT) as renderer:
            for camera in rooms.walk(frames, 1, VIEWPORT):
                allocation = scene.allocate(camera, _BUDGET)
                verdict = judge_frame(renderer, camera, allocation)
                hidden += verdict.hidden_visible + verdict.changed_pixels
                facts = verdict.facts
                totals += facts.in_frustum, facts.visible, facts.drawn
                culled += _culled(renderer.visible().depth, scene.realize(allocation), camera)
            driver = renderer.driver
        in_frustum, visible, drawn = totals.tolist()
        return {
            "name": self.name,
            "n": frames,
            "driver": driver,
            "hidden_visible": hidden,
            "in_frustum": in_frustum / frames,
            "visible": visible / frames,
            "drawn": drawn / frames,
            "saved": 1 - visible / in_frustum,
            "saved_drawn": 1 - drawn / in_frustum,
            "of_full_resolution": culled[0] / culled[1],
            **dict.fromkeys(("ours_s", "peer", "peer_s")),
        }


def _culled(depth: np.ndarray, placed: tuple[meshes.Instance, ...], camera: Camera) -> np.ndarray:
    """Triangles in the frustum that a pyramid over a depth buffer hides, and that the buffer itself hides."""
    whole = Occlusion.of(depth, camera)
    found = np.zeros(2)
    for one in placed:
        boxes = meshes.cluster_boxes(one.mesh)[one.cut]  # pyright: ignore[reportArgumentType]
        triangles = one.mesh.triangles_per_cluster[one.cut]
        seen_from = whole.seen_from(one.placement)
        rects, nearest = seen_from.project_boxes(boxes)
        in_view = rects[:, 0] <= rects[:, 2]
        by_pixel = np.array([_is_hidden(depth, rect, near) for rect, near in zip(rects, nearest, strict=True)], bool)
        found += triangles[in_view & ~seen_from.visible_boxes(boxes)].sum(), triangles[in_view & by_pixel].sum()
    return found


def _is_hidden(depth: np.ndarray, rect: np.ndarray, nearest: float) -> bool:
    x0, y0, x1, y1 = rect
    return x0 <= x1 and bool(nearest > depth[y0 : y1 + 1, x0 : x1 + 1].max())


def runtime_suite() -> tuple[Row, ...]:
    """All rows, in the order of the table."""
    frames = (FrameBenchmark(f"frame_{copies}", copies) for copies in (1, 100, 10_000))
    return *frames, PeersBenchmark("one_pixel_100", 100), InteriorBenchmark("occlusion_interior")
