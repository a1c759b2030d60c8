"""Errors of clusters by the change that they make in a picture: where the surface is, and how it is lit.

A threshold on normals alone would draw most triangles where they help least: a rough place needs many of them to look a
little better. Groups are ordered by what their triangles gain for the picture instead, and a group's error is the mean
change of the picture at which it is its turn to be drawn.
"""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.camera.view import View
from hra.compiling import njit
from hra.domains.meshes.metrics.displacement import spread_by_area
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy

# A change of normals by n, a root mean square, looks as bad as a displacement of this many times its root in pixels. At
# it a mean change of 1 is a mean FLIP of 0.013 to 0.019, see "Frames beside full detail" in the
# laboratory's decisions.md.
_PIXELS_OF_NORMALS = 6.5
# Clusters that face away as a whole may have triangles that do not.
_LEAST_FACING = 0.02
_FIX = "build(.., appearance=True), `hra mesh build --appearance`, or meshes.with_appearance(clusters) for a built mesh"


def check_appearance(hierarchy: Hierarchy) -> None:
    """Raise `MetricError` if a mesh was built without what `appearance_errors` reads."""
    if not {"normal_change", "facing"} <= set(hierarchy.node):
        what = "the mesh was built without the changes of normals that ScreenError('appearance') reads"
        raise MetricError(what, where="metric", fix=_FIX)


def appearance_errors(hierarchy: Hierarchy, view: View, pixels: np.ndarray, displaced: np.ndarray) -> np.ndarray:
    """The larger of the displacement and the mean change of the picture at which each cluster is drawn, float64 [N].

    A cluster changes the picture by its displacement in pixels, and by its normals as much as ``6.5 sqrt(n)`` pixels
    would, where n is their root mean square difference from the source's. The mean is over the source that is in view
    and faces the eye, by its area on the screen. With ``Threshold(tau)`` both are at most tau: no point moves farther,
    and by this estimate the picture changes by no more on average. Never falls from fine to coarse; 0 out of view.

    The groups come in one order: by the larger of their displacement and of their gain, which is the mean change that
    their finer triangles take away, for each of these, in parts of the gain at which the mean is 1. So a tolerance of 1
    draws few triangles; at others both limits hold, too.

    Parameters
    ----------
    pixels : float64 [N], the most pixels that a unit covers in each source cluster, 0 for coarser ones and out of view.
    displaced : float64 [N], the largest displacement of each cluster in pixels, equal in a group, monotone.

    References
    ----------
    Cohen, Olano, Manocha, Appearance-preserving simplification, SIGGRAPH 1998: what a simplified surface should keep.
    """
    weight = _visible_area(hierarchy, view.camera, pixels)
    order = hierarchy.added_nodes, hierarchy.removed_nodes
    groups = len(hierarchy)
    moved, step, gain = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    lit = _PIXELS_OF_NORMALS * np.sqrt(hierarchy.attribute("normal_change").astype(np.float64))
    lit *= view.acuity(hierarchy.attribute("box"))
    links = hierarchy.removed_by, hierarchy.node_cost
    _weigh(*order, *links, weight, displaced, displaced + lit, moved, step, gain)
    drawn_at = _drawn_at(moved, step, gain)
    result = displaced.astype(np.float64)
    coarse = np.flatnonzero(hierarchy.removed_by >= 0)
    result[coarse] = drawn_at[hierarchy.removed_by[coarse]]
    return result


def _visible_area(hierarchy: Hierarchy, camera: Camera, pixels: np.ndarray) -> np.ndarray:
    """The share of each cluster in the source's area on the screen, by mean normals; float64 [N], 1 in each cut."""
    facing, box = hierarchy.attribute("facing"), hierarchy.attribute("box")
    seen, weight = np.flatnonzero(pixels > 0), np.zeros(len(pixels))
    towards = _towards(camera, box[seen].mean(axis=1, dtype=np.float64))
    ahead = np.einsum("na,na->n", facing[seen, :3], towards)
    # From behind a closed surface shows nothing, an open one its back.
    turned = np.maximum(ahead, -ahead * facing[seen, 3])
    weight[seen] = (np.maximum(turned, 0.0) + _LEAST_FACING) * hierarchy.attribute("area")[seen] * pixels[seen] ** 2
    total = weight.sum()
    if total > 0.0:
        weight /= total
    spread_by_area(hierarchy, weight)
    return weight


def _towards(camera: Camera, points: np.ndarray) -> np.ndarray:
    """Unit vectors from ``points`` [n, 3] to the eye."""
    if camera.is_perspective:
        towards = camera.position - points
    else:
        # The last row of the inverse view's rotation, whatever it scales by.
        towards = np.broadcast_to(np.linalg.inv(camera.view[:3, :3])[:, 2], points.shape)
    length = np.linalg.norm(towards, axis=1, keepdims=True)
    return np.divide(towards, length, out=np.zeros(points.shape), where=length > 0.0)


@njit(cache=True)
def _weigh(adds, removes, removed_by, cost, weight, displaced, change, moved, step, gain):
    """For each group: its displacement, what it adds to the mean change, and that for each triangle less, raised.

    ``weight`` [N] is the share in the picture, ``change`` [N] what the cluster changes there, not less than finer ones.
    """
    (added_at, added), (removed_at, removed) = adds, removes
    for r in range(added_at.size - 2, -1, -1):
        before, after, saved, finer = 0.0, 0.0, 0.0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            c = added[k]
            saved += cost[c]
            # Source clusters change nothing: they are what is compared with.
            if removed_by[c] >= 0:
                before += weight[c] * change[c]
                finer = max(finer, gain[removed_by[c]])
        for k in range(removed_at[r], removed_at[r + 1]):
            c = removed[k]
            moved[r] = max(moved[r], displaced[c])
            after += weight[c] * change[c]
            saved -= cost[c]
        step[r] = max(after - before, 0.0)
        # Finer groups come first, or the sums over those that are drawn would not be their changes.
        gain[r] = max(step[r] / max(saved, 1.0), finer)


def _drawn_at(moved: np.ndarray, step: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The error of each group [R]: the mean change once it is drawn, or its displacement where that is larger."""
    near = moved <= 1.0
    turn = np.maximum(moved, gain / _level_of_one(step[near], gain[near]))
    order = np.argsort(turn, kind="stable")
    total = np.cumsum(step[order])
    # What has the same turn is drawn together.
    last = np.searchsorted(turn[order], turn, side="right") - 1
    return np.maximum(moved, total[last])


def _level_of_one(step: np.ndarray, gain: np.ndarray) -> float:
    """The largest gain whose groups, and all of less, change the picture by 1 at most; the largest where all do."""
    order = np.argsort(gain, kind="stable")
    over = np.searchsorted(np.cumsum(step[order]), 1.0, side="right")
    if over < len(order):
        # A little less than that of the first group that is too much.
        return float(gain[order[over]]) * (1.0 - 1e-9)
    return float(gain.max(initial=0.0)) or 1.0
