"""Multiple fixations: an overview, then the target of the query, then what was missed.

Its hierarchy is the patch pyramid in layers, where coarse patches stay when finer ones are added; its metric is the
reconstruction error as it counts from one fixation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.methods.confidence import Confidence, ShownConfidence, is_confident
from hra.domains.tokens.methods.whole_image import patches_of_whole
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.patches.tokens import PatchBuilder, PatchTokens
from hra.domains.tokens.relevance.fixation import CentreFixation, coarse_peak
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.errors import ArrayError, check_function, check_kind
from hra.model.arrays import number_in
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import check_budget
from hra.solvers.apportionment import largest_remainder
from hra.traversals.hull import Hull


@dataclass(frozen=True)
class LayeredBuilder(PatchBuilder):
    """Every patch is added to its parent, which stays: what was encoded once is never thrown away or encoded again.

    It costs up to a third more tokens than `PyramidBuilder` for the same image, and lets an encoder work step by step.
    At the border a patch may have a single child, which shows the same pixels: the child then stands for both.
    """

    def build(self, context: TokenContext) -> Hierarchy:
        """An "add" tree with the attributes "level", "x", "y" and "over", the coarsest patch of the same pixels."""
        pyramid = context.pyramid
        parents, over = pyramid.parents, np.arange(len(pyramid.parents))
        single = np.bincount(parents[parents >= 0], minlength=over.size) == 1
        for begin, end in reversed(list(pairwise(pyramid.offsets[:-1].tolist()))):  # from coarse to fine
            above = parents[begin:end]
            over[begin:end] = np.where(single[above], over[above], over[begin:end])
        kept = np.flatnonzero(~single)
        above, new = parents[over[kept]], np.cumsum(~single) - 1
        level, x, y = pyramid.positions[kept].T
        attributes = {"level": level, "x": x, "y": y, "over": over[kept]}
        kept_parents = np.where(above < 0, -1, new[above])
        return Hierarchy.tree(kept_parents, np.ones(kept.size), mode="add", attributes=attributes, cost_unit="tokens")


class Look(NamedTuple):
    """A fixation (x, y) in pixels, and the nodes int64 [K] that were shown after it."""

    gaze: tuple[float, float]
    cut: np.ndarray


@dataclass(frozen=True, eq=False)
class FixatedError(ErrorMetric):
    """`RelevanceError` with relevance foveated around one point, see `FoveatedRelevance`. Make it with `at`.

    Attributes
    ----------
    seen : the context as it is seen from the fixation; the metric reads it in place of the one that it is given.
    gaze : the fixation, (x, y) in pixels; before : the fixations before it, and what each one had shown.
    """

    seen: TokenContext
    gaze: tuple[float, float]
    before: tuple[Look, ...] = ()
    unit = "foveated mean squared error"
    additive = False  # gains of several fixations are not those of one: no certificate covers them all

    @classmethod
    def at(
        cls,
        gaze: tuple[float, float],
        context: TokenContext,
        field_of_view: float = 20.0,
        before: tuple[Look, ...] = (),
    ) -> FixatedError:
        """The metric of a fixation at (x, y) in pixels; ``field_of_view`` is what the longer side spans, in degrees."""
        relevance = FoveatedRelevance(
            lambda seen: context.relevance,
            field_of_view,
            fixation=lambda image, query, relevance: gaze,
        )
        return cls(TokenContext(context.pyramid, context.query, relevance), gaze, before)

    def fixations(self, cut: np.ndarray) -> np.ndarray:
        """The fixation (x, y) that took each node of ``cut`` first, float64 [K, 2]."""
        points = np.tile(np.array(self.gaze, np.float64), (len(cut), 1))
        for look in self.before[::-1]:
            points[np.isin(cut, look.cut)] = look.gaze
        return points

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error while the patch itself shows its region, float64 [N]."""
        return RelevanceError().evaluate(hierarchy, self.seen)

    def inherited(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error of the same region while its parent shows it, float64 [N]."""
        return RelevanceError().inherited(hierarchy, self.seen)


NextFixation = Callable[[TokenContext, PatchTokens], tuple[float, float]]
"""(context, tokens so far) -> where to look next, (x, y) in pixels; before the first there are no tokens."""


def look_at_centre(context: TokenContext, seen: PatchTokens) -> tuple[float, float]:
    """The centre of the image."""
    return CentreFixation()(context.pyramid.image, context.query, context.relevance)


def look_at_target(context: TokenContext, seen: PatchTokens) -> tuple[float, float]:
    """The most relevant cell of a coarse pass, see `coarse_peak`."""
    return coarse_peak(context.relevance, context.pyramid.patch)


def look_at_gaps(context: TokenContext, seen: PatchTokens) -> tuple[float, float]:
    """The cell with most relevance times the level at which it was seen: 0 where it was seen at its finest."""
    level = np.full(context.pyramid.grids[0], len(context.pyramid.levels))
    for depth, x, y in seen.places[np.argsort(-seen.places[:, 0], kind="stable")].tolist():
        level[y << depth : (y + 1) << depth, x << depth : (x + 1) << depth] = depth
    return coarse_peak(context.relevance * level, context.pyramid.patch)


class MultiFixation(TokenAllocator[PatchTokens]):
    """Up to three fixations that share one budget: the centre, the target of the query, and the gaps.

    Each adds an equal share of the budget to what the ones before it took (by
    `hra.solvers.apportionment.largest_remainder`), as the foveated pyramid around its point. Before each further one
    the confidence is checked; once it reaches the threshold, the fixation before it gets all that is left. Patches stay
    when finer ones are added, so that nothing is encoded twice, and the count is exact in every case. In a pool and for
    curves there are no fixations: relevance alone decides.

    Source: fixations one after another with stopping by confidence, V. Mnih et al., "Recurrent models of visual
    attention" (NIPS 2014), here without training; the order of the three is that of the project's notes.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    levels : at most this many levels of detail; by default down to a single patch.
    fixations : where to look, one after another.
    confidence : (context, tokens so far) -> 0 .. 1; by default `ShownConfidence`.
    threshold : the confidence at which looking ends, 0 .. 1; the notes leave it open.
    field_of_view : degrees that the longer side of the image spans.

    Raises
    ------
    ArrayError : no fixation, or a threshold out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.MultiFixation()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        levels: int | None = None,
        fixations: Sequence[NextFixation] = (look_at_centre, look_at_target, look_at_gaps),
        confidence: Confidence | None = None,
        threshold: float = 0.75,
        field_of_view: float = 20.0,
    ) -> None:
        check_kind("fixations", fixations, (list, tuple), "pass a list of functions, such as tokens.look_at_centre")
        for number, fixation in enumerate(fixations):
            check_function(f"fixations[{number}]", fixation, "pass functions of (context, tokens) that give (x, y)")
        if not fixations:
            raise ArrayError("there is nowhere to look", where="fixations", fix="give at least one")
        if confidence is not None:
            check_function("confidence", confidence, "pass a function of (context, tokens) that gives 0 to 1")
        number_in("threshold", threshold, 0, 1, ArrayError)
        number_in("field_of_view", field_of_view, 0, 180, ArrayError, ends=False)
        super().__init__(
            *(LayeredBuilder(), RelevanceError(), Hull(spend_all=True)),
            relevance=relevance,
            patch=patch,
            levels=levels,
            stand_in=patches_of_whole,
            steps=self._last_look,
            gazes=_fixations,
        )
        self.fixations = tuple(fixations)
        self.confidence = ShownConfidence() if confidence is None else confidence
        self.threshold = threshold
        self.field_of_view = field_of_view

    def _last_look(self, context: TokenContext, budget: float, previous: Allocation | None, pinned: Any) -> Allocation:
        """The allocation after the last fixation; its gain is what that one added."""
        return self.look(context, budget, previous=previous, pinned=pinned)[-1]

    def look(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> list[Allocation]:
        """The allocation after each fixation that was made, each holding the one before it; the last has the budget.

        Parameters, errors : as for `TokenAllocator.allocate`.
        """
        context = self._context(context)
        whole = patches_of_whole(context, check_budget(budget, context.hierarchy(self.builder)))
        if whole is not None:
            return [whole.allocate(context, budget, previous=previous, pinned=pinned)]
        budgets = self._budgets(context, budget)
        nothing = self.builder.tokens(context, context.hierarchy(self.builder), np.zeros(0, np.int64))
        gaze, looks = self.fixations[0](context, nothing), ()
        around = self._around(gaze, context, looks)
        steps = [around.allocate(context, budgets[0], previous=previous, pinned=pinned)]
        for spent, fixation in zip(budgets[1:], self.fixations[1:], strict=True):
            seen, pinned = self.realize(steps[-1]), steps[-1].cut
            if is_confident(self.confidence, context, seen, self.threshold):
                steps[-1] = around.allocate(context, budgets[-1], previous=previous, pinned=pinned)
                break
            looks = (*looks, Look(gaze, steps[-1].cut))
            gaze = fixation(context, seen)
            around = self._around(gaze, context, looks)
            steps.append(around.allocate(context, spent, previous=previous, pinned=pinned))
        return steps

    def _budgets(self, context: TokenContext, budget: float) -> list[int]:
        """What may be spent by the end of each fixation, in tokens, the overview included."""
        hierarchy = context.hierarchy(self.builder)
        total, base = int(min(check_budget(budget, hierarchy), hierarchy.total_cost)), int(hierarchy.base_cost)
        shares = largest_remainder(np.ones(len(self.fixations)), total - base, minimum=0)
        return (base + np.cumsum(shares)).tolist()

    def _around(
        self, gaze: tuple[float, float], context: TokenContext, looks: tuple[Look, ...]
    ) -> TokenAllocator[PatchTokens]:
        metric = FixatedError.at(gaze, context, self.field_of_view, looks)
        return TokenAllocator(self.builder, metric, self.traversal)


def _fixations(context: TokenContext, metric: ErrorMetric | None, cut: np.ndarray) -> np.ndarray | None:
    """The fixation that took each token of ``cut``; None in a pool, which has no fixations."""
    return metric.fixations(cut) if isinstance(metric, FixatedError) else None
