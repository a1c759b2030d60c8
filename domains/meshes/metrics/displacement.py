"""Errors of clusters on the screen: upper bounds of displacements, and squared displacements over the picture.

Both start from the source clusters, whose boxes are small, and sweep from fine to coarse over the groups.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from hra.camera import Camera
from hra.camera.view import View
from hra.compiling import njit
from hra.domains.meshes.distances.box_tree import nearest_distances
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.ragged import take_runs
from hra.model.hierarchy import Hierarchy

# Mean of |cos| between the view direction and a surface of any orientation (Cauchy): what an area shrinks to on screen.
MEAN_FACING = 0.5
# `least_displacement` looks at so many vertices, and pairs of vertex and triangle, at once: a quarter of a second.
_AT_ONCE, _MOST_TESTS = 2048, 2**31


def source_pixels(hierarchy: Hierarchy, camera: Camera) -> np.ndarray:
    """The most pixels that a unit covers in each source cluster's box, float64 [N]; 0 out of view and if coarser."""
    return _seen_sources(hierarchy, camera).copy()


# Of the last pair of hierarchy and camera, weak references, and what `_seen_sources` found.
_last = threading.local()


def _seen_sources(hierarchy: Hierarchy, camera: Camera) -> np.ndarray:
    """`source_pixels`, to be copied before it is written to.

    An allocation asks for gains and then for largest errors, and half of the time of both went into this one question.
    """
    weak_hierarchy, weak_camera, seen = getattr(_last, "found", (_gone, _gone, None))
    if weak_hierarchy() is hierarchy and weak_camera() is camera and seen is not None:
        return seen
    seen = camera.visible_pixels_per_unit_in_boxes(hierarchy.node["box"], hierarchy.removed_by < 0)
    # The array goes with the camera, so that nothing is kept of a mesh that is done with.
    _last.found = weakref.ref(hierarchy), weakref.ref(camera, _forget), seen
    return seen


def _gone() -> None:
    """A reference to nothing."""


def _forget(camera: Any) -> None:
    if getattr(_last, "found", (_gone, None))[1] is camera:
        del _last.found


class Sources(NamedTuple):
    """The source clusters as a camera sees them.

    Attributes
    ----------
    pixels : float64 [N], the most pixels that a unit covers in each source cluster's box; 0 for coarser clusters.
    apart : float64 [N], how far the box is at least from all that is in view, object units; 0 in view.
    """

    pixels: np.ndarray
    apart: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        """``pixels``, 0 out of view."""
        return np.where(self.apart > 0, 0.0, self.pixels)

    def only(self, visible: np.ndarray) -> Sources:
        """The same where ``visible`` (bool [N]); other clusters never count, in or beside the view."""
        return Sources(np.where(visible, self.pixels, 0.0), self.apart)


def sources_of(hierarchy: Hierarchy, camera: Camera, *, beside_view: bool = True) -> Sources:
    """The source clusters of a mesh, by their boxes, in the coordinates of the camera; those ``beside_view``, too."""
    seen = _seen_sources(hierarchy, camera)
    if not beside_view:
        return Sources(seen, np.zeros(len(seen)))
    # What a unit covers in view is above 0.
    beside, apart = camera.boxes_near_view(hierarchy.node["box"], (hierarchy.removed_by < 0) & (seen == 0.0))
    return Sources(seen + beside, apart)


def largest_displacements(
    hierarchy: Hierarchy, distances: np.ndarray, view: View, sources: Sources, *, both_sides: bool
) -> np.ndarray:
    """The most pixels that visible points move between the source and a cluster that represents it, float64 [N].

    A point p of the source moves along a segment no longer than the cluster's distance d. Let s be the pixels per unit
    at p, f the focal length and x = d s / f. The segment comes nearer to the eye by at most the share x of p's depth,
    so that nothing on it is stretched by more than s (1 + x) / (1 - x)**2. Here s is the largest of all source clusters
    beneath that are in view. The sphere and the box of the cluster itself, which nest, bound the segment as well; as
    they reach nearer to the eye than any surface in them, they are the smaller bound only where x is near 1, or by a
    percent or two; they hold for the part of the segment that is in view. The smaller number counts. It never falls
    from fine to coarse.

    A visible point of the cluster is no farther than d from a point of the source, which may be out of view: something
    sticks into the picture. For this side, source clusters no farther than d out of view count as if they were in view.
    All that are beneath the same clusters as one of these count with it, which is more than needed.

    Parameters
    ----------
    distances : [N], object units, equal in a group.
    both_sides : whether points of the cluster count that are not in the source.
    """
    boxes, camera = hierarchy.node["box"], view.camera
    (removed_at, removed), nested = hierarchy.removed_nodes, np.zeros(len(hierarchy))
    # Clusters of one group have the same sphere and box: one of them is projected for all.
    groups = np.flatnonzero(np.diff(removed_at))
    leads = removed[removed_at[groups]]
    spheres = (hierarchy.node[name][leads] for name in ("center", "radius"))
    in_boxes = camera.visible_pixels_per_unit_in_boxes(boxes[leads])
    nested[groups] = np.minimum(camera.visible_pixels_per_unit(*spheres), in_boxes)
    acuity, pixels = view.acuity(boxes), sources.seen
    outside = np.where(both_sides & (sources.apart > 0), sources.pixels, 0.0)
    # What has no pixels, because it is hidden or coarse, is at no distance that could bring it into view.
    apart = np.where(outside > 0, sources.apart, np.inf)
    counted = pixels * acuity
    result = distances * counted
    focal = camera.focal_pixels if camera.is_perspective else np.inf
    order = (hierarchy.added_nodes, (removed_at, removed))
    _raise(*order, distances, nested, acuity, focal, (pixels, counted, np.zeros(len(pixels)), outside, apart), result)
    return result


