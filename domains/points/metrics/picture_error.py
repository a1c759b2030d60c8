"""What coarser points and splats change in a picture: found from the picture, not from bounds.

Every node and leaf has a footprint on the screen, as the renderer draws it. Every pixel keeps the leaves that cover it,
from front to back, those behind opaque ones as well: what a coarser node leaves open shows them. This is the A-buffer
of L. Carpenter, The A-buffer, an Antialiased Hidden Surface Method (1984). A node's error is what the picture loses if
that node alone is drawn instead of all below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

import hra
from hra.camera import Camera, views_of
from hra.compiling import njit, njit_uncounted
from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.domains.points.cloud.moments import at_least_the_children
from hra.domains.points.metrics.cloud_error import acuity_of
from hra.domains.points.pictures.rendering import LEAST, OPAQUE, REACH, disc_radii, projected_covariances
from hra.errors import MetricError, check_kind

# Where even an opaque Gaussian covers less than the least.
_FARTHEST = -2 * float(np.log(LEAST))
# Pixels of leaves that are listed at a time, by rows of the picture: 36 bytes each.
_LISTED = 1 << 23
# A pixel with no more leaves of a node than this is composited anew only where they are.
_FEW = 32
# What opaque leaves let through, so that ratios of light exist; where too many of them make these vanish, all leaves
# of a pixel are passed through one by one.
_NOTHING, _DARK = 1e-12, 1e-280


@final
@dataclass(frozen=True)
class PictureError(hra.ErrorMetric):
    """Squared error of the picture if one node alone were coarse, summed over pixels; the context as for `CloudError`.

    Every pixel is composited twice: with the leaves below the node, and with the node in their place. What is hidden
    loses nothing, what sticks out of an outline or leaves a hole counts with the colour that it hides or shows. That
    several nodes are coarse at once is not seen: the errors of a cut add up to an estimate, and no gap is claimed.

    All leaves are projected and listed by pixel, which takes longer than `CloudError`, and what the pictures do not
    show stays coarse: for an eye that moves pass several cameras, or use `CloudError`.

    Parameters
    ----------
    background : grey behind the cloud, 0 .. 1, as for `render`.

    Raises
    ------
    MetricError : a background out of range; a hierarchy that is not a cloud's.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, -1], [0, 0, 0], [0, 0, 1]], radii=[0.1, 0.1, 2]))
    >>> front = hra.Camera.orbit(tree.bounds, distance=9, up=(0, 1, 0), viewport=(64, 64))
    >>> points.PictureError().evaluate(tree.hierarchy, front).shape
    (5,)
    """

    background: float = 1.0

    unit = "color2 px"
    additive = False

    def __post_init__(self) -> None:
        check_kind("background", self.background, (int, float, np.number), "pass a number from 0 to 1")
        if not 0 <= self.background <= 1:
            raise MetricError(f"the background {self.background!r} must be in 0 .. 1", where="PictureError")

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        """Squared error of every node, summed over pixels, float64 [N]."""
        kind = SplatCloud if "covariance" in hierarchy.node else PointCloud
        hierarchy.attribute("reach")
        nodes, parent = CloudTree(hierarchy, kind).take(slice(None)), np.asarray(hierarchy.node_parent)
        result = np.zeros(len(parent))
        for view in views_of(context):
            error = swap_errors(nodes, parent, view.camera, self.background)
            result += error * np.square(acuity_of(hierarchy, view, error > 0))
        at_least_the_children(parent, result)
        return result


class Footprints(NamedTuple):
    """The footprint of every point or splat in the picture.

    Attributes
    ----------
    center : float32 or float64 [N, 2], pixels. conic : float64 [N, 3], the inverse of the covariance, xx, xy, yy; of a
        disc that of its edge. opacity : float64 [N]. depth : float64 [N], grows with the distance.
    box : int32 [N, 4], rows from and to, columns from and to (not included); empty if it is not drawn.
    """

    center: np.ndarray
    conic: np.ndarray
    opacity: np.ndarray
    depth: np.ndarray
    box: np.ndarray


class Below(NamedTuple):
    """What is below each node: the leaves first[v] to last[v], int64 [N], in the ``box`` int32 [N, 4] around theirs.

    ``near`` float64 [N] is the least depth of them and the node.
    """

    first: np.ndarray
    last: np.ndarray
    box: np.ndarray
    near: np.ndarray


class Layers(NamedTuple):
    """What each pixel i shows, row after row, from front to back: nodes start[i] to start[i + 1] and what they cover.

    Attributes
    ----------
    start : int64 [pixels + 1]; node : int32 [E]; alpha : float32 [E].
    order, number : int32 [E], the same places of each pixel by the numbers of their leaves, see `Below`, and these.
    light : float64 [E], what all leaves before it in its pixel let through.
    rest : float32 [E, 3], the colour of the pixel from there on if all light came so far.
    veil : float64 [pixels], the depth behind which nothing is seen.
    """

    start: np.ndarray
    node: np.ndarray
    alpha: np.ndarray
    order: np.ndarray
    number: np.ndarray
    light: np.ndarray
    rest: np.ndarray
    veil: np.ndarray


def footprints(cloud: PointCloud | SplatCloud, camera: Camera) -> Footprints:
    """Where every point or splat of a cloud with sizes falls."""
    seen = camera.project(cloud.positions)
    eye = cloud.positions.astype(np.float64) @ camera.view[:3, :3].T + camera.view[:3, 3]
    if isinstance(cloud, PointCloud):
        radius = disc_radii(cloud, camera, eye)
        wide, drawn, opacity = np.repeat(radius[:, None], 2, axis=1), seen.in_front & np.isfinite(radius), 1.0
        with np.errstate(divide="ignore", over="ignore"):  # a disc of no size is the pixel that its centre lies in
            edge = 1 / radius**2
        conic = np.stack([edge, np.zeros(len(edge)), edge], axis=1)
    else:
        xx, xy, yy = projected_covariances(cloud, camera, eye).T
        wide, drawn, opacity = REACH * np.sqrt(np.stack([xx, yy], axis=1)), seen.in_front, cloud.opacities
        conic = np.stack([yy, -xy, xx], axis=1) / (xx * yy - xy * xy)[:, None]
    box = _boxes(seen.pixels, wide, drawn, camera.viewport)
    return Footprints(seen.pixels, conic, np.broadcast_to(opacity, len(cloud)).astype(float), -eye[:, 2], box)


def _boxes(center: np.ndarray, wide: np.ndarray, drawn: np.ndarray, viewport: tuple[int, int]) -> np.ndarray:
    """Pixels from and to, rows first."""
    end = np.array(viewport)
    low = np.clip(np.floor(center - wide), 0, end)
    high = np.clip(np.floor(center + wide) + 1, 0, end)
    box = np.stack([low[:, 1], high[:, 1], low[:, 0], high[:, 0]], axis=1).astype(np.int32)
    box[~drawn] = 0
    return box


@njit_uncounted(cache=True, nogil=True)
def alpha_at(x, y, conic, opacity, hard, row, column):
    """The share of a pixel that a footprint around (x, y) covers: all or nothing of a ``hard`` one, a disc."""
    u, v = column + 0.5 - x, row + 0.5 - y
    far = conic[0] * u * u + 2 * conic[1] * u * v + conic[2] * v * v
    if hard:
        own = column == int(np.floor(x)) and row == int(np.floor(y))
        return 1.0 if own or far <= 1.0 else 0.0
    if far > _FARTHEST:
        return 0.0
    alpha = opacity * np.exp(-far / 2)
    return min(alpha, 0.99) if alpha >= LEAST else 0.0


def swap_errors(cloud: PointCloud | SplatCloud, parent: np.ndarray, camera: Camera, background: float) -> np.ndarray:
    """Squared error over all pixels and colours of drawing each node instead of the leaves below it, float64 [N].

    Parameters
    ----------
    cloud : all nodes of a tree in level order; parent : int [N]. background : grey behind all.
    """
    shapes, (width, height) = footprints(cloud, camera), camera.viewport
    box, near = shapes.box.copy(), shapes.depth.copy()
    first, last = _spans(parent, box, near)
    below = Below(first, last, box, near)
    leaves = np.flatnonzero(below.last - below.first == 1)
    leaves = leaves[np.argsort(shapes.depth[leaves], kind="stable")]
    hard, error = isinstance(cloud, PointCloud), np.zeros(len(parent))
    colors = (cloud.colors if isinstance(cloud, PointCloud) else cloud.seen_from(camera.position)).astype(float)
    rows = _rows(shapes.box[leaves], height)
    for top in range(0, height, rows):
        band = top, min(top + rows, height), width
        start, node, alpha = _layers(leaves, shapes, hard, band)
        order = _by_number(start, node, below.first)
        lights = _lights(start, node, alpha, shapes.depth, colors, background)
        layers = Layers(start, node, alpha, order, below.first[node[order]].astype(np.int32), *lights)
        _add_changes(layers, below, shapes, hard, colors, background, band, error)
    return error


def _rows(boxes: np.ndarray, height: int) -> int:
    covered = np.prod(boxes[:, 1::2] - boxes[:, ::2], axis=1, dtype=np.int64).sum()
    return int(np.clip(height * _LISTED // max(covered, 1), 1, height))


@njit(cache=True, nogil=True)
def _spans(parent, box, near):
    """The leaves below v become numbers first[v] to last[v]; its box becomes one around theirs, too, and near least."""
    first, following = np.zeros(parent.size, np.int64), np.zeros(parent.size, np.int64)
    last = np.ones(parent.size, np.int64)
    last[parent[1:]] = 0
    for v in range(parent.size - 1, 0, -1):
        p = parent[v]
        last[p] += last[v]
        near[p] = min(near[p], near[v])
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
def _layers(leaves, shapes, hard, band):
    """`Layers` of a band of the picture: from row, to row and its width."""
    (center, conic, opacity, _, box), (top, bottom, width) = shapes, band
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
    # Filling moved each start to the next one. One by one: assigned slices would take seconds to compile.
    for i in range(start.size - 1, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
    return start, node, alpha


@njit(cache=True, nogil=True)
def _by_number(start, node, first):
    """Places of all pixels' leaves, in each pixel by rising numbers: sorted by number, then dealt out to the pixels."""
    ends, pixel = np.zeros(first.max() + 2, np.int64), np.empty(node.size, np.int32)
    for i in range(start.size - 1):
        for e in range(start[i], start[i + 1]):
            pixel[e] = i
            ends[first[node[e]] + 1] += 1
    ends = np.cumsum(ends)
    ranked, order, following = np.empty(node.size, np.int32), np.empty(node.size, np.int32), start.copy()
    for e in range(node.size):
        number = first[node[e]]
        ranked[ends[number]] = e
        ends[number] += 1
    for e in ranked:
        order[following[pixel[e]]] = e
        following[pixel[e]] += 1
    return order


