"""Two passes: encode coarsely, score what was seen, refine where the score is high.

The score becomes the order in which the cells of a gestalt are refined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.methods.confidence import normalised_entropy
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, ResizedGestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltBuilder, GestaltTokens
from hra.domains.tokens.methods.whole_image import base_of_whole
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.errors import ArrayError, MetricError, check_function
from hra.model.arrays import to_numpy
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import check_budget
from hra.traversals.hull import Hull


@dataclass(frozen=True, eq=False)
class CellRank(ErrorMetric):
    """Finest patches in the order of their base tokens' scores, and within one by relevance.

    Parameters
    ----------
    scores : float64 [B] of the base tokens, row by row.
    """

    scores: np.ndarray
    unit = "rank"
    kind = "gain"
    additive = False  # a rank is not a quality

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """The rank of every patch, the first to refine highest, float64 [N]; 0 for base tokens."""
        parent, rank = hierarchy.node_parent, np.zeros(hierarchy.node_cost.size)
        added = np.flatnonzero(hierarchy.added_by >= 0)
        if parent is None or not added.size:
            return rank
        relevance = RelevanceGain().evaluate(hierarchy, context)[added]
        # Of equal scores and relevance the first patch comes first; cells are refined one after the other.
        order = np.lexsort((-added, relevance, -parent[added], self.scores[parent[added]]))
        rank[added[order]] = 1.0 + np.arange(added.size)
        return rank


CellScore = Callable[[TokenContext, GestaltTokens], Any]
"""(context, base tokens) -> score of every base token [B], >= 0: a model's attention to it, for example."""


def relevance_score(context: TokenContext, coarse: GestaltTokens) -> np.ndarray:
    """The mean relevance of each base token's region, float64 [B]."""
    return coarse.relevance


class TwoPass(TokenAllocator[GestaltTokens]):
    """All base tokens first; then cell after cell is shown by its finest patches, in the order of a score of the base.

    The score is what a model says after it has seen the base: attention, its entropy (`attention_entropy`), gradients.
    The count is exact for any budget; how many cells that refines follows from it. The two rules of the notes are
    budgets: `budget_for_share`, the best 20 % of the cells, and `budget_for_confidence`, 128 tokens more if the
    confidence is low. In a pool and for curves there is one pass: relevance alone decides.

    Source: coarse-to-fine attention over patches, A. Katharopoulos and F. Fleuret, "Processing megapixel images with
    deep attention-sampling models" (ICML 2019), here without training and with a fixed order in place of sampling.

    Parameters
    ----------
    score : (context, base tokens) -> [B], >= 0; by default `relevance_score`.
    relevance : orders the patches of one cell, see `Relevance`; by default
        `CueRelevance`.
    patch : side of a patch in pixels.
    gestalt : the base tokens; by default 16 x 16 = 256 of the resized image.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.TwoPass(gestalt=tokens.ResizedGestalt(4, 4))
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        score: CellScore | None = None,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        gestalt: Gestalt | None = None,
    ) -> None:
        if score is not None:
            check_function(
                "score", score, "pass a function of the context and the base tokens that gives one per token"
            )
        builder = GestaltBuilder(ResizedGestalt() if gestalt is None else gestalt)
        super().__init__(
            builder,
            RelevanceGain(),
            Hull(spend_all=True),
            relevance=relevance,
            patch=patch,
            levels=1,
            stand_in=base_of_whole,
            steps=self._second_pass,
        )
        self.score = relevance_score if score is None else score

    def _second_pass(
        self, context: TokenContext, budget: float, previous: Allocation | None, pinned: Any
    ) -> Allocation:
        """The allocation of the second pass.

        Raises
        ------
        MetricError : the score is not one finite number >= 0 per base token.
        """
        budget = check_budget(budget, context.hierarchy(self.builder))  # before the score, which may be a model
        second = TokenAllocator(self.builder, CellRank(self._scores(context)), self.traversal)
        return second.allocate(context, budget, previous=previous, pinned=pinned)

    def budget_for_share(self, context: Any, share: float = 0.2) -> int:
        """The tokens that show the best ``share`` of the cells, rounded up, by all their finest patches.

        Parameters
        ----------
        context : (image, query) or a `TokenContext`.
        share : 0 .. 1.

        Raises
        ------
        ArrayError : the share is out of range.
        """
        if not 0 <= share <= 1:
            raise ArrayError(f"a share of {share:g}", where="share", fix="use a number from 0 to 1")
        context = self._context(context)
        hierarchy, scores = context.hierarchy(self.builder), self._scores(context)
        parent = hierarchy.node_parent
        patches = np.bincount(parent[parent >= 0], minlength=scores.size)  # pyright: ignore[reportOptionalSubscript]
        best = np.argsort(-scores, kind="stable")[: int(np.ceil(share * scores.size - 1e-9))]
        return scores.size + int(patches[best].sum())

    def budget_for_confidence(self, context: Any, *, threshold: float = 0.5, extra: int = 128) -> int:
        """The base tokens, and ``extra`` more if the scores do not agree on few cells.

        Parameters
        ----------
        context : (image, query) or a `TokenContext`.
        threshold : of the confidence, which is one less the normalised entropy of the scores.
        """
        scores = self._scores(self._context(context))
        return scores.size + (extra if 1 - normalised_entropy(scores) < threshold else 0)

    def _scores(self, context: TokenContext) -> np.ndarray:
        """The checked scores of the base tokens, float64 [B]."""
        hierarchy = context.hierarchy(self.builder)
        base = np.flatnonzero(hierarchy.added_by < 0)
        scores = to_numpy(self.score(context, self.builder.tokens(context, hierarchy, base)))
        if scores.shape != base.shape or not (np.isfinite(scores) & (scores >= 0)).all():
            what = f"the score is {scores.dtype} of shape {scores.shape}"
            raise MetricError(what, where="score", fix=f"return {base.size} finite numbers >= 0, one per base token")
        return scores.astype(np.float64)
