"""Build a cluster hierarchy: group neighbouring clusters, simplify each group, split it again, repeat to the root."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Never

import numpy as np

from hra.domains.meshes.building.appearance import with_appearance
from hra.domains.meshes.building.backs import with_backs, without_backs
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.levels import BuiltLevels, build_levels, coarse_first
from hra.domains.meshes.building.parts import Parts, with_parts
from hra.domains.meshes.building.settings import Countdown, Progress, Settings, Workers, processors
from hra.domains.meshes.files.read import load
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.report import BuildReport, Meter
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.mesh.weld import weld_wedges, without_degenerate
from hra.errors import MeshError, wrong_kind
from hra.files.limits import DEFAULT, Limits
from hra.model.arrays import whole_in

_OF_ARRAYS = "make a mesh of arrays: meshes.from_arrays(positions, triangles)"


def build(
    source: str | Path | TriangleMesh,
    *more: Never,
    cluster_size: int = 64,
    group_size: int = 12,
    certified: bool = True,
    appearance: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    limits: Limits = DEFAULT,
) -> ClusterMesh:
    """Build the cluster hierarchy of a mesh.

    Triangles are split into clusters. Clusters that share borders form groups; each group is simplified to about half
    its triangles, more where it has less detail, with the vertices that it shares with other groups locked, and split
    into clusters again. Each level draws other borders, so that none stays fine for ever. Every down-closed set of
    refinements is a surface without cracks, because what meets at a border was simplified with the same locked
    vertices. From 8,192 triangles on there are no groups: the whole mesh is simplified in small steps, which are taken
    apart into refinements of a few triangles each. Where there are many small parts alike, such as leaves, some go and
    others grow to the area of both (`hra.domains.meshes.building.parts`): these have vertices that the source has not.

    Parameters
    ----------
    source : mesh, or a mesh file (see `load`).
    cluster_size : triangles per cluster at most, a multiple of 4 from 16 to 128.
    group_size : clusters per group, 3 .. 64, above 8,192 triangles. A step of a budget is half a group there; smaller
        ones are finer, but more of their vertices are locked borders, so that the same triangles leave a larger error
        (`examples/lab/docs/mesh-quality.md`).
    certified : also bound how far the source and each cluster are from each other ("hausdorff"; see
        `hra.domains.meshes.distances.deviation`). Without it a build takes a fifth to a half of the time up to 70,000
        triangles, and thresholds in pixels are estimates.
    appearance : also measure how normals change, for ``ScreenError("appearance")``; see `with_appearance`.
    threads : by default as many as there are processors that this process may use. The result does not depend on it.
    progress : called from this thread with the triangles that are simplified away and those of the source.
    limits : what reading a mesh file may take, see `load`.

    Returns
    -------
    ClusterMesh; equal input gives equal output, except for the times in its ``report``.

    Raises
    ------
    FileError, MeshError, MissingExtra, BackendUnavailable : see `load`.

    References
    ----------
    Karis et al., Nanite, SIGGRAPH 2021 (Advances in Real-Time Rendering); meshoptimizer, demo/clusterlod.h.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> skull.triangle_count, skull.root_triangle_count < 200
    (42480, True)
    """
    if more:
        raise wrong_kind("source", (source, *more), (str, Path, TriangleMesh), _OF_ARRAYS)
    settings = {"cluster_size": cluster_size, "group_size": group_size, "certified": certified}
    return built(source, **settings, appearance=appearance, threads=threads, progress=progress, limits=limits)[0]


def built(
    source: str | Path | TriangleMesh,
    *,
    cluster_size: int = 64,
    group_size: int = 12,
    certified: bool = True,
    appearance: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    limits: Limits = DEFAULT,
    discrete: bool = False,
) -> tuple[ClusterMesh, np.ndarray]:
    """`build`, and the vertex of the source whose attributes each vertex has, int64 [V]: its own except in parts.

    Parameters
    ----------
    discrete : see `build_levels`.
    """
    settings = Settings(cluster_size, group_size, certified)
    threads = None if threads is None else whole_in("threads", threads, range(1, 1025))
    if not isinstance(source, (str, os.PathLike, TriangleMesh)):
        raise wrong_kind("source", source, (str, Path, TriangleMesh), _OF_ARRAYS)
    meter = Meter()
    mesh = source if isinstance(source, TriangleMesh) else load(source, limits=limits)
    geometry, triangles, attributes, back = _welded(mesh)
    countdown = Countdown(len(triangles), progress)
    with Workers(threads or processors()) as workers:
        levels = build_levels(geometry, triangles, settings, workers, countdown, discrete=discrete)
    clusters, of_source = _assembled(geometry, levels, attributes, back)
    if appearance:
        clusters = with_appearance(clusters)
    countdown.finish()
    chosen = {**asdict(settings), "appearance": True} if appearance else asdict(settings)
    name = "" if isinstance(source, TriangleMesh) else Path(source).name
    report = _report(clusters, levels, chosen, workers.threads, meter, name)
    return replace(clusters, report=report, origin=mesh.origin), of_source


def _welded(
    mesh: TriangleMesh,
) -> tuple[Geometry, np.ndarray, VertexAttributes | None, np.ndarray | None]:
    """What is simplified: its vertices, triangles uint32 [F, 3], attributes, and the second sheet (`without_backs`)."""
    positions, triangles, attributes = weld_wedges(mesh.positions, mesh.triangles, mesh.attributes)
    geometry = Geometry.of(positions, attributes)
    triangles = without_degenerate(triangles, geometry.position_of)
    if not len(triangles):
        raise MeshError("all triangles of the mesh have two equal corners", where=repr(mesh))
    triangles, back = without_backs(geometry, triangles)
    behind = np.full(len(positions), -1, np.int64)
    behind[triangles] = triangles if back is None else np.where(back[triangles] < 0, triangles, back[triangles])
    if attributes is not None and (behind != np.arange(len(behind))).any():
        geometry = Geometry.of(positions, attributes, behind)
    return with_parts(geometry, triangles), triangles, attributes, back


def _assembled(
    geometry: Geometry, levels: BuiltLevels, attributes: VertexAttributes | None, back: np.ndarray | None
) -> tuple[ClusterMesh, np.ndarray]:
    """All levels as one mesh, with what parts were enlarged to and second sheets; the source of each vertex."""
    table, member_of = coarse_first(levels)
    positions, of_source = geometry.positions, np.arange(len(geometry.positions))
    if isinstance(geometry.parts, Parts):
        positions, of_source, table = geometry.parts.used(geometry, table)
    if back is not None:
        positions, of_source, table, member_of = with_backs(positions, of_source, table, member_of, back)
    if attributes is not None and len(of_source) > len(attributes):
        attributes = attributes.take(of_source)
    return ClusterMesh.from_table(positions, table, member_of, attributes), of_source


def _report(
    clusters: ClusterMesh, levels: BuiltLevels, settings: dict[str, Any], threads: int, meter: Meter, source: str
) -> BuildReport:
    return BuildReport(
        **meter.read(),
        threads=threads,
        triangles=clusters.triangle_count,
        root_triangles=clusters.root_triangle_count,
        levels=int(clusters.hierarchy.attribute("level").max()) + 1,
        clusters=levels.cluster_count,
        groups=len(clusters.hierarchy),
        stuck_groups=levels.stuck_groups,
        merged_islands=levels.merged_islands,
        source=source,
        settings=settings,
    )
