"""What the picture loses if one node alone is drawn instead of all below it.

Every pixel keeps the leaves that cover it, from front to back, those behind opaque ones as well: what a coarser node
leaves open shows them. This is the A-buffer of L. Carpenter, The A-buffer, an Antialiased Hidden Surface Method (1984).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hra.camera import Camera
from hra.domains.points.point_cloud import PointCloud
from hra.domains.points.splat_cloud import SplatCloud
from hra.domains.points.viewer.footprints import alpha_at, footprints
from hra.domains.points.viewer.gaussians import OPAQUE

# Pixels of leaves that are listed at a time, by rows of the picture: 8 bytes each.
_LISTED = 1 << 25


def swap_errors(cloud: PointCloud | SplatCloud, parent: np.ndarray, camera: Camera, background: float) -> np.ndarray:
    """Squared error over all pixels and colours of drawing each node instead of the leaves below it, float64 [N].

    Parameters
    ----------
    cloud : all nodes of a tree in level order; parent : int [N]. background : grey behind all.
    """
    shapes, (width, height) = footprints(cloud, camera), camera.viewport
    box = shapes.box.copy()
    first, last = _spans(parent, box)
    leaves = np.flatnonzero(last - first == 1)
    leaves = leaves[np.argsort(shapes.depth[leaves], kind="stable")]
    colors, error = cloud.colors.astype(float), np.zeros(len(parent))
    hard = isinstance(cloud, PointCloud)
    rows = _rows(shapes.box[leaves], height)
    for top in range(0, height, rows):
        band = top, min(top + rows, height), width
        layers = _layers(leaves, *shapes, hard, *band)
        _add_changes(*layers, first, last, box, *shapes[:4], hard, colors, background, *band, error)
    return error


def _rows(boxes: np.ndarray, height: int) -> int:
    covered = np.prod(boxes[:, 1::2] - boxes[:, ::2], axis=1, dtype=np.int64).sum()
    return int(np.clip(height * _LISTED // max(covered, 1), 1, height))


@njit(cache=True, nogil=True)
def _spans(parent, box):
    """The leaves below v become numbers first[v] to last[v]; its box becomes one around theirs, too."""
    first, following = np.zeros(parent.size, np.int64), np.zeros(parent.size, np.int64)
    last = np.ones(parent.size, np.int64)
    last[parent[1:]] = 0
    for v in range(parent.size - 1, 0, -1):
        p = parent[v]
        last[p] += last[v]
        if box[v, 0] < box[v, 1] and box[v, 2] < box[v, 3]:
            empty = box[p, 0] >= box[p, 1] or box[p, 2] >= box[p, 3]
            for k in range(4):
                outer = min(box[p, k], box[v, k]) if k % 2 == 0 else max(box[p, k], box[v, k])
                box[p, k] = box[v, k] if empty else outer
    for v in range(parent.size):
        if v > 0:
            first[v] = following[parent[v]]
            following[parent[v]] += last[v]
        following[v] = first[v]
    return first, first + last


@njit(cache=True, nogil=True)
def _layers(leaves, center, conic, opacity, depth, box, hard, top, bottom, width):
    """Of each pixel, row after row, from front to back: the nodes start[i] to start[i + 1] and what they cover."""
    start = np.zeros((bottom - top) * width + 1, np.int64)
    node, alpha = np.empty(0, np.int32), np.empty(0, np.float32)
    for filling in range(2):
        for v in leaves:
            for row in range(max(box[v, 0], top), min(box[v, 1], bottom)):
                for column in range(box[v, 2], box[v, 3]):
                    share = alpha_at(center[v, 0], center[v, 1], conic[v], opacity[v], hard, row, column)
                    if share > 0.0:
                        i = (row - top) * width + column
                        if filling:
                            node[start[i]], alpha[start[i]] = v, share
                        start[i if filling else i + 1] += 1
        if not filling:
            start = np.cumsum(start)
            node, alpha = np.empty(start[-1], np.int32), np.empty(start[-1], np.float32)
    # Filling moved each start to the next one.
    start[1:] = start[:-1].copy()
    start[0] = 0
    return start, node, alpha


@njit(cache=True, nogil=True)
def _add_changes(
    start, node, alpha, first, last, box, center, conic, opacity, depth, hard, colors, background, top, bottom, width,
    error,
):  # fmt: skip
    for v in range(error.size):
        if last[v] - first[v] == 1:
            continue
        for row in range(max(box[v, 0], top), min(box[v, 1], bottom)):
            for column in range(box[v, 2], box[v, 3]):
                i = (row - top) * width + column
                own = alpha_at(center[v, 0], center[v, 1], conic[v], opacity[v], hard, row, column)
                if own == 0.0 and start[i] == start[i + 1]:
                    continue
                entries = start[i], start[i + 1]
                change = _change(entries, node, alpha, first, (first[v], last[v]), v, own, depth, colors, background)
                error[v] += change[0] ** 2 + change[1] ** 2 + change[2] ** 2


@njit(cache=True, nogil=True)
def _change(entries, node, alpha, number, below, v, own, depth, colors, background):
    """A pixel with ``v``, which covers ``own`` of it, for the leaves ``below``, minus the pixel as it is."""
    change, before, after = (0.0, 0.0, 0.0), 1.0, 1.0
    waiting = own > 0.0
    for i in range(entries[0], entries[1] + 1):
        end = i == entries[1]
        if waiting and (end or depth[node[i]] >= depth[v]):
            waiting = False
            change = _plus(change, own * after, colors[v])
            after -= own * after
        if end or max(before, after) < OPAQUE:
            break
        kept = 0.0 if below[0] <= number[node[i]] < below[1] else alpha[i] * after
        change = _plus(change, kept - alpha[i] * before, colors[node[i]])
        before, after = before - alpha[i] * before, after - kept
    rest = (after - before) * background
    return change[0] + rest, change[1] + rest, change[2] + rest


@njit(cache=True, nogil=True)
def _plus(change, share, color):
    return change[0] + share * color[0], change[1] + share * color[1], change[2] + share * color[2]
