"""How much pictures jump on a slow zoom because the surface changes, apart from the camera's own motion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra_lab.evaluation.frames.sequences import FULL, Mixture, ZoomedMesh, sequences
from hra_lab.evaluation.frames.stage import Shot, Stage

# From where to where the eye goes, in multiples of the longest side.
_FAR, _NEAR = 2.0, 1.2


def zoom(bounds: np.ndarray, frames: int, viewport: tuple[int, int]) -> list[Camera]:
    """A straight way towards the mesh, each frame nearer by the same share."""
    longest = float(np.ptp(bounds, axis=0).max())
    distances = longest * np.geomspace(_FAR, _NEAR, frames)
    return [Camera.orbit(bounds, azimuth=30, elevation=10, distance=d, viewport=viewport) for d in distances]


def popping_rows(
    name: str, source: meshes.TriangleMesh, frames: int, viewport: tuple[int, int]
) -> Iterator[dict[str, Any]]:
    """One row per method.

    Yields
    ------
    "mesh", "method"; "triangles" drawn on average; by frame from the second on, in percent of the brightest, root mean
    squares over the covered pixels: "pops", this frame's surface beside the last one's, both seen by this frame's
    camera; "excess", how much more the picture changes than that of full detail does; "errors", the difference from
    full detail.
    """
    mesh = ZoomedMesh.of(source)
    cameras = zoom(mesh.clusters.bounds, frames, viewport)
    with Stage(mesh.placed, viewport) as stage:
        shown = sequences(mesh, cameras)
        truth = [_mixed(stage, mixture, camera) for mixture, camera in zip(shown[FULL], cameras, strict=True)]
        for method, mixtures in shown.items():
            triangles = float(np.mean([mesh.triangles(mixture) for mixture in mixtures]))
            yield {"mesh": name, "method": method, "triangles": triangles} | _jumps(stage, mixtures, cameras, truth)


def _jumps(
    stage: Stage, mixtures: Sequence[Mixture], cameras: Sequence[Camera], truth: Sequence[Shot]
) -> dict[str, list[float]]:
    pops, excess, errors = [], [], []
    last = _mixed(stage, mixtures[0], cameras[0])
    for k in range(1, len(cameras)):
        now = _mixed(stage, mixtures[k], cameras[k])
        moved = now if _same(mixtures[k - 1], mixtures[k]) else _mixed(stage, mixtures[k - 1], cameras[k])
        pops.append(_apart(now, moved))
        excess.append(_apart(now, last) - _apart(truth[k], truth[k - 1]))
        errors.append(_apart(now, truth[k]))
        last = now
    return {"pops": pops, "excess": excess, "errors": errors}


def _mixed(stage: Stage, mixture: Mixture, camera: Camera) -> Shot:
    """The picture of a frame, its surfaces mixed by their shares."""
    shots = [(share, stage.shot(surface, camera)) for share, surface in mixture]
    colors = sum((np.float32(share) * shot.colors for share, shot in shots[1:]), shots[0][0] * shots[0][1].colors)
    return Shot(colors, np.logical_or.reduce([shot.covered for _, shot in shots]))


def _same(one: Mixture, other: Mixture) -> bool:
    return len(one) == len(other) and all(
        share == other_share and surface.same(other_surface)
        for (share, surface), (other_share, other_surface) in zip(one, other, strict=True)
    )


def _apart(one: Shot, other: Shot) -> float:
    """Root mean square of the difference over what either covers, percent."""
    either = one.covered | other.covered
    squares = np.square(one.colors[either] - other.colors[either], dtype=np.float64)
    return 100 * float(np.sqrt(squares.mean())) if squares.size else 0.0
