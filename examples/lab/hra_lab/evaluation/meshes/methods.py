"""Ways to show a mesh with so many triangles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.camera.occlusion import Occlusion
from hra.domains import meshes
from hra.kernels import raster
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold
from hra_lab.evaluation.meshes.views import draw
from hra_lab.evaluation.whole_levels import WholeLevels

OURS, VISIBLE = "budget cut", "budget cut, visible"
FROM_SOURCE, IN_HALVES, EQUAL = "simplified from the source", "simplified in halves", ", equal count"
# What the budget cut is meant to be no worse than.
PEERS = ("threshold cut", FROM_SOURCE + EQUAL, IN_HALVES + EQUAL, FROM_SOURCE, IN_HALVES)

Surface = Callable[[Camera], meshes.TriangleMesh]


@dataclass(frozen=True, eq=False)
class Subject:
    """A mesh as every method needs it.

    Attributes
    ----------
    source : what all are compared with; clusters : built from it.
    """

    name: str
    source: meshes.TriangleMesh
    clusters: meshes.ClusterMesh

    @classmethod
    def of(cls, name: str, source: meshes.TriangleMesh) -> Subject:
        """Build the clusters."""
        return cls(name, source, meshes.build(source))


def surfaces(
    subject: Subject, triangles: int, context: raster.Context, cameras: Sequence[Camera]
) -> Mapping[str, Surface]:
    """By name, what each method draws with at most so many ``triangles`` as a camera sees it.

    Cuts have steps and leave a part of the budget; so that surfaces are compared at equal counts, whole-mesh
    simplification is also run to as many triangles as the budget cut draws on average over the ``cameras``.
    """
    ours = _cut(subject, Hull(), triangles)
    drawn = round(float(np.mean([len(ours(camera).triangles) for camera in cameras])))
    return {
        OURS: ours,
        VISIBLE: _visible_cut(subject, triangles, context),
        "threshold cut": _cut(subject, Threshold(), triangles),
        FROM_SOURCE + EQUAL: _always(from_source(subject.source, drawn)),
        IN_HALVES + EQUAL: _always(in_halves(subject.source, drawn)),
        FROM_SOURCE: _always(from_source(subject.source, triangles)),
        IN_HALVES: _always(in_halves(subject.source, triangles)),
        "whole levels": _cut(subject, WholeLevels(), triangles),
    }


def _always(mesh: meshes.TriangleMesh) -> Surface:
    return lambda camera: mesh


def _cut(subject: Subject, traversal: Traversal, triangles: int) -> Surface:
    allocator = meshes.MeshAllocator(subject.clusters, traversal=traversal)
    return lambda camera: allocator.realize(allocator.allocate(camera, triangles))


def _visible_cut(subject: Subject, triangles: int, context: raster.Context) -> Surface:
    """What a depth buffer hides weighs nothing: that of the plain cut, as an engine has it from its last frame."""
    plain = _cut(subject, Hull(), triangles)

    def surface(camera: Camera) -> meshes.TriangleMesh:
        occlusion = Occlusion.of(draw(context, plain(camera), camera).window, camera)
        allocator = meshes.MeshAllocator(subject.clusters, meshes.VisibleScreenError(occlusion))
        return allocator.realize(allocator.allocate(camera, triangles))

    return surface


def from_source(source: meshes.TriangleMesh, triangles: int) -> meshes.TriangleMesh:
    """Whole-mesh simplification in one run."""
    return meshes.build_discrete(source, (1.0, triangles / len(source.triangles))).levels[-1]


def in_halves(source: meshes.TriangleMesh, triangles: int) -> meshes.TriangleMesh:
    """Whole-mesh simplification that halves again and again, each time from the last result.

    It forgets the source's quadrics at every step, as cluster hierarchies do, which mostly gives the better mesh
    (memoryless simplification, Lindstrom and Turk 1998).
    """
    mesh = source
    while len(mesh.triangles) > 2 * triangles:
        half = meshes.build_discrete(mesh, (1.0, 0.5)).levels[-1]
        if len(half.triangles) == len(mesh.triangles):
            return mesh
        mesh = half
    return from_source(mesh, triangles)
