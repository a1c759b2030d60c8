"""Pyramid sampling of images that do not fit into memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.streamed import StreamedImage
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.pyramid.blocks import block_means, block_sums
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.traversals.hull import Hull

_CONSIDERED = 16  # patches per token that may be refined: those of the largest errors


class _KnownError(ErrorMetric):
    """The errors that the hierarchy was made with."""

    unit = "relevance-weighted mean squared error"
    additive = False  # patches of small errors were left out: no certificate covers what lies below them

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return hierarchy.attribute("error")

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return hierarchy.attribute("inherited_error")


class StreamedPyramid(HierarchicalResourceAllocator):
    """`PyramidSampling` of a `StreamedImage`, to the exact count, within the memory of its errors.

    A context is a pair (`StreamedImage`, query). Relevance is that of the overview, a coarse pass over the image at a
    64th of its scale, and holds for all that lies below each of its patches. Only the patches of the largest errors, 16
    per token, may be refined, so that the hierarchy stays small; what that misses is unknown, and no certificate is
    claimed. Errors are those of repeated pixels, see `StreamedImage`.

    Parameters
    ----------
    relevance : of the overview; by default `CueRelevance`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((3000, 2000, 3), dtype=np.float32)
    >>> allocator = tokens.StreamedPyramid()
    >>> allocation = allocator.allocate((tokens.StreamedImage.read(image), "what is on the left?"), budget=100)
    >>> allocator.realize(allocation)
    PatchTokens(100 tokens of 768 values, levels 0 to 7, of 3000 x 2000 pixels)
    """

    def __init__(self, relevance: Relevance | None = None) -> None:
        super().__init__(Hierarchy.flat(np.empty(0), cost_unit="tokens"), _KnownError(), Hull(spend_all=True))
        self.relevance = relevance

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """The gain of every refinement of the patches that ``budget`` may reach.

        Raises
        ------
        BudgetTooSmall : no token at all.
        """
        image, query = context
        reached = self._hierarchy(image, query, budget)
        return super().problem_for(reached, context, check_budget(budget, reached))

    def realize(self, allocation: Allocation) -> PatchTokens:
        """The tokens of an allocation; their pixels are read from the image. What maps every pixel may not fit."""
        image, _ = allocation.context
        hierarchy, cut = allocation.hierarchy, allocation.cut
        places = np.stack([hierarchy.attribute(name)[cut] for name in ("level", "x", "y")], axis=1).astype(np.int32)
        weight = hierarchy.attribute("weight")[cut]
        return PatchTokens(image.values(places), places, weight, image.size, image.patch)

    def _hierarchy(self, image: StreamedImage, query: str, budget: float) -> Hierarchy:
        weights = self._weights(image, query)
        own, inherited = _errors(image, weights)
        every = np.concatenate([each.ravel() for each in own[1:]] or [np.zeros(0)])
        count = int(min(every.size, _CONSIDERED * max(budget, 1)))
        least = np.partition(every, every.size - count)[every.size - count] if count else np.inf
        # Of flat images nearly all errors are the same, 0: some of them are refined, for the count.
        return _tree(own, inherited, weights, least, count - int(np.count_nonzero(every > least)))

    def _weights(self, image: StreamedImage, query: str) -> list[np.ndarray]:
        """Relevance of the patches of every level, from fine to coarse, with a mean of 1 over those of the overview."""
        relevance = CueRelevance() if self.relevance is None else self.relevance
        seen = TokenContext(PatchPyramid(image.overview, image.patch), query, relevance).relevance
        known = seen / seen.mean()
        shapes = [each.shape for each in image.details]
        finer = [known.repeat(2**k, axis=0).repeat(2**k, axis=1) for k in range(image.first, 0, -1)]
        coarser = [block_means(known, 2**k) for k in range(1, len(image.overview))]
        fitting = [each[: shape[0], : shape[1]] for each, shape in zip(finer, shapes, strict=False)]
        return [each.astype(np.float32) for each in (*fitting, known, *coarser)]


def _errors(image: StreamedImage, weights: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Weighted errors of the patches of every level while they show their regions, and while their parents do."""
    share = 1 / (3 * image.size[0] * image.size[1])
    own, inherited = [np.zeros_like(weights[0])], []
    for detail, weight in zip(image.details, weights, strict=False):
        inherited.append(own[-1] + weight * detail * np.float32(share))
        own.append(block_sums(inherited[-1], 2))
    return own, [*inherited, own[-1]]


def _tree(
    own: list[np.ndarray], inherited: list[np.ndarray], weights: list[np.ndarray], least: float, equal: int
) -> Hierarchy:
    """The quadtree in which patches of errors above ``least`` are refined, and so many ``equal`` to it."""
    top = len(own) - 1
    y, x = (index.ravel() for index in np.indices(own[top].shape))
    parent, parts, parents, begin = np.full(x.size, -1), [], [], 0
    for level in range(top, -1, -1):
        parts.append((np.full(x.size, level), x, y, own[level][y, x], inherited[level][y, x], weights[level][y, x]))
        parents.append(parent)
        refined = _refine(own[level][y, x], least, equal) if level else np.zeros(0, np.int64)
        equal -= int(np.count_nonzero(own[level][y, x][refined] == least))
        number, begin = begin + refined, begin + x.size
        if not refined.size:
            break
        across, down = np.tile([0, 1, 0, 1], refined.size), np.tile([0, 0, 1, 1], refined.size)
        x, y = 2 * x[refined].repeat(4) + across, 2 * y[refined].repeat(4) + down
        inside = (y < own[level - 1].shape[0]) & (x < own[level - 1].shape[1])
        x, y, parent = x[inside], y[inside], number.repeat(4)[inside]
    names = ("level", "x", "y", "error", "inherited_error", "weight")
    attributes = {name: np.concatenate(each) for name, each in zip(names, zip(*parts, strict=True), strict=True)}
    above = np.concatenate(parents)
    order = attributes["inherited_error"]
    return Hierarchy.tree(
        above, np.ones(above.size), mode="child", order=order, attributes=attributes, cost_unit="tokens"
    )


def _refine(error: np.ndarray, least: float, equal: int) -> np.ndarray:
    """The patches above ``least`` and the first ``equal`` ones of those at it, ascending."""
    return np.union1d(np.flatnonzero(error > least), np.flatnonzero(error == least)[:equal])
