"""Cells of several pictures as one tree: frames of a video, refined in time and space; a small copy above its patches.

Each node of a video covers a box of frames, rows and columns. It is split in time or into quarters, as the best
partition into such boxes does. So a single token can show what stays still, however fine it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.embeddings import weighted
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Grid, take_rows
from hra.domains.tokens.pyramid.blocks import block_sums
from hra.domains.tokens.pyramid.downsample import resize
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError
from hra.model import topology
from hra.model.hierarchy import Hierarchy

Shape = tuple[int, int]
"""(time, level): boxes of 2**time frames and 2**level by 2**level finest patches."""
_TIME, _SPACE = (0,), (1, 2)
_PRICES = 24
_SAME = 1e-20  # squared difference of colours: rounding, no error


class Boxes(NamedTuple):
    """All boxes of one shape, each shown by a picture of patch x patch pixels, the means of what is below them.

    means : float64 [T, Y, X, 3], what is shown: colours, averaged by weight.
    weight : float64 [T, Y, X], sums of weights; error : float64 [T, Y, X], weighted squared error of the pixels below.
    """

    means: np.ndarray
    weight: np.ndarray
    error: np.ndarray

    def under(self, means: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """The error [T, Y, X] while boxes twice as long in ``axes`` show their ``means`` instead."""
        for axis in axes:
            inside = [slice(None)] * axis + [slice(self.weight.shape[axis])]
            means = means.repeat(2, axis=axis)[tuple(inside)]
        difference = means - self.means
        far = np.einsum("tyxc, tyxc -> tyx", difference, difference)
        far[far <= _SAME] = 0
        far *= self.weight
        far += self.error
        return far

    def doubled(self, axes: tuple[int, ...], patch: int) -> Boxes:
        """The boxes that are twice as long in time or in space."""
        unit = 1 if axes == _TIME else patch
        weight = _pairs(self.weight, axes, unit)
        means = _pairs(self.means * self.weight[..., None], axes, unit) / np.where(weight > 0, weight, 1)[..., None]
        return Boxes(means, weight, _pairs(self.under(means, axes), axes, unit))


def _pairs(values: np.ndarray, axes: tuple[int, ...], unit: int = 1) -> np.ndarray:
    """Sums of pairs along axes whose lengths become multiples of ``unit``."""
    for axis in axes:
        missing = -values.shape[axis] % (2 * unit)
        padded = np.pad(values, [(0, missing * (each == axis)) for each in range(values.ndim)]) if missing else values
        values = padded.reshape(*padded.shape[:axis], -1, 2, *padded.shape[axis + 1 :]).sum(axis=axis + 1)
    return values


def _over_patches(values: np.ndarray, patch: int) -> np.ndarray:
    """Sums over the pixels of each box, [T, rows, columns]."""
    frames, rows, columns = values.shape
    return values.reshape(frames, rows // patch, patch, columns // patch, patch).sum(axis=(2, 4))


def _boxes(context: TokenContext) -> dict[Shape, Boxes]:
    """Boxes of every shape, up to the whole video or what the context's levels allow."""
    patch, steps, levels = context.patch, context.steps, len(context.pyramid.levels) - 1
    rows, columns = context.grid[0] // steps, context.grid[1]
    pixels = context.image.reshape(steps, rows * patch, columns * patch, 3).astype(np.float64)
    weight = context.pixel_weight.reshape(steps, rows, columns).repeat(patch, axis=1).repeat(patch, axis=2)
    known = {(0, 0): Boxes(pixels, weight, np.zeros_like(weight))}
    for level in range(min(levels, (max(rows, columns) - 1).bit_length()) + 1):
        if level:
            known[0, level] = known[0, level - 1].doubled(_SPACE, patch)
        for time in range(1, min(levels, (steps - 1).bit_length()) + 1):
            known[time, level] = known[time - 1, level].doubled(_TIME, patch)
    return known