@njit(cache=True)
def _raise(adds, removes, distances, nested, acuity, focal, passed, result):
    """Pass what is known of the sources, and ``result`` [N], on from fine to coarse.

    ``nested`` [R] are the pixels per unit of each group's sphere and box. ``passed`` are arrays [N]: pixels per unit of
    what is in view, plain and as they are counted, of what counts though it is out of view, of what does not count yet,
    and how far from the view that is.
    """
    (added_at, added), (removed_at, removed) = adds, removes
    pixels, counted, beside, outside, apart = passed
    # Refinements are in level order: backwards, all that a group's members were made from is done before the group.
    for r in range(added_at.size - 2, -1, -1):
        nearest, largest, besides, others, gap, finer = 0.0, 0.0, 0.0, 0.0, np.inf, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            c = added[k]
            nearest, largest, finer = max(nearest, pixels[c]), max(largest, counted[c]), max(finer, result[c])
            besides, others, gap = max(besides, beside[c]), max(others, outside[c]), min(gap, apart[c])
        for k in range(removed_at[r], removed_at[r + 1]):
            c, lead = removed[k], removed[removed_at[r]]
            # The cluster may stick into the view: what lies beside it counts from here on, for all above it, too.
            if gap <= distances[c]:
                besides, others, gap = max(besides, others), 0.0, np.inf
            pixels[c], counted[c], beside[c], outside[c], apart[c] = nearest, largest, besides, others, gap
            # x of `largest_displacements`, by the largest scale of everything beneath that counts.
            nearer = distances[c] * max(nearest, besides) / focal
            own = distances[c] * nested[r] * acuity[lead]
            if nearer < 1.0:
                moved = distances[c] * max(largest, besides * acuity[lead])
                own = min(own, moved * (1.0 + nearer) / (1.0 - nearer) ** 2)
            # Never less than a finer one's, or a threshold would open a group beneath one that it keeps closed.
            result[c] = max(finer, own)


