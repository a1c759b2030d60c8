"""Whether culling changes what a frame shows, judged by drawing the same cuts without it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.kernels.raster import EMPTY
from hra.kernels.raster.clusters.renderer import FrameFacts


class FrameVerdict(NamedTuple):
    """What the judge found of one frame.

    Attributes
    ----------
    facts : of the frame with culling.
    hidden_visible : clusters that some pixel shows without culling and that were culled; to be 0.
    changed_pixels : where the depths differ; to be 0.
    uncovered : whether no pixel shows anything, so that the frame says nothing.
    """

    facts: FrameFacts
    hidden_visible: int
    changed_pixels: int
    uncovered: bool


def judge_frame(renderer: meshes.Renderer, camera: Camera, cut: np.ndarray | meshes.SceneAllocation) -> FrameVerdict:
    """Draw a frame with occlusion culling, then without any, and compare."""
    facts = renderer.draw(camera, cut)
    culled, (copies, clusters) = renderer.visible(), renderer.drawn()
    renderer.draw(camera, cut, "none")
    whole = renderer.visible()
    there = whole.copies != EMPTY
    shown = np.unique(np.stack([whole.copies[there], whole.clusters[there]]).astype(np.int64), axis=1)
    drawn = set(zip(copies.tolist(), clusters.tolist(), strict=True))
    missed = sum(pair not in drawn for pair in zip(*shown.tolist(), strict=True))
    return FrameVerdict(facts, missed, int((culled.depth != whole.depth).sum()), not there.any())
