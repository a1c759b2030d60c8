"""What each method shows on a zoom: surfaces, frame by frame, and fades from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.domains.meshes.metrics.screen_error import ErrorName
from hra.traversals.base import Traversal
from hra.traversals.coherent import Coherent
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold
from hra_lab.evaluation.frames.stage import Surface, finest

FULL, CHAIN, PIXELS = "full detail", "discrete chain, 1 px", "pixel cut, 1 px"
BUDGET, STILL = "budget cut", "budget cut, hysteresis"
BOUND, FADE = "pixel cut, 1 px, certified", ", cross-fade"
_HYSTERESIS = 0.5
_TOLERANCE = 1.0
FADE_FRAMES = 8
"""How long one surface takes to fade into the next."""

Mixture = tuple[tuple[float, Surface], ...]
"""What a frame shows: surfaces, and the share of each in the picture."""


@dataclass(frozen=True, eq=False)
class ZoomedMesh:
    """A mesh as clusters and as a chain of separate meshes.

    Attributes
    ----------
    clusters : the first mesh of a stage; chain : levels with errors; levels : each of them as clusters, the others.
    """

    clusters: meshes.ClusterMesh
    chain: meshes.DiscreteLOD
    levels: tuple[meshes.ClusterMesh, ...]

    @classmethod
    def of(cls, source: meshes.TriangleMesh) -> ZoomedMesh:
        """Build both."""
        chain = meshes.build_discrete(source)
        levels = tuple(meshes.build(level, certified=False) for level in chain.levels)
        return cls(meshes.build(source), chain, levels)

    @property
    def placed(self) -> tuple[meshes.ClusterMesh, ...]:
        """What a stage needs."""
        return self.clusters, *self.levels

    def triangles(self, mixture: Mixture) -> int:
        """How many a frame draws, those of both surfaces during a fade."""
        return sum(int(self.placed[s.mesh].triangles_per_cluster[s.clusters].sum()) for _, s in mixture)


def sequences(mesh: ZoomedMesh, cameras: Sequence[Camera]) -> Mapping[str, Sequence[Mixture]]:
    """What each method shows, by its name; budgets are the mean of what the pixel cut draws."""
    pixels = _cuts(mesh, cameras, Threshold(_TOLERANCE))
    drawn = float(np.mean([mesh.triangles(((1.0, surface),)) for surface in pixels]))
    budget = max(drawn, mesh.clusters.root_triangle_count)
    chain = [_level(mesh, camera) for camera in cameras]
    plain = {
        FULL: [finest(mesh.clusters)] * len(cameras),
        CHAIN: chain,
        PIXELS: pixels,
        BOUND: _cuts(mesh, cameras, Threshold(_TOLERANCE), "certified"),
        BUDGET: _cuts(mesh, cameras, Hull(), budget=budget),
        STILL: _cuts(mesh, cameras, Coherent(Hull(), _HYSTERESIS), budget=budget),
    }
    faded = {name + FADE: cross_faded(plain[name]) for name in (CHAIN, PIXELS)}
    return {name: [((1.0, surface),) for surface in surfaces] for name, surfaces in plain.items()} | faded


def cross_faded(surfaces: Sequence[Surface]) -> list[Mixture]:
    """The same with a fade at each change; what changes during a fade waits for its end."""
    shown, old, new, step = [], surfaces[0], surfaces[0], 0
    for surface in surfaces:
        if step == 0 and not surface.same(old):
            new, step = surface, 1
        share = step / FADE_FRAMES
        shown.append(((1.0, old),) if step == 0 else ((1.0 - share, old), (share, new)))
        step = step + 1 if step else 0
        if step >= FADE_FRAMES:
            old, step = new, 0
    return shown


def _cuts(
    mesh: ZoomedMesh,
    cameras: Sequence[Camera],
    traversal: Traversal,
    error: ErrorName = "quadric",
    budget: float = np.inf,
) -> list[Surface]:
    """A cut for each camera, each of which knows the one before."""
    allocator = meshes.MeshAllocator(mesh.clusters, meshes.ScreenError(error), traversal)
    found, last = [], None
    for camera in cameras:
        last = allocator.allocate(camera, budget, previous=last)
        found.append(Surface(0, last.cut))
    return found


def _level(mesh: ZoomedMesh, camera: Camera) -> Surface:
    level = mesh.chain.by_pixels(camera, _TOLERANCE)
    return finest(mesh.levels[level], level + 1)
