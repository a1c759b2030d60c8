"""Chains of whole meshes, for programs that know no clusters.

`lod_chain` takes them out of a cluster hierarchy; `build_discrete` simplifies each by itself to half of the triangles,
which is the classic way that clusters are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.building.builder import built
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.settings import Workers, processors
from hra.domains.meshes.building.spheres import enclosing_spheres
from hra.domains.meshes.distances.two_sided import hausdorff_bound
from hra.domains.meshes.files.gltf_packing import COMPRESSIONS, Compression, position_step
from hra.domains.meshes.files.read import load
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.meshopt import vertex_cache_order
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, referenced_only
from hra.domains.meshes.mesh.weld import by_first_use, weld_wedges, without_degenerate
from hra.domains.meshes.metrics.surface_error import SurfaceError
from hra.errors import HraError, check_choice, check_kind
from hra.model.arrays import numbers
from hra.traversals.exact import Exact

if TYPE_CHECKING:
    from hra.domains.meshes.asset.mesh_asset import MeshAsset

# The attribute of clusters that bounds distances, unless the mesh was built without.
_BOUND = "hausdorff"
# Decisions of the search for a cut: a tenth of the time of `Exact` by default. Where they are not enough, sixteen times
# as many mostly were not either.
_DECISIONS = 2**18
SHARES = tuple(2.0**-step for step in range(8))


def lod_chain(
    source: str | Path | TriangleMesh | ClusterMesh | MeshAsset,
    levels: Sequence[float],
    *,
    compression: Compression = "none",
    progress: Callable[[int, int], None] | None = None,
) -> DiscreteLOD:
    """The best mesh from all sides for each of several numbers of triangles.

    Each level is a cut of the cluster hierarchy that minimises `SurfaceError` within its number of triangles, and that
    refines the next coarser level: every cluster of a level stands for clusters of the finer one. So triangles and
    errors are monotone. All vertices are those of the source, except in small parts that grew (see `build`).

    Parameters
    ----------
    source : a mesh or mesh file, which is simplified as a whole from 262,144 triangles down; or clusters, whose levels
        were up to 70 % farther from the source (root mean square, four scans), as they are built for cameras.
    levels : fine to coarse; up to 1 a share of the source's triangles, above it a number of triangles.
    compression : of files that are written, see `scene_lod`.
    progress : of the simplification, see `build`.

    Returns
    -------
    DiscreteLOD; level k has at most as many triangles as asked for. ``errors`` are bounds on distances: no point of the
    source is farther from the level, and none of the level from the source; at most a fiftieth too large, but where
    surfaces cross so often that the work ends early (`hausdorff_bound`). Those of a
    `MeshAsset` on a grid are the largest "hausdorff" of its clusters, which are looser, or their largest "error", an
    estimate, if it has none (``DiscreteLOD.certified`` tells). ``appearance`` is the largest "error", which counts how
    textures, normals and colours move, too.

    Raises
    ------
    HraError : levels that do not fall, are not above 0, or a number of triangles that is not whole; another
        compression.
    BudgetTooSmall : fewer triangles than the coarsest cut has.
    FileError, MeshError, MissingExtra, BackendUnavailable : see `load`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> chain = meshes.lod_chain(hra.samples.path("skull.ply"), [0.5, 0.25, 1000])
    >>> [len(mesh.triangles) for mesh in chain.levels]
    [21240, 10620, 1000]
    >>> far = chain.switch_distances(pixels=1.0, vertical_fov_degrees=60, viewport=(1920, 1080))
    """
    from hra.domains.meshes.asset.mesh_asset import MeshAsset

    check_kind("levels", levels, (Sequence, np.ndarray), "call lod_chain(mesh, [0.5, 0.25])")
    check_choice("compression", compression, COMPRESSIONS)
    given = source if isinstance(source, (ClusterMesh, MeshAsset)) else for_levels(source, progress)
    clusters = given.with_cost("triangles")
    # Those of level 0: a `MeshAsset` has no count of its own source.
    of_source = int(clusters.triangles_per_cluster[clusters.hierarchy.attribute("level") == 0].sum())
    cuts = nested_cuts(clusters, level_counts(levels, of_source))
    errors = cut_errors(clusters, cuts)
    meshes = tuple(_for_caches(clusters.mesh(cut)) for cut in cuts)
    center, radius = sphere_around(meshes, errors.distance[0])
    farther = _rounding(meshes) if compression == "rounded" else 0.0
    distance, radius = errors.distance + farther, radius + farther
    return DiscreteLOD(meshes, distance, center, radius, errors.certified, errors.appearance, compression)


def _for_caches(mesh: TriangleMesh) -> TriangleMesh:
    """The mesh with triangles and vertices in the order that suits a GPU's caches, but where the order shows."""
    carried = mesh.attributes
    if carried is not None and any(material.alpha_mode == "BLEND" for material in carried.materials):
        return mesh
    order, corners = by_first_use(vertex_cache_order(mesh.triangles, len(mesh.positions)).reshape(-1))
    attributes = None if carried is None else carried.take(order)
    return TriangleMesh(mesh.positions[order], corners.astype(np.uint32).reshape(-1, 3), attributes, mesh.origin)