def tree_in_time(context: TokenContext) -> Hierarchy:
    """The boxes of a video: children are added one by one, so that every count can be met.

    Returns
    -------
    A tree with the attributes "time" and "level" (see `Shape`), "t", "y" and "x" (place among boxes of that shape),
    "error" and "inherited_error", see `RelevanceError`.
    """
    boxes, patch = context.once(_boxes, partial(_boxes, context)), context.patch
    errors = {shape: _over_patches(each.error, patch) for shape, each in boxes.items()}
    in_time = _splits_in_time(errors)
    places = np.stack([axis.ravel() for axis in np.indices(errors[max(boxes)].shape)], axis=1)
    # Places, parents and inherited errors of the boxes that parents of larger shapes were split into.
    waiting = {max(boxes): [(places, np.full(len(places), -1), errors[max(boxes)].ravel())]}
    nodes, first = [], 0
    for shape in sorted(boxes, key=sum, reverse=True):
        if shape not in waiting:
            continue
        place, parent, inherited = (np.concatenate(each) for each in zip(*waiting.pop(shape), strict=True))
        error = errors[shape][tuple(place.T)]
        nodes.append(np.column_stack([np.tile(shape, (len(place), 1)), place, parent, error, inherited]))
        for axes, finer in _finer(shape) if sum(shape) else ():
            chosen = in_time[shape][tuple(place.T)] == (axes == _TIME)
            if not chosen.any():
                continue
            under = _over_patches(boxes[finer].under(boxes[shape].means, axes), patch)
            child, above = _children(place[chosen], first + np.flatnonzero(chosen), axes, under.shape)
            waiting.setdefault(finer, []).append((child, above, under[tuple(child.T)]))
        first += len(place)
    table = np.concatenate(nodes)
    whole = dict(zip(("time", "level", "t", "y", "x"), table[:, :5].T.astype(np.int32), strict=True))
    own = {"error": table[:, 6], "inherited_error": table[:, 7]}
    return Hierarchy.tree(
        table[:, 5].astype(np.int64), np.ones(first), mode="child", order=table[:, 7],
        attributes={**whole, **own}, cost_unit="tokens",
    )  # fmt: skip


def _finer(shape: Shape) -> tuple[tuple[tuple[int, ...], Shape], ...]:
    """Both ways to split boxes: the axes that get shorter, and the shape of the children."""
    return (_SPACE, (shape[0], shape[1] - 1)), (_TIME, (shape[0] - 1, shape[1]))


def _splits_in_time(errors: dict[Shape, np.ndarray]) -> dict[Shape, np.ndarray]:
    """Whether each box is split in time and not into quarters, bool [T, rows, columns] of each shape.

    The way is that of the partition with the least error plus price of its tokens, at the highest price at which the
    box is split at all. All partitions into dyadic boxes are searched, for prices that are halved from step to step.

    Source: D. L. Donoho, "CART and best-ortho-basis: a connection" (The Annals of Statistics, 1997).
    """
    prices = float(errors[max(errors)].sum()) * 0.5 ** np.arange(_PRICES)[:, None, None, None]
    least, result = {(0, 0): errors[0, 0] + prices}, {}
    for shape in sorted(errors, key=sum)[1:]:
        space, time = (
            _pairs(least[finer], tuple(axis + 1 for axis in axes)) if finer in errors else np.full((1, 1, 1, 1), np.inf)
            for axes, finer in _finer(shape)
        )
        both, alone = np.minimum(space, time), errors[shape] + prices
        highest = np.where((both < alone).any(axis=0), (both < alone).argmax(axis=0), _PRICES - 1)
        in_time = np.broadcast_to(time < space, both.shape)
        result[shape] = np.take_along_axis(in_time, highest[None], axis=0)[0]
        least[shape] = np.minimum(both, alone)
        least = {each: costs for each, costs in least.items() if sum(each) >= sum(shape) - 1}
    return result


def _children(place: np.ndarray, number: np.ndarray, axes: tuple[int, ...], limit: tuple[int, ...]) -> tuple:
    """Places of the finer boxes [n, 3] and the numbers of what they are split from."""
    scale = np.array([2 if axis in axes else 1 for axis in range(3)])
    steps = np.stack([each.ravel() for each in np.indices(tuple(scale))], axis=1)
    child = (place[:, None] * scale + steps).reshape(-1, 3)
    inside = (child < np.array(limit)).all(axis=1)
    return child[inside], np.repeat(number, len(steps))[inside]


def _copy(context: TokenContext) -> tuple[PatchPyramid, np.ndarray]:
    """The pyramid of the small copy, and the number of its cell below the middle of each finest patch."""
    (rows, columns), (down, across) = context.small or (1, 1), context.grid
    size = (rows * context.patch, columns * context.patch)
    picture = np.clip(resize(context.image, size), 0, 1)
    y, x = (2 * np.arange(down) + 1) * rows // (2 * down), (2 * np.arange(across) + 1) * columns // (2 * across)
    return PatchPyramid.build(picture, patch=context.patch), (y[:, None] * columns + x).ravel()


