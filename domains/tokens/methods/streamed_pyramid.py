"""Pyramid sampling of images that do not fit into memory: the quadtree is made where tokens may go, and nowhere else.

A question weighs errors by the density of its answer, see "The expected error" in docs/concepts.md: what is read of the
overview, of a few windows at full resolution, and what neither knows, add up to 1.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.caching import cached_property
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import Relevance, TokenContext, UniformRelevance
from hra.domains.tokens.context.scores import check_scorer
from hra.domains.tokens.context.served import Served
from hra.domains.tokens.patches.streamed import StreamedImage, halvings
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.pyramid.blocks import block_means, block_sums
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.phrase import PhraseRelevance, chances, is_sure
from hra.domains.tokens.relevance.spatial_words import spatial_words
from hra.domains.tokens.text import reader
from hra.errors import ArrayError, check_kind, wrong_kind
from hra.files.images.arrays import as_image
from hra.model.arrays import whole_in
from hra.model.hierarchy import Hierarchy
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.model.metrics import ErrorMetric
from hra.model.precise import ceiling, precise_total
from hra.model.problem import Problem, check_budget
from hra.model.solution import Solution
from hra.solvers.duals import certify
from hra.solvers.lazy.tree import LazyTree
from hra.solvers.relaxation import relaxation
from hra.traversals.hull import Hull

_Node = tuple[int, int, int]
_SKIMMED = 2**24  # pixels at full resolution in which print is looked for: half a second
_WINDOW = 16  # patches along a side of what is read
_SHEET = 3  # windows along a side of what is read at once; that takes about a second
_LOOKS = 4  # sheets at most, 8 MB each
_CENTRES = 512  # tokens around which crops may lie
_MOVED = 1.1  # times the last price
_EXPANDED = 32  # nodes per token whose children are made, at most


@dataclass(frozen=True, eq=False)
class SeenImage(LazyHierarchy):
    """Patches ``(level, x, y)`` of a `StreamedImage`, refined by those one level finer; the parent stays.

    The context of a `PatchError`. Weights are those of a question, with a mean of 1.

    Parameters
    ----------
    image : whose patches they are.
    density : float64, by patch of the overview, with a mean of 1 over the image.
    closer : (row, column) of a patch of level `StreamedImage.first` to the weights of all finest patches in it, for
        those that were looked at closely.
    served : what became of the question.
    """

    image: StreamedImage
    density: np.ndarray
    closer: dict[tuple[int, int], np.ndarray]
    served: Served = Served()  # noqa: RUF009
    mode = "add"
    cost_unit = "tokens"

    def roots(self) -> list[_Node]:
        """The patches of the coarsest level."""
        rows, columns = self._coarse[-1][0].shape
        return [(len(self.image.details), x, y) for y in range(rows) for x in range(columns)]

    def expand(self, node: _Node) -> list[_Node]:
        """The patches one level finer, row by row."""
        level, x, y = node
        if level == 0:
            return []
        rows, columns = (-(-side // (self.image.patch << (level - 1))) for side in self.image.size)
        below = [(level - 1, 2 * x + right, 2 * y + down) for down in (0, 1) for right in (0, 1)]
        return [(k, i, j) for k, i, j in below if i < columns and j < rows]

    def least_cost(self, node: Any) -> float:
        """One token."""
        return 1.0

    def facts(self, nodes: Sequence[_Node]) -> np.ndarray:
        """Own and inherited error, and what may be gained below, of siblings or roots: float64 [3, n].

        In units of the weighted mean squared error of the image.
        """
        level, first = nodes[0][0], self.image.first
        if level >= first:
            found = [[part[y, x] for _, x, y in nodes] for part in self._coarse[level - first]]
            return np.array(found) * self._share
        shift = first - level
        cell = nodes[0][2] >> shift, nodes[0][1] >> shift
        if cell in self.closer:
            top, left = cell[0] << shift, cell[1] << shift
            own, inherited = self._close(cell)[level]
            found = [[part[y - top, x - left] for _, x, y in nodes] for part in (own, inherited, own)]
            return np.array(found) * self._share
        parts = self.image.split(level + 1, nodes[0][1] >> 1, nodes[0][2] >> 1)
        return np.array([part.ravel() for part in parts]) * (self.density[cell] * self._share)

    def weight(self, node: _Node) -> float:
        """Mean density over a patch."""
        level, x, y = node
        if level >= self.image.first:
            return float(self._weights[level - self.image.first][y, x])
        shift = self.image.first - level
        cell = y >> shift, x >> shift
        if cell not in self.closer:
            return float(self.density[cell])
        side, top, left = (
            1 << level,
            (y << level) - (cell[0] << self.image.first),
            (x << level) - (cell[1] << self.image.first),
        )
        return float(self.closer[cell][top : top + side, left : left + side].mean())

    @property
    def _share(self) -> float:
        return 1 / (3 * self.image.size[0] * self.image.size[1])

    @cached_property
    def _weights(self) -> list[np.ndarray]:
        """Density by patch of the levels of the overview."""
        density = self.density.copy()
        for cell, weights in self.closer.items():
            density[cell] = weights.mean()
        return [density, *(block_means(density, 2**k) for k in range(1, len(self.image.overview)))]

    @cached_property
    def _coarse(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Own and inherited error and what may be gained of all patches, level by level from `first` on."""
        image, first = self.image, self.image.first
        own, gain = (self.density * part for part in image.beneath)
        for cell in self.closer:
            own[cell] = gain[cell] = self._close(cell)[first][0][0, 0]
        levels = []
        for weight, detail in zip(self._weights, image.details[first:], strict=False):
            levels.append((own, own + weight * detail, gain))
            own, gain = (block_sums(part + weight * detail, 2) for part in (own, gain))
        return [*levels, (own, own, gain)]

    def _close(self, cell: tuple[int, int]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Own and inherited error of all patches of a cell that was looked at closely, from level 0 to `first`."""
        if cell not in self._known:
            self._known[cell] = self._looked(cell)
        return self._known[cell]

    @cached_property
    def _known(self) -> dict[tuple[int, int], list[tuple[np.ndarray, np.ndarray]]]:
        return {}

    def _looked(self, cell: tuple[int, int]) -> list[tuple[np.ndarray, np.ndarray]]:
        weight, levels = self.closer[cell], []
        own = np.zeros_like(weight)
        for detail in _details_of(self.image, cell):
            inherited = own + weight * detail
            levels.append((own, inherited))
            own, weight = block_sums(inherited, 2), block_means(weight, 2)
        return [*levels, (own, own)]


class PatchError(LazyMetric):
    """Squared error of repeated pixels over a patch's region, weighted by the question, made on demand.

    The context is a `SeenImage`. Where the image's errors are not known, `evaluate` bounds them, see
    `hra.domains.tokens.patches.streamed`, and `potential` is a guess.
    """

    unit = "relevance-weighted mean squared error"

    def evaluate(self, nodes: Sequence[_Node], context: SeenImage) -> np.ndarray:
        """Error while the patch itself shows its region, or the most that it can be, float64 [n]."""
        return context.facts(nodes)[0]

    def inherited(self, nodes: Sequence[_Node], context: SeenImage) -> np.ndarray:
        """Error of the same region while its parent shows it, float64 [n]."""
        return context.facts(nodes)[1]

    def potential(self, nodes: Sequence[_Node], context: SeenImage) -> np.ndarray:
        """What may be gained below each patch, float64 [n]."""
        return context.facts(nodes)[2]


class _KnownError(ErrorMetric):
    """The errors that the hierarchy was made with."""

    unit = "relevance-weighted mean squared error"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return hierarchy.attribute("error")

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return hierarchy.attribute("inherited_error")


class StreamedPyramid(HierarchicalResourceAllocator):
    """`PyramidSampling` of a `StreamedImage`, to the exact count, with a bound that holds for all its patches.

    A context is a pair (`StreamedImage`, query). Patches are made on demand: first those of the largest errors, then
    all that could be worth more than the price of a token, until none is left; what is left after 32 per token counts
    in the bound with all that it could gain. Errors are those of repeated pixels, see `StreamedImage`.

    Relevance is that of the overview. Where it is a `PhraseRelevance`, which reads, patches of the overview that hide
    sharp detail are looked at in full resolution, and the 36 places that are most like print are read; what was read is
    kept with the image, so that the next question reads few new tiles.

    Parameters
    ----------
    relevance : of the overview; by default `CueRelevance`.
    looks : sheets of nine windows that are read, at most.

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

    def __init__(self, relevance: Relevance | None = None, *, looks: int = _LOOKS) -> None:
        super().__init__(Hierarchy.flat(np.empty(0), cost_unit="tokens"), _KnownError(), Hull(spend_all=True))
        if relevance is not None:
            check_scorer(relevance)
        self.relevance, self.looks = relevance, whole_in("looks", looks, kind=ArrayError)
        self._last: tuple[StreamedImage, str, SeenImage] | None = None

    def allocate(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> Allocation:
        """Allocate exactly ``budget`` tokens, or all finest patches if the image has fewer.

        Parameters
        ----------
        context : (`StreamedImage`, query).
        budget : tokens; fractions are rounded down.
        previous : an earlier allocation of the image, whose patches are made again first: another question begins with
            what was read for the last one.
        pinned : see `HierarchicalResourceAllocator.allocate`.
        """
        if not isinstance(context, tuple) or len(context) != 2 or not isinstance(context[0], StreamedImage):
            raise wrong_kind("context", context, tuple, "pass (StreamedImage.open(path), query)")
        image, query = context
        check_kind("query", query, str, 'pass a text, or "" to ask nothing')
        if previous is not None:
            check_kind("previous", previous, Allocation, "pass an earlier allocation of the image")
        begun = () if previous is None else _refined(previous.hierarchy)
        return super().allocate((image, query, begun), budget, pinned=pinned)

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """The gain of every refinement of the patches that ``budget`` may reach.

        Raises
        ------
        BudgetTooSmall : no token at all.
        """
        image, query, *begun = context
        reached = self._reached(self._seen(image, query), budget, begun[0] if begun else ())
        return super().problem_for(reached, context, check_budget(budget, reached))

    def traverse_and_select(self, problem: Problem) -> Solution:
        """Solve as `Hull` does; in the bound, patches whose children were not made gain all that they can for a token.

        Where errors are not known, neither is the order of siblings. The bound then holds for any: of c siblings each
        costs (c - 1) / c tokens, which is what all cost together, and less than some do.
        """
        solution, hierarchy = super().traverse_and_select(problem), problem.hierarchy
        parent, error, inherited, order, hides, below = (
            hierarchy.attribute(name) for name in ("parent", "error", "inherited_error", "order", "hidden", "below")
        )
        hidden = np.flatnonzero(hides > 0)
        if not hidden.size:
            return solution
        known = np.array_equal(order, inherited)
        parent, inherited = np.concatenate([parent, hidden]), np.append(inherited, hides[hidden])
        attributes = {"error": np.append(error, np.zeros(hidden.size)), "inherited_error": inherited}
        if known:  # an only child takes its parent's place, so that two tokens add one
            cost = np.append(hierarchy.node_cost, np.full(hidden.size, 2.0))
            imagined = Hierarchy.tree(parent, cost, mode="child", order=inherited, attributes=attributes)
        else:
            cost = np.where(parent < 0, 1.0, 1 - 1 / np.maximum(below[parent], 1))
            imagined = Hierarchy.tree(parent, cost, mode="add", attributes=attributes)
        wider = Problem.of(imagined, problem.metric or _KnownError(), None, problem.budget)
        relaxed = relaxation(wider)
        proof = certify(wider, relaxed.selected, relaxed.price, relaxed.share)
        bound = ceiling((*precise_total(wider.gain, relaxed.selected), proof.shortfall))
        gained = math.fsum(problem.gain[solution.selected])
        return replace(solution, upper_bound=max(bound, math.nextafter(gained, math.inf)), shortfall=None)

    def served(self, image: StreamedImage, query: str) -> Served:
        """What became of a question, see `hra.domains.tokens.TokenContext.served`."""
        return self._seen(image, query).served

    def realize(self, allocation: Allocation) -> PatchTokens:
        """The tokens of an allocation; their pixels are read from the image. What maps every pixel may not fit."""
        image, hierarchy, cut = allocation.context[0], allocation.hierarchy, allocation.cut
        places = np.stack([hierarchy.attribute(name)[cut] for name in ("level", "x", "y")], axis=1).astype(np.int32)
        weight = hierarchy.attribute("weight")[cut]
        return PatchTokens(image.values(places), places, weight, image.size, image.patch)

    def crops(self, allocation: Allocation, count: int, side: int) -> np.ndarray:
        """Up to ``count`` squares at full resolution that hold most of what the tokens were refined for.

        One after another the square around a token with the largest sum of errors that its tokens' own detail removes;
        what a square holds does not count for the next.

        Returns
        -------
        int64 [K, 4], pixels (x0, y0, x1, y1), end excluded, within the image.

        Raises
        ------
        ArrayError : no crop, or a side below one pixel.
        """
        if count < 1 or side < 1:
            raise ArrayError(f"{count} crops of {side} pixels", where="crops", fix="ask for at least one of each")
        image, hierarchy, cut = allocation.context[0], allocation.hierarchy, allocation.cut
        level, x, y = (hierarchy.attribute(name)[cut].astype(np.int64) for name in ("level", "x", "y"))
        extent = np.array(image.size[::-1])
        middle = np.minimum((np.stack([x, y], axis=1) + 0.5) * (image.patch << level)[:, None], extent)
        worth = (hierarchy.attribute("inherited_error") - hierarchy.attribute("error"))[cut]
        # Of a patch larger than a square, the square holds a part.
        worth *= np.minimum(1.0, side / (image.patch << level)) ** 2
        around = middle[np.argsort(-worth, kind="stable")[:_CENTRES]]
        corner = np.clip(np.rint(around - side / 2), 0, np.maximum(extent - side, 0)).astype(np.int64)
        centre = np.minimum(corner + side / 2, extent)
        held = np.asarray((np.abs(middle[None] - centre[:, None]) <= side / 2).all(axis=2))
        boxes = []
        for _ in range(min(count, len(corner))):
            best = int((held * worth).sum(axis=1).argmax())
            if not worth[held[best]].sum() > 0:
                break
            boxes.append([*corner[best], *np.minimum(corner[best] + side, extent)])
            worth = np.where(held[best], 0, worth)
        return np.array(boxes or [[0, 0, *np.minimum(side, extent)]], np.int64)

    def see(self, image: StreamedImage, query: str) -> SeenImage:
        """The image as a question weighs it."""
        check_kind("image", image, StreamedImage, "pass StreamedImage.open(path)")
        check_kind("query", query, str, 'pass a text, or "" to ask nothing')
        relevance = CueRelevance() if self.relevance is None else self.relevance
        pyramid = image.once((StreamedPyramid, "overview"), lambda: PatchPyramid(image.overview, image.patch))
        overview = TokenContext(pyramid, query, relevance)
        reads = isinstance(relevance, PhraseRelevance) and relevance.read is not False and reader.can_read()
        if not (reads and query and self.looks and image.first):
            return SeenImage(image, overview.relevance / overview.relevance.mean(), {}, overview.served)
        cues = replace(overview, scorer=CueRelevance())
        density = cues.relevance / cues.relevance.mean()
        windows = image.once((StreamedPyramid, "windows", self.looks), lambda: self._windows(image))
        read = chances(query, [overview, *(sheet for _, sheet in windows)])
        if read is None or not is_sure(read[2]):
            return SeenImage(image, density, {}, replace(cues.served, confidence=None if read is None else read[2]))
        return _mixed(image, density, spatial_words(query, *overview.grid), windows, *read)

    def _seen(self, image: StreamedImage, query: str) -> SeenImage:
        last = self._last  # read once: another thread may ask about another image in between
        if last is None or last[0] is not image or last[1] != query:
            last = self._last = image, query, self.see(image, query)
        return last[2]

    def _windows(self, image: StreamedImage) -> list[tuple[np.ndarray, TokenContext]]:
        """Sheets of windows at full resolution, with the first (row, column) of patches of each window [n, 2]."""
        patch, side = image.patch, image.patch << image.first
        # Strokes are the sharpest there is; without a pass, only how much is hidden can be guessed.
        hidden = image.beneath[1] if image.sharp is None else image.sharp
        order = np.argsort(-hidden, axis=None, kind="stable")[: max(_SKIMMED // side**2, 1)]
        likely: list[tuple[float, int, int]] = []
        for row, column in zip(*np.unravel_index(order[hidden.flat[order] > 0], hidden.shape), strict=True):
            # What crosses the border of a patch is print in both.
            rows, columns = (
                (max(n * side - 4 * patch, 0), (n + 1) * side + 4 * patch) for n in (int(row), int(column))
            )
            textual = text_likeness(image.pixels(0, rows, columns), patch)
            best = np.unravel_index(int(textual.argmax()), textual.shape)
            likely.append((float(textual[best]), rows[0] // patch + int(best[0]), columns[0] // patch + int(best[1])))
        last = np.maximum(np.array([-(-extent // patch) for extent in image.size]) - _WINDOW, 0)
        corners: list[np.ndarray] = []
        for textual, *middle in sorted(likely, reverse=True):
            corner = np.clip(np.array(middle) - _WINDOW // 2, 0, last)
            apart = all(np.abs(corner - other).max() >= _WINDOW // 2 for other in corners)
            if textual > 0 and apart and len(corners) < self.looks * _SHEET**2:
                corners.append(corner)
        found = [np.array(corners[n : n + _SHEET**2]) for n in range(0, len(corners), _SHEET**2)]
        return [(each, self._sheet(image, each)) for each in found]

    def _sheet(self, image: StreamedImage, corners: np.ndarray) -> TokenContext:
        """Windows side by side on white, a patch between them."""
        side, slot = _WINDOW * image.patch, (_WINDOW + 1) * image.patch
        canvas = np.ones((_SHEET * slot, _SHEET * slot, 3), np.float32)
        for number, (row, column) in enumerate((corners * image.patch).tolist()):
            pixels = image.pixels(0, (row, row + side), (column, column + side))
            top, left = (slot * k for k in divmod(number, _SHEET))
            canvas[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
        return TokenContext(PatchPyramid.build(canvas, patch=image.patch, levels=1), "", UniformRelevance())

    def _reached(self, seen: SeenImage, budget: float, begun: Sequence[_Node]) -> Hierarchy:
        """The part of the quadtree that ``budget`` may reach, its children added one at a time."""
        check_budget(budget, Hierarchy.flat(np.empty(0), cost_unit="tokens"))
        tree, limit = LazyTree(seen, PatchError(), seen), _EXPANDED * budget + 1000
        expanded = _expand_enough(tree, budget, begun, limit)
        _expand_worthy(tree, seen, budget, limit - expanded)
        return _tree(tree, seen)


def _expand_enough(tree: LazyTree, budget: float, begun: Sequence[_Node], limit: float) -> int:
    """Expand what may gain most, ``begun`` ones first, until there are enough patches; how many were expanded."""
    known, heap, queued, done = set(begun), [], 0, 0
    while True:
        for v in range(queued, len(tree.nodes)):
            node = tree.nodes[v]
            if node[0]:
                heapq.heappush(heap, (node not in known, -tree.potential[v][-1], v))
        queued = len(tree.nodes)
        # Enough patches for the count, and those of an earlier question.
        if not heap or done >= limit or (queued - done >= budget and heap[0][0]):
            return done
        tree.expand(heapq.heappop(heap)[2])
        done += 1


def _expand_worthy(tree: LazyTree, seen: SeenImage, budget: float, limit: float) -> None:
    """Expand what could be worth more than a token; of what is only guessed, until a round hardly moves the price."""
    last = 0.0
    while limit > 0:
        price = Hull(finish="none").solve(Problem.of(_tree(tree, seen), _KnownError(), None, budget)).price or 0.0
        if not seen.image.is_known and 0 < price < _MOVED * last:
            return
        last, potential = price, [steps[-1] for steps in tree.potential]
        more = [v for v, node in enumerate(tree.nodes) if node[0] and not tree.expanded[v] and potential[v] > price]
        if not more:
            return
        more = sorted(more, key=lambda v: -potential[v])[: int(min(limit, 1e9))]
        for v in more:
            tree.expand(v)
        limit -= len(more)


def _tree(tree: LazyTree, seen: SeenImage) -> Hierarchy:
    """What has been made, its children added one at a time.

    "hidden" is what the "below" patches below one could gain at most, as long as they are not made.
    """
    level, x, y = np.array(tree.nodes, np.int64).T
    parent, error = np.array(tree.parent), np.array(tree.error)
    hidden = np.where(np.array(tree.expanded) | (level == 0), 0.0, error)
    weight = np.array([seen.weight(node) for node in tree.nodes])
    rows, columns = (-(-extent // (seen.image.patch << np.maximum(level - 1, 0))) for extent in seen.image.size)
    below = np.minimum(rows - 2 * y, 2) * np.minimum(columns - 2 * x, 2)
    inherited = np.array(tree.inherited)
    attributes = {"level": level, "x": x, "y": y, "error": error, "inherited_error": inherited}
    # What a patch and all below it may gain: where errors are known, what it inherits.
    potential = np.array([steps[-1] for steps in tree.potential])
    order = np.where(potential == error, inherited, inherited - error + potential)
    attributes |= {"weight": weight, "hidden": hidden, "parent": parent, "below": below, "order": order}
    return Hierarchy.tree(
        parent, np.ones(parent.size), mode="child", order=order, attributes=attributes, cost_unit="tokens"
    )


def _refined(hierarchy: Hierarchy) -> list[_Node]:
    """The patches of an earlier allocation whose children were made."""
    parent = hierarchy.attribute("parent")
    places = np.stack([hierarchy.attribute(name) for name in ("level", "x", "y")], axis=1)
    return [tuple(place) for place in places[np.unique(parent[parent >= 0])].tolist()]


def _mixed(
    image: StreamedImage,
    density: np.ndarray,
    where: np.ndarray,
    windows: Sequence[tuple[np.ndarray, TokenContext]],
    maps: Sequence[np.ndarray],
    elsewhere: float,
    sure: float,
) -> SeenImage:
    """What was read of the overview and of windows, and of an answer elsewhere its share of all patches.

    Parameters
    ----------
    density : of the overview without what was read, mean 1.
    where : how well each patch of the overview lies where the question says, see `spatial_words`.
    """
    side = 1 << image.first
    grid = [-(-extent // image.patch) for extent in image.size]
    # By finest patch, as chances are: a patch of the overview has side**2 of them.
    mixed = density * (elsewhere / (density.size * side**2)) + maps[0] * where / side**2
    closer: dict[tuple[int, int], np.ndarray] = {}
    for (corners, _), chance in zip(windows, maps[1:], strict=True):
        for number, (top, left) in enumerate(corners.tolist()):
            first = [(_WINDOW + 1) * k for k in divmod(number, _SHEET)]
            window = chance[first[0] : first[0] + _WINDOW, first[1] : first[1] + _WINDOW]
            for y, x in np.argwhere(window > 0).tolist():
                row, column = top + y, left + x
                if row >= grid[0] or column >= grid[1]:
                    continue
                cell = row // side, column // side
                if cell not in closer:
                    shape = [min(side, extent - k * side) for extent, k in zip(grid, cell, strict=True)]
                    closer[cell] = np.full(shape, mixed[cell])
                # Windows may overlap: what both have read is there once.
                at = row % side, column % side
                closer[cell][at] = max(closer[cell][at], mixed[cell] + window[y, x] * where[cell])
    mean = mixed.copy()
    for cell, weights in closer.items():
        mean[cell] = weights.mean()
    closer = {cell: weights / mean.mean() for cell, weights in closer.items()}
    return SeenImage(image, mixed / mean.mean(), closer, Served("phrase", sure))


def _details_of(image: StreamedImage, cell: tuple[int, int]) -> list[np.ndarray]:
    """The details below a patch of level `first`, from level 0 on; of levels that a file has, by its pixels."""
    spans = [
        (cell[k] << image.first, min((cell[k] + 1) << image.first, -(-image.size[k] // image.patch))) for k in (0, 1)
    ]
    if image.is_known:
        return [
            np.asarray(image.details[k][tuple(slice(low >> k, -(-high >> k)) for low, high in spans)], np.float64)
            for k in range(image.first)
        ]
    rows, columns = ((low * image.patch, high * image.patch) for low, high in spans)
    level, details = as_image(image.pixels(0, rows, columns)), []
    for k in range(image.first):
        level, detail = halvings(level, np.float32(1), image.patch, 4.0**k)
        details.append(detail.astype(np.float64))
    return details
