"""Token hierarchies built from an image: the flat grid and the patch pyramid. Every token costs 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import Choice, DirectBuilder, best_of
from hra.domains.tokens.patches.best_cut import BestCut, best_cut
from hra.domains.tokens.patches.boxes import BoxTokens, tree_in_time, tree_of_copy
from hra.domains.tokens.patches.metrics import RelevanceError, RelevanceGain
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.model.gains import warn_of_repairs
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class GridBuilder(DirectBuilder[PatchTokens]):
    """The finest patches, independent of each other; nothing is shown before the first is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> tokens.GridBuilder().build(context)
    Hierarchy(forest of 96 refinements over 96 nodes, cost in tokens)
    """

    in_time: ClassVar[bool] = True

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "level", "x", "y"."""
        count = context.pyramid.offsets[1]
        attributes = _places(context.pyramid.positions[:count])
        return Hierarchy.flat(np.ones(count), attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.of(context, hierarchy, cut)

    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """The most relevant patches; see `DirectBuilder.choose`."""
        if not isinstance(metric, RelevanceGain):
            return None
        return best_of(context, context.relevance.ravel(), budget, certified=True)

    def chosen(self, context: TokenContext, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.at(context, context.pyramid.positions[cut])


@dataclass(frozen=True)
class PyramidBuilder(DirectBuilder[Any]):  # patches of pictures, boxes of videos
    """The patch pyramid as a quadtree whose children are added one at a time; a patch leaves with its last child.

    So every count from the coarsest level to all finest patches can be met. Siblings come in falling error while only
    their parent shows them: what lies below the first child then needs no other child. Videos, and pictures with a
    small copy, have trees of their own, see `hra.domains.tokens.patches.boxes`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> hierarchy = tokens.PyramidBuilder().build(context)
    >>> hierarchy.base_cost, hierarchy.total_cost
    (1.0, 96.0)
    """

    in_time: ClassVar[bool] = True
    with_copy: ClassVar[bool] = True
    rule: ClassVar[Traversal] = BestCut()

    def build(self, context: TokenContext) -> Hierarchy:
        """A tree with the attributes "level", "x", "y", "error" and "inherited_error" (see `RelevanceError`)."""
        if not _is_plain(context):
            return tree_in_time(context) if context.steps > 1 else tree_of_copy(context)
        pyramid = context.pyramid
        own, inherited = context.node_errors
        return Hierarchy.tree(
            pyramid.parents,
            np.ones(own.size),
            mode="child",
            order=inherited,
            attributes={**_places(pyramid.positions), "error": own, "inherited_error": inherited},
            cost_unit="tokens",
        )

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> TokenSet:
        """The patches of ``cut``."""
        return (PatchTokens if _is_plain(context) else BoxTokens).of(context, hierarchy, cut)

    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """The proven best cut; see `DirectBuilder.choose`.

        Warns
        -----
        RepairWarning : a finer level had more error than the coarser one.
        """
        pyramid = context.pyramid
        if not _is_plain(context):
            return None
        roots = pyramid.offsets[-1] - pyramid.offsets[-2]
        if not isinstance(metric, RelevanceError) or not roots <= budget < pyramid.offsets[1]:
            return None
        cut = best_cut(pyramid.tree, *context.node_errors, budget)
        if not cut.proven or cut.spent != budget:
            return None
        warn_of_repairs(cut.repaired)
        return Choice(context, np.flatnonzero(cut.active), cut.gain, cut.base_error, cut.shortfall)

    def chosen(self, context: TokenContext, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.at(context, context.pyramid.positions[cut])


def _is_plain(context: TokenContext) -> bool:
    """Whether a context is that of one picture alone."""
    return context.steps == 1 and context.small is None


def _places(positions: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("level", "x", "y"), positions.T, strict=True))
