"""Checks of a built mesh: what it promises, tested on the mesh itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.distances.box_tree import nearest_distances
from hra.domains.meshes.distances.surface import boundary_chain, surface_points
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.ragged import vertex_boxes
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.mesh.weld import weld
from hra.errors import check_kind
from hra.model.arrays import POSITIVE, whole_in
from hra.model.hierarchy import Hierarchy
from hra.model.sets import drop_without_predecessors

# Measuring distances takes longer than looking for cracks.
_MEASURED_EVERY = 10
# Each takes a pass over its triangles: more would seem to hang.
_MOST_CUTS = 1_000_000
# Of the sums of the check itself, not of what is checked: points of needles are 1.6e-12 of the extent from them.
_ROUNDING = 1e-11


def is_closed(mesh: TriangleMesh) -> bool:
    """Whether the surface has no border: the signed boundary chain over positions is empty.

    Every cut of a cluster mesh is closed if its source is. A cut of an open source has a border that simplification may
    have shortened, so this check does not apply to it.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import meshes
    >>> corners, sides = np.vstack([np.zeros(3), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    >>> meshes.is_closed(meshes.from_arrays(corners, sides)), meshes.is_closed(meshes.from_arrays(corners, sides[:3]))
    (True, False)
    """
    check_kind("mesh", mesh, TriangleMesh, "pass one such as meshes.load(path); check tests clusters")
    _, corners = weld(mesh.positions, mesh.triangles)
    return not len(boundary_chain(corners)[0])


@dataclass(frozen=True)
class CheckReport:
    """What `check` found. The first six counts are of violations, all 0 for a sound mesh.

    Attributes
    ----------
    falling_errors, falling_bounds : clusters whose group was simplified to something with a smaller value.
    loose_spheres, loose_boxes : clusters whose sphere or box sticks out of that of the group that they were simplified
        to, or whose triangles stick out of their own box.
    cracked_cuts : random cuts with a border inside of the source's surface.
    exceeded_bounds : random cuts of which a sample is farther from the source, or a sample of the source from them,
        than their bound on Hausdorff's distance.
    cuts, measured_cuts, samples : cuts that were tried for cracks, those of them that were measured (none without
        bounds), and the points of the source and of the cut that were measured on each.
    closed : whether the source has no border.
    largest_share : of a sampled distance in the bound of its cut; the bound holds up to 1.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> report = meshes.check(meshes.build(hra.samples.path("skull.ply")), cuts=2, samples=10)
    >>> report.falling_errors, report.cracked_cuts
    (0, 0)
    """

    falling_errors: int
    falling_bounds: int
    loose_spheres: int
    loose_boxes: int
    cracked_cuts: int
    exceeded_bounds: int
    cuts: int
    measured_cuts: int
    samples: int
    closed: bool
    largest_share: float

    @property
    def sound(self) -> bool:
        """Whether nothing was violated."""
        bounds = (self.falling_errors, self.falling_bounds, self.loose_spheres, self.loose_boxes)
        return not any((*bounds, self.cracked_cuts, self.exceeded_bounds))


def check(clusters: ClusterMesh, *, cuts: int = 200, samples: int = 2000, seed: int = 0) -> CheckReport:
    """Test what a cluster mesh promises: monotone errors, nested bounds, cuts without cracks, distances within bounds.

    Parameters
    ----------
    cuts : random down-closed sets of groups that are tried for cracks, from a few groups to nearly all; every tenth is
        measured against the source.
    samples : points of the source, and of such a cut, evenly spread, whose distance from the other is measured.

    Raises
    ------
    HraError : no clusters, ``cuts`` is not a whole number from 0 to 1,000,000, a seed below 0, or no samples.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.check(meshes.build(hra.samples.path("skull.ply")), cuts=2, samples=10).sound
    True
    """
    check_kind("clusters", clusters, ClusterMesh, "pass meshes.build(mesh), or load_clusters(path)")
    cuts, samples = whole_in("cuts", cuts, range(_MOST_CUTS + 1)), whole_in("samples", samples, POSITIVE)
    hierarchy, rng = clusters.hierarchy, np.random.default_rng(whole_in("seed", seed))
    chosen = [_random_cut(hierarchy, rng) for _ in range(cuts)]
    source = clusters.position_of[clusters.triangles(np.flatnonzero(hierarchy.removed_by < 0))]
    border = np.zeros(len(clusters.positions), bool)
    border[boundary_chain(source)[0]] = True
    enlarged = np.ones_like(border)
    enlarged[source] = False  # parts that were enlarged end where they do; nothing else shares their vertices
    border |= enlarged[clusters.position_of] & enlarged
    certified = "hausdorff" in hierarchy.node
    measured = chosen[::_MEASURED_EVERY] if certified else []
    whole = TriangleMesh(clusters.positions, source)
    # Samples can show that a bound is exceeded, not that it holds everywhere.
    shares = [_share_of_bound(clusters, cut, whole, samples, rng) for cut in measured]
    return CheckReport(
        falling_errors=_falling(hierarchy, "error"),
        falling_bounds=_falling(hierarchy, "hausdorff") if certified else 0,
        loose_spheres=_loose_spheres(hierarchy),
        loose_boxes=_loose_boxes(clusters),
        cracked_cuts=sum(_is_cracked(clusters.position_of[clusters.triangles(cut)], border) for cut in chosen),
        exceeded_bounds=sum(share > 1 for share in shares),
        cuts=cuts,
        measured_cuts=len(measured),
        samples=samples,
        closed=not (border & ~enlarged).any(),
        largest_share=max(shares, default=0.0),
    )


def _random_cut(hierarchy: Hierarchy, rng: np.random.Generator) -> np.ndarray:
    """The clusters of a random set of groups, less those that lack a predecessor.

    Either any set, which mixes all levels near the root, or those groups whose error times a random factor is large:
    of any set of a large mesh hardly more than the root would be left.
    """
    if rng.random() < 0.5:
        selected = rng.random(len(hierarchy)) < rng.random()
    else:
        offsets, products = hierarchy.removed_nodes
        error = hierarchy.attribute("error")[products[offsets[:-1]]].astype(np.float64)
        weight = np.maximum(error, np.finfo(np.float32).tiny) * rng.lognormal(0.0, rng.uniform(0.0, 1.5), error.size)
        selected = weight > np.quantile(weight, rng.random()) if error.size else np.zeros(0, bool)
    drop_without_predecessors(hierarchy.edges, selected)
    return np.flatnonzero(hierarchy.active_nodes(selected))


def _members(hierarchy: Hierarchy) -> tuple[np.ndarray, np.ndarray]:
    """Clusters that are simplified further, and for each one of the clusters that their group was simplified to."""
    members = np.flatnonzero(hierarchy.added_by >= 0)
    offsets, products = hierarchy.removed_nodes
    return members, products[offsets[hierarchy.added_by[members]]]


def _falling(hierarchy: Hierarchy, name: str) -> int:
    fine, coarse = _members(hierarchy)
    values = hierarchy.attribute(name)
    return int((values[coarse] < values[fine]).sum())


def _loose_spheres(hierarchy: Hierarchy) -> int:
    fine, coarse = _members(hierarchy)
    center = hierarchy.attribute("center").astype(np.float64)
    radius = hierarchy.attribute("radius").astype(np.float64)
    reach = np.linalg.norm(center[fine] - center[coarse], axis=1) + radius[fine]
    return int((reach > radius[coarse] * (1 + _ROUNDING)).sum())


def _loose_boxes(clusters: ClusterMesh) -> int:
    """Exact: a union of boxes only compares coordinates."""
    fine, coarse = _members(clusters.hierarchy)
    box = clusters.hierarchy.attribute("box")
    own = vertex_boxes(clusters.positions, clusters.indices, clusters.offsets)
    loose = _sticks_out(own, box)
    loose[fine] |= _sticks_out(box[fine], box[coarse])
    return int(loose.sum())


def _sticks_out(inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    outside: np.ndarray = (inner[:, 0] < outer[:, 0]) | (inner[:, 1] > outer[:, 1])
    return np.any(outside, axis=1)


def _is_cracked(triangles: np.ndarray, border: np.ndarray) -> bool:
    """Whether the surface ends anywhere but at the source's border, which simplification may have shortened."""
    return not border[boundary_chain(triangles)[0]].all()


def _share_of_bound(
    clusters: ClusterMesh, cut: np.ndarray, source: TriangleMesh, samples: int, rng: np.random.Generator
) -> float:
    """Largest distance of samples of the ``source`` and of a cut from the other one, as a share of the bound."""
    bound = float(clusters.hierarchy.attribute("hausdorff")[cut].max())
    surface = TriangleMesh(clusters.positions, clusters.triangles(cut))
    farthest = max(_farthest(source, surface, samples, rng), _farthest(surface, source, samples, rng))
    rounding = _ROUNDING * float(np.ptp(clusters.bounds, axis=0).max())
    excess = max(farthest - rounding, 0.0)
    return excess / bound if bound else float("inf") if excess else 0.0


def _farthest(sampled: TriangleMesh, other: TriangleMesh, samples: int, rng: np.random.Generator) -> float:
    """The largest distance of ``samples`` points of a surface from another one."""
    return float(nearest_distances(surface_points(sampled, samples, rng), other.positions, other.triangles).max())
