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
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.streamed import StreamedImage, halvings
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.pyramid.blocks import block_means, block_sums
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.phrase import PhraseRelevance
from hra.errors import ArrayError
from hra.files.images.arrays import as_image
from hra.model.budget import check_budget
from hra.model.hierarchy import Hierarchy
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.model.metrics import ErrorMetric
from hra.model.precise import ceiling, precise_total
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.duals import certify
from hra.solvers.lazy.tree import LazyTree
from hra.solvers.relaxation import relaxation
from hra.traversals.hull import Hull

_Node = tuple[int, int, int]
_WINDOW = 1024  # pixels along a side of what is looked at closely
_LOOKS = 8  # windows at most; reading one takes about half a second, keeping it 12 MB
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
    """

    image: StreamedImage
    density: np.ndarray
    closer: dict[tuple[int, int], np.ndarray]
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

    Relevance is that of the overview. `PhraseRelevance`, which reads, is also asked about windows of 1,024 pixels at
    full resolution, those that hold most error that the overview does not show; what was read is kept with the image,
    so that the next question reads few new tiles.

    Parameters
    ----------
    relevance : of the overview; by default `CueRelevance`.
    looks : windows that are read closely for a question, at most.

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
        if looks < 0:
            raise ArrayError(f"looks must be >= 0, got {looks}", where="looks")
        self.relevance, self.looks = relevance, looks
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
        image, query = context
        begun = () if previous is None else _refined(previous.hierarchy)
        return super().allocate((image, query, begun), budget, pinned=pinned)

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """The gain of every refinement of the patches that ``budget`` may reach.

        Raises
        ------
        BudgetTooSmall : no token at all.
        """
        image, query, *begun = context
        if self._last is None or self._last[0] is not image or self._last[1] != query:
            self._last = image, query, self.see(image, query)
        seen = self._last[2]
        reached = self._reached(seen, budget, begun[0] if begun else ())
        return super().problem_for(reached, context, check_budget(budget, reached))

    def traverse_and_select(self, problem: Problem) -> Solution:
        """As `Hull`, with a bound in which patches whose children were not made gain all that they can for a token."""
        solution, hierarchy = super().traverse_and_select(problem), problem.hierarchy
        hidden = np.flatnonzero(hierarchy.attribute("hidden") > 0)
        if not hidden.size:
            return solution
        parent = np.concatenate([hierarchy.attribute("parent"), hidden])
        error, inherited = (hierarchy.attribute(name) for name in ("error", "inherited_error"))
        error = np.append(error, np.zeros(hidden.size))
        inherited = np.append(inherited, hierarchy.attribute("hidden")[hidden])
        # The last child takes its parent's place, so that two tokens add one.
        cost = np.append(hierarchy.node_cost, np.full(hidden.size, 2.0))
        attributes = {"error": error, "inherited_error": inherited}
        imagined = Hierarchy.tree(parent, cost, mode="child", order=inherited, attributes=attributes)
        wider = Problem.of(imagined, problem.metric or _KnownError(), None, problem.budget)
        relaxed = relaxation(wider)
        proof = certify(wider, relaxed.selected, relaxed.price, relaxed.share)
        bound = ceiling((*precise_total(wider.gain, relaxed.selected), proof.shortfall))
        gained = math.fsum(problem.gain[solution.selected])
        return replace(solution, upper_bound=max(bound, math.nextafter(gained, math.inf)), shortfall=None)

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
        corner = np.clip(np.rint(middle - side / 2), 0, np.maximum(extent - side, 0)).astype(np.int64)
        boxes = []
        for _ in range(min(count, len(cut))):
            held = (np.abs(middle[None] - np.minimum(corner + side / 2, extent)[:, None]) <= side / 2).all(axis=2)
            best = int((held * worth).sum(axis=1).argmax())
            if not worth[held[best]].sum() > 0:
                break
            boxes.append([*corner[best], *np.minimum(corner[best] + side, extent)])
            worth = np.where(held[best], 0, worth)
        return np.array(boxes or [[0, 0, *np.minimum(side, extent)]], np.int64)

    def see(self, image: StreamedImage, query: str) -> SeenImage:
        """The image as a question weighs it."""
        relevance = CueRelevance() if self.relevance is None else self.relevance
        pyramid = image.once((StreamedPyramid, "overview"), lambda: PatchPyramid(image.overview, image.patch))
        overview = TokenContext(pyramid, query, relevance)
        density = overview.relevance / overview.relevance.mean()
        seen = SeenImage(image, density, {})
        if not (self.looks and query and isinstance(relevance, PhraseRelevance)) or image.first == 0:
            return seen
        sure = overview.served.confidence or 0.0 if overview.served.by == "phrase" else 0.0
        found: list[tuple[float, tuple[slice, slice], np.ndarray]] = []
        for cells in self._windows(seen):
            window = self._window(image, cells, relevance).asking(query)
            if window.served.by == "phrase" and window.served.confidence:
                found.append((window.served.confidence, cells, window.relevance / window.relevance.sum()))
        total = sure + sum(chance for chance, *_ in found)
        return _mixed(image, density, found, max(total, 1.0)) if found else seen

    def _windows(self, seen: SeenImage) -> list[tuple[slice, slice]]:
        """Cells of the windows with most that the overview does not show, the best first."""
        side = max(_WINDOW // (seen.image.patch << seen.image.first), 1)
        hidden = seen.image.beneath[1]
        # A label fills little of a window: its most promising cell counts.
        rows, columns = (np.arange(0, extent, side) for extent in hidden.shape)
        best = np.maximum.reduceat(np.maximum.reduceat(hidden, rows, axis=0), columns, axis=1)
        order = np.argsort(-best, axis=None, kind="stable")[: self.looks]
        places = np.stack(np.unravel_index(order, best.shape), axis=1) * side
        return [(slice(y, y + side), slice(x, x + side)) for y, x in places.tolist()]

    def _window(self, image: StreamedImage, cells: tuple[slice, slice], relevance: Relevance) -> TokenContext:
        """A window at full resolution without a question; pixels and what was read of them stay with the image."""

        def look() -> TokenContext:
            scale = image.patch << image.first
            rows, columns = (
                (part.start * scale, min(part.stop * scale, side)) for part, side in zip(cells, image.size, strict=True)
            )
            pixels = image.pixels(0, rows, columns)
            return TokenContext(PatchPyramid.build(pixels, patch=image.patch, levels=1), "", relevance)

        return image.once((StreamedPyramid, "window", cells[0].start, cells[1].start), look)

    def _reached(self, seen: SeenImage, budget: float, begun: Sequence[_Node]) -> Hierarchy:
        """The part of the quadtree that ``budget`` may reach, its children added one at a time."""
        check_budget(budget, Hierarchy.flat(np.empty(0), cost_unit="tokens"))
        tree = LazyTree(seen, PatchError(), seen)
        known = set(begun)
        heap: list[tuple[bool, float, int]] = []
        leaves, limit = len(tree.nodes), (_EXPANDED * budget + 1000)

        def put(v: int) -> None:
            node = tree.nodes[v]
            if node[0]:
                heapq.heappush(heap, (node not in known, -tree.potential[v][-1], v))

        for v in range(leaves):
            put(v)
        done = 0
        # Enough patches for the count, and those of an earlier question.
        while heap and (leaves < budget or not heap[0][0]) and done < limit:
            v = heapq.heappop(heap)[2]
            before = len(tree.nodes)
            tree.expand(v)
            done, leaves = done + 1, leaves + len(tree.nodes) - before - 1
            for u in range(before, len(tree.nodes)):
                put(u)
        # All that could be worth more than a token.
        while done < limit:
            price = Hull(finish="none").solve(Problem.of(_tree(tree, seen), _KnownError(), None, budget)).price or 0.0
            more = [
                v
                for v, node in enumerate(tree.nodes)
                if node[0] and not tree.expanded[v] and tree.potential[v][-1] > price
            ]
            more = sorted(more, key=lambda v: -tree.potential[v][-1])[: int(min(limit - done, 1e9))]
            for v in more:
                tree.expand(v)
            done += len(more)
            if not more:
                break
        return _tree(tree, seen)


def _tree(tree: LazyTree, seen: SeenImage) -> Hierarchy:
    """What has been made, its children added one at a time; "hidden" is what could be gained below a node at most."""
    level, x, y = np.array(tree.nodes, np.int64).T
    parent, error = np.array(tree.parent), np.array(tree.error)
    hidden = np.where(np.array(tree.expanded) | (level == 0), 0.0, error)
    weight = np.array([seen.weight(node) for node in tree.nodes])
    inherited = np.array(tree.inherited)
    attributes = {"level": level, "x": x, "y": y, "error": error, "inherited_error": inherited}
    attributes |= {"weight": weight, "hidden": hidden, "parent": parent}
    return Hierarchy.tree(
        parent, np.ones(parent.size), mode="child", order=inherited, attributes=attributes, cost_unit="tokens"
    )


def _refined(hierarchy: Hierarchy) -> list[_Node]:
    """The patches of an earlier allocation whose children were made."""
    parent = hierarchy.attribute("parent")
    places = np.stack([hierarchy.attribute(name) for name in ("level", "x", "y")], axis=1)
    return [tuple(place) for place in places[np.unique(parent[parent >= 0])].tolist()]


def _mixed(
    image: StreamedImage,
    density: np.ndarray,
    found: Sequence[tuple[float, tuple[slice, slice], np.ndarray]],
    total: float,
) -> SeenImage:
    """The density of the overview, and of windows what was read there; ``total`` of their chances, at least 1."""
    patches = 4**image.first  # finest ones in a cell
    rest = 1 - sum(chance for chance, *_ in found) / total
    cells, closer = density.size, {}
    mixed = density * rest
    for chance, (rows, columns), share in found:
        side = 1 << image.first
        for row in range(rows.start, min(rows.stop, density.shape[0])):
            for column in range(columns.start, min(columns.stop, density.shape[1])):
                top, left = (row - rows.start) * side, (column - columns.start) * side
                here = share[top : top + side, left : left + side]
                # A share of 1 on one patch is as dense as all patches together.
                closer[row, column] = mixed[row, column] + here * (chance / total * cells * patches)
    return SeenImage(image, mixed, closer)


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
