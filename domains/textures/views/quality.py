"""What residency is worth on the screen: rendered views against those with everything resident."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.views.raycast import Hits, cast_rays
from hra.domains.textures.views.rendering import shade
from hra.domains.textures.views.scene import PlaneScene, check_scene
from hra.errors import ArrayError, check_kind
from hra.files.images import flip, psnr
from hra.model.arrays import POSITIVE, indices, whole_in


@dataclass(frozen=True, eq=False)
class ViewQuality:
    """One entry per compared frame of F.

    Attributes
    ----------
    frames : int64 [F], which ones.
    psnr : float64 [F], dB, inf where nothing is missed.
    flip : float64 [F], mean FLIP, 0 where nothing is missed; [0] where it was not measured.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import ViewQuality
    >>> quality = ViewQuality(np.array([0, 10]), psnr=np.array([40.0, np.inf]), flip=np.array([0.01, 0.0]))
    >>> quality, quality.mean_psnr
    (2 frames, PSNR >= 40.0 dB, FLIP <= 0.0100, 69.5)
    """

    frames: np.ndarray
    psnr: np.ndarray
    flip: np.ndarray

    @property
    def mean_psnr(self) -> float:
        """Mean PSNR, dB, where views that miss nothing, or next to nothing, count 99."""
        return float(np.minimum(self.psnr, 99.0).mean())

    def __repr__(self) -> str:
        flip = f", FLIP <= {self.flip.max():.4f}" if self.flip.size else ""
        return f"{len(self.frames)} frames, PSNR >= {self.psnr.min():.1f} dB{flip}"


class ViewJudge:
    """Views of a flight beside those with everything resident; each is drawn and compared once for equal pages.

    Parameters
    ----------
    cameras : of all frames.
    flip : FLIP takes a second of a processor for a view of a million pixels.
    """

    def __init__(self, scene: PlaneScene, cameras: Sequence[Camera], flip: bool = True) -> None:
        self._scene, self._cameras, self._flip = scene, cameras, flip
        self._full: dict[int, tuple[Hits, np.ndarray]] = {}
        self._scores: dict[tuple[int, bytes], tuple[float, float]] = {}

    def quality(self, frames: Sequence[int], resident: Iterable[ResidentTextures]) -> ViewQuality:
        """How the ``frames`` look with the pages of each."""
        scores = [self._score(*pair) for pair in zip(frames, resident, strict=True)]
        decibels, differences = np.array(scores, np.float64).reshape(-1, 2).T
        return ViewQuality(np.array(frames), decibels, differences if self._flip else differences[:0])

    def _score(self, frame: int, resident: ResidentTextures) -> tuple[float, float]:
        key = frame, resident.active.tobytes()
        if key not in self._scores:
            if frame not in self._full:
                hits, everything = cast_rays(self._scene, self._cameras[frame]), np.ones_like(resident.active)
                full = ResidentTextures(self._scene.textures, everything)
                self._full[frame] = hits, shade(self._scene, full, hits)
            hits, reference = self._full[frame]
            seen = shade(self._scene, resident, hits)
            self._scores[key] = psnr(seen, reference), flip(seen, reference) if self._flip else 0.0
        return self._scores[key]


def view_quality(scene: PlaneScene, cameras: Sequence[Camera], resident: Sequence[Any], every: int = 10) -> ViewQuality:
    """Render every n-th frame of a replay and compare it with the same view of full residency.

    Parameters
    ----------
    cameras : of all frames.
    resident : of all frames, the pages (node ids) that were resident: `ResidencyTrace.resident`.
    every : frames from one compared frame to the next, from the first on.

    Raises
    ------
    ArrayError : numbers of frames that differ, numbers of no page, or ``every`` below 1.
    HraError : something else in the place of the scene, the cameras or the pages.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> image = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
    >>> scene = textures.PlaneScene.ground(image, width=10.0)
    >>> cameras = textures.flyover(scene.planes[0], frames=2, viewport=(320, 240))
    >>> quality = textures.view_quality(scene, cameras[1:] * 2, resident=[[0], [0, 1, 2, 3, 4]], every=1)
    >>> quality.frames, quality.psnr < 99
    (array([0, 1]), array([ True, False]))
    """
    every = whole_in("every", every, POSITIVE, ArrayError)
    check_scene(scene)
    check_kind("cameras", cameras, Sequence, "pass a list of cameras")
    check_kind("resident", resident, Sequence, "pass the resident pages of a ResidencyTrace")
    if len(cameras) != len(resident):
        raise ArrayError(f"{len(cameras)} cameras, {len(resident)} frames", where="view_quality")
    frames = range(0, len(cameras), every)
    pages = scene.textures.hierarchy.node_cost.size
    active = np.zeros((len(frames), pages), np.bool_)
    for row, frame in zip(active, frames, strict=True):
        row[indices("resident", resident[frame], 0, pages)] = True
    return ViewJudge(scene, cameras).quality(frames, [ResidentTextures(scene.textures, row) for row in active])