def _rounding(levels: Sequence[TriangleMesh]) -> float:
    """By how much rounded files move surfaces at most: half of a step along each axis."""
    return math.sqrt(3) / 2 * max(position_step([level.positions]) for level in levels)


def for_levels(source: str | Path | TriangleMesh, progress: Callable[[int, int], None] | None = None) -> ClusterMesh:
    """The clusters of a mesh or mesh file for levels of all of it; without bounds, as levels are measured."""
    return built(source, certified=False, discrete=True, progress=progress)[0]


@dataclass(frozen=True, eq=False)
class CutErrors:
    """Errors of several cuts, float64 [L] each: distances, bounds if ``certified``, and of appearance."""

    distance: np.ndarray
    certified: bool
    appearance: np.ndarray


def nested_cuts(clusters: ClusterMesh | MeshAsset, counts: Sequence[int]) -> list[np.ndarray]:
    """The best cut for each number of triangles, fine to coarse, that refines the next coarser one.

    Raises
    ------
    BudgetTooSmall : fewer triangles than the coarsest cut has.
    """
    allocator = MeshAllocator(clusters, SurfaceError(), Exact(_DECISIONS))
    source = np.flatnonzero(clusters.hierarchy.removed_by < 0)
    whole = clusters.hierarchy.node_cost[source].sum()
    cuts: list[np.ndarray] = []
    for count in reversed(counts):
        # What a coarser level has taken stays taken; on the way from fine to coarse nothing could keep errors monotone.
        # All triangles are the source itself: estimates of 0 may be rounding, and would take fewer.
        fits = count >= whole
        cuts.append(source if fits else allocator.allocate(None, count, pinned=cuts[-1] if cuts else None).cut)
    cuts.reverse()
    return cuts


def cut_errors(clusters: ClusterMesh | MeshAsset, cuts: Sequence[np.ndarray]) -> CutErrors:
    """The errors of cuts, fine to coarse; of clusters in memory the bounds are those of the cuts as a whole."""
    hierarchy = clusters.hierarchy
    certified = _BOUND in hierarchy.node
    quadric, bound = (hierarchy.attribute(name) for name in ("error", _BOUND if certified else "error"))
    distance, appearance = (np.array([of[cut].max() for cut in cuts], np.float64) for of in (bound, quadric))
    # Clusters know how far they are from what was beneath them; the whole cut is nearer. A grid has moved the source.
    if isinstance(clusters, ClusterMesh) or not clusters.grid_step:
        source = clusters.mesh(np.flatnonzero(hierarchy.removed_by < 0))
        tight = monotone_bounds(source, [clusters.mesh(cut) for cut in cuts])
        distance, certified = np.minimum(distance, tight) if certified else tight, True
    return CutErrors(distance, certified, appearance)