@njit(cache=True, nogil=True)
def _lights(start, node, alpha, depth, colors, background):
    """``light``, ``rest`` and ``veil`` of `Layers`."""
    light, rest = np.empty(node.size, np.float64), np.empty((node.size, 3), np.float32)
    veil = np.full(start.size - 1, np.inf)
    for i in range(start.size - 1):
        passed = 1.0
        for e in range(start[i], start[i + 1]):
            if passed < OPAQUE and veil[i] == np.inf:
                veil[i] = depth[node[e]]
            light[e] = passed
            passed *= max(1.0 - alpha[e], _NOTHING)
        if passed < OPAQUE and veil[i] == np.inf:
            veil[i] = depth[node[start[i + 1] - 1]]
        behind = (background, background, background)
        for e in range(start[i + 1] - 1, start[i] - 1, -1):
            color, share = colors[node[e]], np.float64(alpha[e])
            behind = (
                share * color[0] + (1.0 - share) * behind[0],
                share * color[1] + (1.0 - share) * behind[1],
                share * color[2] + (1.0 - share) * behind[2],
            )
            for k in range(3):
                rest[e, k] = behind[k]
    return light, rest, veil


@njit(cache=True, nogil=True)
def _add_changes(layers, below, shapes, hard, colors, background, band, error):
    """Add what each node [N] changes in a band of the picture, see `swap_errors`."""
    (start, node, alpha, order, number, _, _, veil), (first, last, box, near) = layers, below
    (center, conic, opacity, depth, _), (top, bottom, width) = shapes, band
    few = np.empty(_FEW, np.int32)
    for v in range(error.size):
        if last[v] - first[v] == 1:
            continue
        for row in range(max(box[v, 0], top), min(box[v, 1], bottom)):
            for column in range(box[v, 2], box[v, 3]):
                i = (row - top) * width + column
                if near[v] > veil[i]:
                    continue
                entries = start[i], start[i + 1]
                begin = _first_from(number, entries, first[v])
                end = _first_from(number, (begin, entries[1]), last[v])
                if begin == end and depth[v] > veil[i]:
                    continue
                own = alpha_at(center[v, 0], center[v, 1], conic[v], opacity[v], hard, row, column)
                if own == 0.0 and begin == end:
                    continue
                change, sure = (0.0, 0.0, 0.0), False
                if end - begin <= _FEW:
                    for k in range(end - begin):  # insertion sort by depth
                        place = k
                        while place > 0 and few[place - 1] > order[begin + k]:
                            few[place] = few[place - 1]
                            place -= 1
                        few[place] = order[begin + k]
                    change, sure = _change_of_few(
                        few[: end - begin], layers, entries, v, own, depth, colors, background
                    )
                if not sure:
                    within = first[v], last[v]
                    change = _change(entries, node, alpha, first, within, v, own, depth, colors, background)
                error[v] += change[0] ** 2 + change[1] ** 2 + change[2] ** 2


