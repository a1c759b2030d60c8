"""Token clusters as a graph: every token is one merge of finer ones, and borders may differ from level to level.

The grids of clusters come first, level above level, then the builder over them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.embedding.feature_grid import Overlaps, Regions
from hra.domains.tokens.methods.sampled.tokens import SampledTokens
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError
from hra.kernels import level_errors
from hra.model.hierarchy import Hierarchy
from hra.model.topology import Topology


@dataclass(frozen=True)
class ClusterGrid:
    """Square tokens of one pyramid level over an image.

    Attributes
    ----------
    level : of the pyramid; a token's pixel is 2**level pixels wide.
    side : of a token in pixels of the image.
    shift : pixels by which the first token begins outside of the image, a multiple of 2**level.
    size : (height, width) of the image.
    """

    level: int
    side: int
    shift: int
    size: tuple[int, int]

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Rows and columns."""
        return -(-(self.size[0] + self.shift) // self.side), -(-(self.size[1] + self.shift) // self.side)

    @cached_property
    def corners(self) -> np.ndarray:
        """(x, y) of the first pixel of every token, which may lie outside of the image, int64 [N, 2]."""
        y, x = np.divmod(np.arange(self.counts[0] * self.counts[1]), self.counts[1])
        return np.stack([x, y], axis=1) * self.side - self.shift

    @property
    def boxes(self) -> np.ndarray:
        """(x0, y0, x1, y1) in pixels, within the image, int64 [N, 4]."""
        return np.clip(np.concatenate([self.corners, self.corners + self.side], axis=1), 0, [*self.size[::-1]] * 2)

    def covering(self, finer: ClusterGrid) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of a token of a ``finer`` grid and one of this grid that share pixels, two int64 [n]."""
        rows, columns = (
            np.clip(np.arange(count + 1) * self.side - self.shift, 0, extent).astype(np.float64)
            for count, extent in zip(self.counts, self.size, strict=True)
        )
        overlaps = Overlaps.of(Regions.of(finer.boxes), rows, columns)
        return overlaps.token[overlaps.area > 0], overlaps.cell[overlaps.area > 0]


def cluster_grids(pyramid: PatchPyramid, cluster: int, *, staggered: bool) -> list[ClusterGrid]:
    """Grids from the finest patches to the coarsest level; ``cluster`` x ``cluster`` tokens become one of the next.

    Staggered, every grid begins half a token of the next finer grid (for the coarsest ones a little less) before that
    one does, so that its borders run through the middle of finer tokens. Only a grid of one token does not.

    Raises
    ------
    ArrayError : staggered grids of a patch that is not a power of two from 4 on.
    """
    patch, size = pyramid.patch, (pyramid.image.shape[0], pyramid.image.shape[1])
    if staggered and (patch < 4 or patch & (patch - 1)):
        fix = "use a power of two, at least 4, or boundaries='aligned'"
        raise ArrayError(f"patches of {patch} pixels cannot be staggered by whole pixels", where="patch", fix=fix)
    top, step = len(pyramid.levels) - 1, cluster.bit_length() - 1
    levels = sorted({*range(0, top + 1, step), top})
    grids = [ClusterGrid(level, patch << level, _shift(patch, level) * staggered, size) for level in levels]
    whole = ClusterGrid(top, patch << top, 0, size)
    return [*grids[:-1], whole] if whole.counts == (1, 1) else grids


def _shift(patch: int, level: int) -> int:
    """Half of what is a token at all finer levels together, in whole pixels of the level."""
    return (patch // 2 * (2**level - 1) >> level) << level


@dataclass(frozen=True)
class ClusterBuilder(TokenBuilder[SampledTokens]):
    """Merged tokens over ``cluster`` x ``cluster`` finer ones; a token is added over those of the next coarser grid.

    It may be added once all coarser tokens that it overlaps are there. A coarse token leaves with the last of the
    tokens that overlap it: of those that overlap nothing else, the one that takes away least error, so that what
    matters does not have to wait. Staggered, a token of one level lies over up to four of the next, as clusters of
    meshes do.

    Parameters
    ----------
    cluster : 2 or 4, along a side.
    staggered : see `cluster_grids`.
    """

    cluster: int = 4
    staggered: bool = True

    def build(self, context: TokenContext) -> Hierarchy:
        """A graph with the attributes "level", "x", "y" (first pixel, perhaps outside) and "gain"."""
        grids = cluster_grids(context.pyramid, self.cluster, staggered=self.staggered)
        gain = np.concatenate(_gains(context, grids))
        count = [len(grid.corners) for grid in grids]
        attributes = {
            "level": np.repeat([grid.level for grid in grids], count),
            **dict(zip(("x", "y"), np.concatenate([grid.corners for grid in grids]).T, strict=True)),
            "gain": gain,
        }
        return Hierarchy.from_topology(
            np.ones(gain.size), _topology(grids, gain), attributes=attributes, cost_unit="tokens"
        )

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> SampledTokens:
        """The tokens of ``cut``: pixels of their level."""
        level, x, y = (hierarchy.attribute(name)[cut] for name in ("level", "x", "y"))
        half = context.pyramid.patch * 2.0**level / 2
        return SampledTokens.of(context, np.stack([x + half, y + half], axis=1), 2.0**level)


def _gains(context: TokenContext, grids: list[ClusterGrid]) -> list[np.ndarray]:
    """The error that every token takes away from what the next coarser grid shows; 0 for the coarsest."""
    pyramid, halves = context.pyramid, 2 if any(grid.shift for grid in grids) else 1
    unit = pyramid.patch // halves
    errors = pyramid.once(("errors", unit), lambda: level_errors(pyramid.mips, unit))
    weight = context.pixel_weight.repeat(halves, axis=0).repeat(halves, axis=1)[: errors.shape[1], : errors.shape[2]]
    sums = [_integral(errors[grid.level] * weight) for grid in grids]
    pairs = zip(grids[:-1], sums[:-1], sums[1:], strict=True)
    gains = [np.maximum(_below(grid, coarse, unit) - _below(grid, fine, unit), 0) for grid, fine, coarse in pairs]
    return [*gains, np.zeros(len(grids[-1].corners))]


def _integral(values: np.ndarray) -> np.ndarray:
    sums = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    sums[1:, 1:] = values.cumsum(axis=0).cumsum(axis=1)
    return sums


def _below(grid: ClusterGrid, sums: np.ndarray, unit: int) -> np.ndarray:
    x0, y0, x1, y1 = (-(-grid.boxes // unit)).T
    return sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]


def _topology(grids: list[ClusterGrid], gain: np.ndarray) -> Topology:
    """Refinement n adds token n, except for the coarsest grid, which is the base."""
    first = np.cumsum([0] + [len(grid.corners) for grid in grids])
    size = int(first[-2])
    added = np.where(np.arange(first[-1]) < size, np.arange(first[-1]), -1).astype(np.int32)
    removed, edges = np.full(first[-1], -1, np.int32), []
    for fine, coarse, begin, above in zip(grids[:-1], grids[1:], first[:-2], first[1:-1], strict=True):
        token, cell = coarse.covering(fine)
        token, cell = token + begin, cell + above
        last = _last(token, cell, gain)
        removed[cell] = added[last]
        edges += [np.stack([added[cell], token], axis=1), np.stack([token, last], axis=1)[token != last]]
    found = np.unique(np.concatenate(edges or [np.zeros((0, 2), np.int64)]).astype(np.int32), axis=0)
    return Topology(size, added, removed, found[found[:, 0] >= 0])


def _last(token: np.ndarray, cell: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """The token with which the cell of every pair leaves.

    Among tokens that overlap one cell only no order can be circular. Where a cell has none, at the border, it is its
    last token in reading order: each cell then waits for tokens above and to the left only.
    """
    alone = np.bincount(token)[token] == 1
    order = np.lexsort((np.where(alone, -gain[token], token), alone, cell))
    ends = np.flatnonzero(np.append(np.diff(cell[order]) != 0, True))
    chosen = np.full(int(cell.max()) + 1, -1)
    chosen[cell[order[ends]]] = token[order[ends]]
    return chosen[cell]