def tree_of_copy(context: TokenContext) -> Hierarchy:
    """The pyramid of a picture's small copy, and the finest patches below the cells of the copy, which stay.

    Coarse patches leave with their last child, as in `PyramidBuilder`; all tokens together are copy and patches.

    Returns
    -------
    A tree with the attributes "number" (within the copy's pyramid, then of the patches), "level" (0 for patches, 1 for
    the copy), "error" and "inherited_error", see `RelevanceError`.
    """
    pyramid, owner = context.once(_copy, partial(_copy, context))
    count, finest = int(pyramid.offsets[-1]), owner.size
    parent = np.append(pyramid.parents, owner).astype(np.int32)
    lost = np.stack([_lost(context, level) for level in pyramid.levels])
    # A finer level is not worse: resampling may say so of single patches.
    lost = np.minimum.accumulate(lost[::-1])[::-1]
    error, inherited = np.zeros(parent.size), np.zeros(parent.size)
    shown, below = owner, count + np.arange(finest)
    for each in lost:
        error += np.bincount(shown, each, minlength=parent.size)
        inherited += np.bincount(below, each, minlength=parent.size)
        shown, below = parent[shown], shown
    inherited[parent < 0] = error[parent < 0]
    shape = topology.child_by_child(parent, inherited)
    removed_by = np.where(np.arange(parent.size) < pyramid.offsets[1], -1, shape.removed_by)
    levels = np.append(pyramid.positions[:, 0] + 1, np.zeros(finest))
    numbers = np.append(np.arange(count), np.arange(finest))
    return Hierarchy.from_topology(
        np.ones(parent.size), replace(shape, removed_by=removed_by), node_parent=parent,
        attributes={"number": numbers.astype(np.int32), "level": levels.astype(np.int32),
                    "error": error, "inherited_error": inherited},
        cost_unit="tokens",
    )  # fmt: skip


def _lost(context: TokenContext, picture: np.ndarray) -> np.ndarray:
    """Weighted squared error of each finest patch while a smaller picture shows it, float64 [N]."""
    far = (context.image - resize(picture, context.image.shape[:2])) ** 2
    return (block_sums(far.sum(axis=2, dtype=np.float64), context.patch) * context.pixel_weight).ravel()