@njit_uncounted(cache=True, nogil=True)
def _first_from(number, entries, least):
    """The first of a pixel's places by number whose number is ``least`` or larger."""
    low, high = entries
    while low < high:
        middle = (low + high) // 2
        if number[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@njit_uncounted(cache=True, nogil=True)
def _change_of_few(few, layers, entries, v, own, depth, colors, background):
    """`_change` for the leaves at the places ``few``, rising: what lies between them is passed over as a whole.

    Returns the change, and whether it could be found: not where what is left of the light is too little to divide by.
    """
    (_, node, alpha, _, _, light, rest, _), end = layers, entries[1]
    place = end  # of the node, before what is farther away
    if own > 0.0:
        low, high = entries
        while low < high:
            middle = (low + high) // 2
            if depth[node[middle]] < depth[v]:
                low = middle + 1
            else:
                high = middle
        place = low
    at, k, waiting = place if few.size == 0 else min(place, few[0]), 0, own > 0.0
    # What is before both is the same in both pictures.
    before = light[at] if at < end else _past(entries, light, alpha)
    after, change = before, (0.0, 0.0, 0.0)
    if before < OPAQUE:
        return change, True
    while k < few.size or waiting:
        swap = waiting and (k == few.size or place <= few[k])
        target = place if swap else few[k]
        if target > at:
            if light[at] < _DARK:
                return change, False
            share = (light[target] if target < end else _past(entries, light, alpha)) / light[at]
            more = after - before
            change = _plus(change, more, rest[at])
            if target < end:
                change = _plus(change, -more * share, rest[target])
            else:
                grey = more * share * background
                change = change[0] - grey, change[1] - grey, change[2] - grey
            before, after, at = before * share, after * share, target
        if swap:
            waiting = False
            change = _plus(change, own * after, colors[v])
            after -= own * after
        else:
            change = _plus(change, -alpha[at] * before, colors[node[at]])
            before -= alpha[at] * before
            at, k = at + 1, k + 1
    if at < end:
        return _plus(change, after - before, rest[at]), True
    grey = (after - before) * background
    return (change[0] + grey, change[1] + grey, change[2] + grey), True


@njit_uncounted(cache=True, nogil=True)
def _past(entries, light, alpha):
    """What all leaves of a pixel let through."""
    last = entries[1] - 1
    return light[last] * max(1.0 - alpha[last], _NOTHING) if last >= entries[0] else 1.0


@njit_uncounted(cache=True, nogil=True)
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


@njit_uncounted(cache=True, nogil=True)
def _plus(change, share, color):
    return change[0] + share * color[0], change[1] + share * color[1], change[2] + share * color[2]