def monotone_bounds(source: TriangleMesh, levels: Sequence[TriangleMesh]) -> np.ndarray:
    """Bounds on how far each of the ``levels``, fine to coarse, and ``source`` are from each other, rising, [L]."""
    with Workers(min(processors(), len(levels))) as workers:
        return np.maximum.accumulate(list(workers.map(partial(hausdorff_bound, source), levels)))


def level_counts(levels: Sequence[float], of_source: int) -> list[int]:
    """The number of triangles of each level, of shares up to 1 of those of the source, and of numbers above.

    Raises
    ------
    HraError : levels that do not fall, are not above 0, or a number of triangles that is not whole.
    """
    levels = numbers("levels", levels).tolist()
    counts = [int(level * of_source) if level <= 1 else int(level) for level in levels if level > 0]
    whole = len(counts) == len(levels) and all(level <= 1 or level == int(level) for level in levels)
    # Small meshes may have no triangles between two shares.
    falling = len(set(levels)) == len(counts) and sorted(counts, reverse=True) == counts
    if not counts or not whole or not falling:
        fix = "use shares such as [0.5, 0.25] or numbers of triangles such as [20_000, 5_000]"
        raise HraError(f"levels must fall from fine to coarse, got {list(levels)}", where="levels", fix=fix)
    return counts


def sphere_around(levels: Sequence[TriangleMesh], error: float = 0.0) -> tuple[np.ndarray, float]:
    """Centre and radius of a sphere around all levels, and around a source that is at most ``error`` from the first."""
    points = np.concatenate([level.positions for level in levels])
    ends, own = np.array([0, len(points)]), np.zeros(len(points), np.float32)
    center, radius = enclosing_spheres(points, own, ends, np.arange(len(points)))
    return center[0], float(radius[0]) + error


def build_discrete(source: str | Path | TriangleMesh, shares: Sequence[float] = SHARES) -> DiscreteLOD:
    """Simplify a whole mesh to ``shares`` of its triangles, each level from the source, until one does not shrink.

    ``errors`` of the chain are bounds, ``appearance`` is the simplifier's estimate, as of `lod_chain`.

    Parameters
    ----------
    source : mesh, or a mesh file (see `load`).
    shares : falling from 1.

    Raises
    ------
    HraError : other shares; and see `load`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> chain = meshes.build_discrete(hra.samples.path("skull.ply"), shares=[1, 0.5])
    >>> chain.by_budget(30_000)
    1
    """
    shares = numbers("shares", shares).tolist()
    if shares != sorted(set(shares), reverse=True) or not shares or shares[0] != 1 or shares[-1] <= 0:
        raise HraError(f"shares must fall from 1 and stay above 0, got {tuple(shares)}", where="shares")
    mesh = source if isinstance(source, TriangleMesh) else load(source)
    positions, triangles, attributes = weld_wedges(mesh.positions, mesh.triangles, mesh.attributes)
    geometry, unlocked = Geometry.of(positions, attributes), np.zeros(len(positions), np.uint8)
    triangles = without_degenerate(triangles, geometry.position_of)
    levels, errors = [triangles], [0.0]
    for share in shares[1:]:
        target = 3 * int(len(triangles) * share)
        flat = np.ascontiguousarray(triangles).reshape(-1)
        coarse, error = geometry.simplify(flat, unlocked, target)
        if not 0 < coarse.size < 3 * len(levels[-1]):
            break
        levels.append(coarse.reshape(-1, 3))
        errors.append(max(error * geometry.scale, errors[-1]))
    meshes = tuple(referenced_only(positions, level, attributes, mesh.origin) for level in levels)
    center, radius = sphere_around(meshes[:1])
    bounds = np.append(0.0, monotone_bounds(meshes[0], meshes[1:]))
    return DiscreteLOD(meshes, bounds, center, radius, True, np.array(errors))