@dataclass(frozen=True, eq=False, repr=False)
class BoxTokens(TokenSet):
    """K tokens of a video, or of a picture with a small copy.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3], the picture of each.
    corners : int64 [K, 4], (x0, y0, x1, y1) in pixels of the image: where the picture is, beyond the border where it
        is; of several frames, in the middle one, or the one before the middle.
    scale : float32 [K], the `detail`.
    cells : of each token the model's cells, int64: those of a video frame by frame and row by row, those of a copy
        before the patches.
    slots : int64 [K], the cell in the middle, or the one before it.
    shown : int32 [rows, columns], the token that shows each finest patch, -1 for none.
    relevance, image_size, patch : see `TokenSet`.
    steps : frames that stand below each other in the image.
    """

    values: np.ndarray
    corners: np.ndarray
    scale: np.ndarray
    cells: tuple[np.ndarray, ...]
    slots: np.ndarray
    shown: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    steps: int = 1
    fixations: np.ndarray | None = None

    @classmethod
    def of(cls, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> BoxTokens:
        """The tokens of the nodes ``cut`` of a tree of this module."""
        made = _in_time if context.steps > 1 else _with_copy
        values, corners, detail, cells, slots, below = made(context, hierarchy, cut)
        shown, relevance = np.full(context.relevance.size, -1, np.int32), np.empty(len(cut))
        for token in np.argsort([-each.size for each in below], kind="stable"):
            shown[below[token]] = token
            relevance[token] = context.relevance.flat[below[token]].mean() if below[token].size else 0
        size = context.image.shape[:2]
        return cls(
            values.reshape(len(cut), -1).astype(np.float32), corners, detail.astype(np.float32), cells, slots,
            shown.reshape(context.grid), relevance, (size[0], size[1]), context.patch, context.steps,
        )  # fmt: skip

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, of each token in its middle frame, int32 [K, 4]."""
        x0, y0, x1, y1 = self.corners.T
        frame = self.image_size[0] // self.steps
        inside = np.minimum(x1, self.image_size[1]), np.minimum(y1, (y0 // frame + 1) * frame)
        return np.stack([x0, y0, *inside], axis=1).astype(np.int32)

    @property
    def detail(self) -> np.ndarray:
        """See `TokenSet.detail`; of a cell of the copy as the picture is stretched over it."""
        return self.scale

    def select(self, features: Any, image: Any = None, *, grid: Grid | None = None) -> Any:
        """The features of tokens that are single cells; see `TokenSet.select`."""
        several = [token for token, cells in enumerate(self.cells) if len(cells) != 1]
        if several:
            what = f"token {several[0]} is not one cell: it covers {len(self.cells[several[0]])}"
            fix = "pool the features, or choose cells of the grid, as GridTopK does"
            raise ArrayError(what, where="select", fix=fix)
        return take_rows(self._below(features, image, grid)[0].values, self.slots)

    def pool(self, features: Any, image: Any = None, *, grid: Grid | None = None) -> Any:
        """The mean of the features [N, D] of each token's cells; see `TokenSet.pool`."""
        made: FeatureGrid = self._below(features, image, grid)[0]
        counts = np.array([len(each) for each in self.cells])
        owner = np.repeat(np.arange(len(counts)), counts)
        return weighted(owner, np.concatenate(self.cells), 1 / counts[owner], made.values, len(counts))

    def token_map(self) -> np.ndarray:
        """See `TokenSet.token_map`."""
        return self.shown.repeat(self.patch, axis=0).repeat(self.patch, axis=1)

    def reconstruct(self) -> np.ndarray:
        """The image from the pictures of the tokens as they are, grey where there is none: float32 [H, W, 3]."""
        shown, frame = self.token_map(), self.image_size[0] // self.steps
        y, x = np.indices(shown.shape)
        x0, y0, x1, y1 = self.corners[shown].transpose(2, 0, 1)
        row = ((y - y0) % frame) * self.patch // (y1 - y0)
        pictures = self.values.reshape(-1, self.patch, self.patch, 3)
        inside = [np.clip(each, 0, self.patch - 1) for each in (row, (x - x0) * self.patch // (x1 - x0))]
        return np.where((shown < 0)[..., None], np.float32(0.5), pictures[shown, inside[0], inside[1]])


def _in_time(context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> tuple:
    """Pictures, corners, details, cells, slots and finest patches of boxes."""
    time, level, *place = (hierarchy.attribute(name)[cut].astype(np.int64) for name in ("time", "level", "t", "y", "x"))
    known, patch, steps = context.once(_boxes, partial(_boxes, context)), context.patch, context.steps
    rows, columns = context.grid[0] // steps, context.grid[1]
    first = np.stack([axis << size for axis, size in zip(place, (time, level, level), strict=True)])
    last = np.minimum(first + (1 << np.stack([time, level, level])), np.array([[steps], [rows], [columns]]))
    values = np.empty((len(cut), patch, patch, 3))
    for shape in set(zip(time.tolist(), level.tolist(), strict=True)):
        here = (time == shape[0]) & (level == shape[1])
        blocks = known[shape].means
        blocks = blocks.reshape(len(blocks), blocks.shape[1] // patch, patch, -1, patch, 3).transpose(0, 1, 3, 2, 4, 5)
        values[here] = blocks[tuple(axis[here] for axis in place)]
    number = np.arange(steps * rows * columns).reshape(steps, rows, columns)
    parts = [tuple(map(slice, *pair)) for pair in zip(first.T.tolist(), last.T.tolist(), strict=True)]
    cells = tuple(number[part].ravel() for part in parts)
    t, y, x = (first + last - 1) // 2
    top = t * rows + first[1]
    corners = np.stack([first[2], top, first[2] + (1 << level), top + (1 << level)], axis=1) * patch
    return values, corners, level, cells, number[t, y, x], cells


def _with_copy(context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> tuple:
    """The same as `_in_time` for the copy's pyramid and the patches."""
    pyramid, owner = context.once(_copy, partial(_copy, context))
    (rows, columns), (height, width), patch = pyramid.grids[0], context.image.shape[:2], context.patch
    level, number = hierarchy.attribute("level")[cut], hierarchy.attribute("number")[cut]
    fine = level == 0
    values = np.empty((len(cut), 3 * patch**2), np.float32)
    values[fine] = context.pyramid.values(context.pyramid.positions[number[fine]])
    places = pyramid.positions[number[~fine]]
    values[~fine] = pyramid.values(places)
    corners = np.empty((len(cut), 4), np.int64)
    corners[fine] = context.pyramid.boxes(context.pyramid.positions[number[fine]])
    stretch = np.array([width, height, width, height]) / (patch * np.array([columns, rows, columns, rows]))
    low = places[:, 1:] << places[:, :1]
    corners[~fine] = np.rint(np.concatenate([low, low + (1 << places[:, :1])], axis=1) * patch * stretch)
    finer = np.log2(np.sqrt(height * width / (rows * columns)) / patch)
    detail = np.where(fine, 0.0, np.maximum(level - 1 + finer, 1e-3))
    cell = np.arange(rows * columns).reshape(rows, columns)
    boxes = pyramid.boxes(places) // patch
    coarse = iter([cell[y0:y1, x0:x1].ravel() for x0, y0, x1, y1 in boxes])
    middle = iter([cell[(y0 + y1 - 1) // 2, (x0 + x1 - 1) // 2] for x0, y0, x1, y1 in boxes])
    cells = tuple(np.array([cell.size + each]) if one else next(coarse) for one, each in zip(fine, number, strict=True))
    slots = np.array(
        [cell.size + each if one else next(middle) for one, each in zip(fine, number, strict=True)], np.int64
    )
    below = [
        each - cell.size if one else np.flatnonzero(np.isin(owner, each)) for one, each in zip(fine, cells, strict=True)
    ]
    return values, corners, detail, cells, slots, below
