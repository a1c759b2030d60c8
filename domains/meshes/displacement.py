"""Errors of clusters on the screen: upper bounds of displacements, and squared displacements over the picture.

Both start from the source clusters, whose boxes are small, and sweep from fine to coarse over the groups.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.camera import Camera
from hra.domains.meshes.views import View
from hra.model.hierarchy import Hierarchy

# Mean of |cos| between the view direction and a surface of any orientation (Cauchy): what an area shrinks to on screen.
_MEAN_FACING = 0.5


def source_pixels(hierarchy: Hierarchy, camera: Camera) -> np.ndarray:
    """The most pixels that a unit covers in each source cluster's box, float64 [N]; 0 out of view and if coarser."""
    return camera.visible_pixels_per_unit_in_boxes(hierarchy.attribute("box"), hierarchy.removed_by < 0)


def largest_displacements(hierarchy: Hierarchy, distances: np.ndarray, view: View, pixels: np.ndarray) -> np.ndarray:
    """The most pixels that a visible point of the source moves when a cluster represents it, float64 [N].

    A point p moves along a segment no longer than the cluster's distance d. Let s be the pixels per unit at p, f the
    focal length and x = d s / f. The segment comes nearer to the eye by at most the share x of p's depth, so that
    nothing on it is stretched by more than s (1 + x) / (1 - x)**2. Here s is the largest of all source clusters beneath
    that are in view. The sphere and the box of the cluster itself, which nest, bound the segment as well; as they
    reach nearer to the eye than any surface in them, they are the smaller bound only where x is near 1, or by a percent
    or two; they hold for the part of the segment that is in view. The smaller number counts. It never falls from fine
    to coarse.

    Parameters
    ----------
    distances : [N], object units, equal in a group.
    pixels : [N], `source_pixels`, 0 for clusters that are known to be hidden; overwritten.
    """
    boxes, camera = hierarchy.attribute("box"), view.camera
    (removed_at, removed), leads = hierarchy.removed_nodes, np.zeros(len(boxes), np.bool_)
    leads[removed[removed_at[:-1][np.diff(removed_at) > 0]]] = True
    nested = camera.visible_pixels_per_unit(hierarchy.attribute("center"), hierarchy.attribute("radius"), leads)
    nested = np.minimum(nested, camera.visible_pixels_per_unit_in_boxes(boxes, leads))
    acuity = view.acuity(boxes)
    counted = pixels * acuity
    result = distances * counted
    focal = camera.focal_pixels if camera.is_perspective else np.inf
    order = (*hierarchy.added_nodes, removed_at, removed)
    _raise(*order, distances, nested * acuity, focal, pixels, counted, result)
    return result


@njit(cache=True)
def _raise(added_at, added, removed_at, removed, distances, nested, focal, pixels, counted, result):
    """Pass ``pixels`` [N], plain and as they are ``counted``, and ``result`` [N] on from fine to coarse."""
    for r in range(added_at.size - 2, -1, -1):
        nearest, largest, finer = 0.0, 0.0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            nearest = max(nearest, pixels[added[k]])
            largest = max(largest, counted[added[k]])
            finer = max(finer, result[added[k]])
        for k in range(removed_at[r], removed_at[r + 1]):
            c = removed[k]
            pixels[c], counted[c] = nearest, largest
            nearer = distances[c] * nearest / focal
            own = distances[c] * nested[removed[removed_at[r]]]
            if nearer < 1.0:
                own = min(own, distances[c] * largest * (1.0 + nearer) / (1.0 - nearer) ** 2)
            result[c] = max(finer, own)


def mean_squares(hierarchy: Hierarchy, distances: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Squared displacement that each cluster adds to the mean over the viewport's pixels, float64 [N], px2.

    Parameters
    ----------
    distances : [N], object units.
    weights : [N], `source_weights`, also sums of them; overwritten.
    """
    _spread(*hierarchy.added_nodes, *hierarchy.removed_nodes, hierarchy.attribute("area"), weights)
    return np.square(distances.astype(np.float64)) * weights


def source_weights(hierarchy: Hierarchy, view: View, pixels: np.ndarray) -> np.ndarray:
    """What a squared error of one unit in each source cluster adds to the mean over the viewport, float64 [N].

    It is the squared pixels per unit times the share of the viewport that the cluster covers: an estimate, half of its
    surface area at that scale and at most all of the viewport. 0 for coarser clusters and for those out of view.

    Parameters
    ----------
    pixels : [N], `source_pixels`, 0 for clusters that are known to be hidden; overwritten.
    """
    width, height = view.camera.viewport
    acuity = view.acuity(hierarchy.attribute("box"))
    _weigh(pixels, acuity, hierarchy.attribute("area"), _MEAN_FACING / (width * height))
    return pixels


@njit(cache=True)
def _weigh(pixels, acuity, area, share):
    """Turn pixels per unit [N] into weights in place; ``share`` of the view is what a square pixel covers."""
    for v in range(pixels.size):
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