def least_displacement(
    mesh: ClusterMesh,
    hierarchy: Hierarchy,
    views: Sequence[View],
    certified: bool,
    peak: np.ndarray,
    selected: np.ndarray,
) -> float:
    """How far, in pixels, some visible vertex of the source is from the cut of the refinements ``selected`` bool [R].

    Its distance counts as in `largest_displacements`: times the most pixels that a unit covers at the vertex, and what
    a pixel counts there: a bound on the cut's error is not below it, an estimate may be. Vertices beneath the largest
    come first, until no bound is above what was found, or the time is up.

    Parameters
    ----------
    hierarchy : of the mesh, with any costs.
    certified : whether ``peak`` float64 [R], the error of each refinement that is not taken, bounds it.
    """
    active, bound, least = hierarchy.active_nodes(selected), peak.copy(), 0.0
    _hand_down(*hierarchy.predecessors, selected, bound)
    sources = np.flatnonzero((hierarchy.removed_by < 0) & ~active & (hierarchy.added_by >= 0))
    sources = sources[np.argsort(-bound[hierarchy.added_by[sources]], kind="stable")]
    cut, shown = mesh.triangles(np.flatnonzero(active)), np.zeros(len(mesh.positions), np.bool_)
    shown[cut] = True
    most = max(_MOST_TESTS // len(cut), 1)
    # A vertex of the source is in six of its triangles.
    sources = sources[: int(np.searchsorted(np.cumsum(np.diff(mesh.offsets)[sources]), 6 * most)) + 1]
    indices, offsets = take_runs(mesh.indices, mesh.offsets, sources)
    first = np.sort(np.unique(indices, return_index=True)[1])
    first = first[~shown[indices[first]]][:most]
    bound = np.repeat(bound[hierarchy.added_by[sources]], np.diff(offsets))[first]
    for begin in range(0, len(first), _AT_ONCE):
        if certified and least >= bound[begin]:
            break
        points = mesh.positions[indices[first[begin : begin + _AT_ONCE]]].astype(np.float64)
        pixels = reduce(np.maximum, [_counted_pixels(points, view) for view in views])
        seen = np.flatnonzero(pixels)
        distance = nearest_distances(points[seen], mesh.positions, cut)
        least = max(least, float((distance * pixels[seen]).max(initial=0.0)))
    # Where both are the same, either may be rounded.
    return min(least, float(peak[~selected].max(initial=0.0))) if certified else least


def _counted_pixels(points: np.ndarray, view: View) -> np.ndarray:
    """What a unit counts at each of the ``points`` [n, 3], as `largest_displacements` has it; 0 out of view."""
    pixels = view.camera.visible_pixels_per_unit(points, np.zeros(len(points)))
    return pixels * view.acuity(np.stack([points, points], axis=1).astype(np.float32))


@njit(cache=True)
def _hand_down(offsets, predecessors, selected, bound):
    """Raise the ``bound`` [R] of what is not ``selected`` to that of whatever comes before it and is not either."""
    for r in range(bound.size):
        for k in range(offsets[r], offsets[r + 1]):
            if not selected[predecessors[k]]:
                bound[r] = max(bound[r], bound[predecessors[k]])


def mean_squares(hierarchy: Hierarchy, distances: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Squared displacement that each cluster adds to the mean over the viewport's pixels, float64 [N], px2.

    Parameters
    ----------
    distances : [N], object units.
    weights : [N], `source_weights`, also sums of them; overwritten.
    """
    spread_by_area(hierarchy, weights)
    return np.square(distances.astype(np.float64)) * weights


def spread_by_area(hierarchy: Hierarchy, weights: np.ndarray) -> None:
    """Pass what source clusters weigh, float64 [N], on to coarser ones in place: every cut then weighs the same."""
    _spread(*hierarchy.added_nodes, *hierarchy.removed_nodes, hierarchy.node["area"], weights)


def source_weights(hierarchy: Hierarchy, view: View, pixels: np.ndarray) -> np.ndarray:
    """What a squared error of one unit in each source cluster adds to the mean over the viewport, float64 [N].

    It is the squared pixels per unit times the share of the viewport that the cluster covers: an estimate, half of its
    surface area at that scale and at most all of the viewport. 0 for coarser clusters and for those out of view.

    Parameters
    ----------
    pixels : [N], `source_pixels`, 0 for clusters that are known to be hidden; overwritten.
    """
    width, height = view.camera.viewport
    _weigh(pixels, _acuity(hierarchy, view, pixels), hierarchy.node["area"], MEAN_FACING / (width * height))
    return pixels


def _acuity(hierarchy: Hierarchy, view: View, pixels: np.ndarray) -> np.ndarray:
    """The view's acuity in the clusters of ``pixels`` [N] above 0, of no meaning in others; float64 [N]."""
    boxes = hierarchy.node["box"]
    if view.even:
        return view.acuity(boxes)
    acuity, seen = np.ones(len(boxes)), np.flatnonzero(pixels)
    acuity[seen] = view.acuity(boxes[seen])
    return acuity


@njit(cache=True)
def _weigh(pixels, acuity, area, share):
    """Turn pixels per unit [N] into weights in place; ``share`` of the view is what a square pixel covers."""
    for v in range(pixels.size):
        # Pixels per unit, squared, are square pixels per unit of area.
        square = pixels[v] * pixels[v]
        pixels[v] = acuity[v] * acuity[v] * square * min(area[v] * square * share, 1.0)


@njit(cache=True)
def _spread(added_at, added, removed_at, removed, area, weight):
    """Give the clusters of each group the ``weight`` of the group's members, shared by ``area``, from fine to coarse.

    Each group passes its whole weight on, so that the error never falls from fine to coarse.
    """
    for r in range(added_at.size - 2, -1, -1):
        total, surface = 0.0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            total += weight[added[k]]
        for k in range(removed_at[r], removed_at[r + 1]):
            surface += area[removed[k]]
        count = removed_at[r + 1] - removed_at[r]
        for k in range(removed_at[r], removed_at[r + 1]):
            share = area[removed[k]] / surface if surface > 0.0 else 1.0 / count
            weight[removed[k]] = total * share
