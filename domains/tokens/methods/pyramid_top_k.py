"""Pyramid top-K: patches of every level scored alike, the best ones taken, whatever they cover.

A coarser level is scored by what the level itself shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.scores import check_relevance
from hra.domains.tokens.context.token_builder import Choice, DirectBuilder, best_of
from hra.domains.tokens.methods.whole_image import patches_of_whole
from hra.domains.tokens.patches.metrics import AttributeGain
from hra.domains.tokens.patches.tokens import PatchBuilder, PatchTokens
from hra.domains.tokens.pyramid.blocks import block_means
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError, check_choice
from hra.model.arrays import number_in, numbers
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.solvers.apportionment import largest_remainder
from hra.traversals.apportion import Apportion
from hra.traversals.hull import Hull


def level_relevance(context: TokenContext, level: int) -> np.ndarray:
    """Relevance of every patch of a level, seen as an image of its own: float64 [rows, columns], >= 0.

    A scorer that says the same of every image, such as a given map, answers for the finest patches; their means count.

    Raises
    ------
    MetricError : the scorer returned another shape, NaN or infinite values.
    """
    if level == 0:
        return context.relevance
    pyramid = context.pyramid
    seen = TokenContext(
        PatchPyramid(pyramid.levels[level:], pyramid.patch), context.query, context.scorer, context.encoder
    )
    scores = seen.scorer(seen)
    if np.shape(scores) == pyramid.grids[0] != pyramid.grids[level]:
        return block_means(context.relevance, 2**level)
    return check_relevance(scores, seen.grid, seen.cover)


LevelSplit = Callable[[TokenContext], Any]
"""context -> weight of every level of its pyramid [L], >= 0."""


@dataclass(frozen=True)
class ScoredPatchesBuilder(PatchBuilder, DirectBuilder[PatchTokens]):
    """The patches of all levels, independent of each other.

    Parameters
    ----------
    level_weight : factor on the score from each level to the next coarser one.
    level_split : weight of each level in a split, from fine to coarse, or what makes it of a context; empty for none.
    score : "own" content of a patch, or the mean of the finest patches "below" it.
    """

    level_weight: float = 1.1
    level_split: tuple[float, ...] | LevelSplit = ()
    score: Literal["own", "below"] = "own"

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "level", "x", "y", "score", "stratum" (the level) and "split"."""
        level, x, y = context.pyramid.positions.T
        split = self._split(context)
        attributes = {
            **{"level": level, "x": x, "y": y, "stratum": level, "split": split[level]},
            "score": self._scores(context),
        }
        return Hierarchy.flat(np.ones(level.size), attributes=attributes, cost_unit="tokens")

    def choose(self, context: TokenContext, metric: ErrorMetric, budget: int) -> Choice | None:
        """The best scores; see `DirectBuilder.choose`. They do not add up to a quality, so there is no certificate."""
        if not isinstance(metric, AttributeGain) or metric.attribute != "score":
            return None
        return best_of(context, self._scores(context), budget, certified=metric.additive)

    def chosen(self, context: TokenContext, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.at(context, context.pyramid.positions[cut])

    def _split(self, context: TokenContext) -> np.ndarray:
        """The weight of each level, float64 [L or more]."""
        if callable(self.level_split):
            return checked_split(self.level_split(context), len(context.pyramid.levels))
        return np.array(self.level_split or np.ones(len(context.pyramid.levels)))

    def _scores(self, context: TokenContext) -> np.ndarray:
        """Relevance of every patch times the weight of its level, float64 [N]."""
        scored = level_relevance if self.score == "own" else _mean_below
        maps = context.once((self.score, "levels"), lambda: _per_level(scored, context))
        return np.concatenate([self.level_weight**level * each.ravel() for level, each in enumerate(maps)])


def _per_level(scored: Callable[[TokenContext, int], np.ndarray], context: TokenContext) -> list[np.ndarray]:
    return [scored(context, level) for level in range(len(context.pyramid.levels))]


def _mean_below(context: TokenContext, level: int) -> np.ndarray:
    """Mean relevance of the finest patches below every patch of a level, [rows, columns]."""
    return block_means(context.relevance, 2**level)


class PyramidTopK(TokenAllocator[PatchTokens]):
    """The ``budget`` best-scored patches over all levels: "pyramid sampling" as it was first written down.

    A patch scores its own relevance times ``level_weight ** level``: every level is scored as the image that it is, so
    that a coarse patch counts by what can be seen in it. It differs from `PyramidSampling`: nothing makes the patches
    cover the image, and nothing keeps a patch and its own children from being taken both. With "below" a patch
    scores the mean of the finest patches below; no larger than the largest of them, it then needs a weight above 1.

    A 1024 x 1024 image has 4096 + 1024 + 256 + 64 = 5440 patches in 4 levels.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    levels : at most this many levels of detail; ``level_split`` gives its own number.
    level_weight : factor on the score from each level to the next coarser one, > 0; the notes leave it open ("coarse a
        little higher").
    level_split : tokens of each level from fine to coarse, such as (64, 128, 64, 17): any budget is dealt out in these
        proportions by `hra.solvers.apportionment.largest_remainder`, and the best of each level are taken. Such counts
        are possible only here: a cut that keeps 17 patches of the coarsest 64 has at least 188 of the next level. Or
        what makes such weights of a `TokenContext`, one for each of its levels: a trained
        `hra.domains.tokens.learned.SplitNetwork`.
    score : see above.

    Raises
    ------
    ArrayError : weight or split out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidTopK()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        levels: int = 4,
        level_weight: float = 1.1,
        level_split: tuple[float, ...] | LevelSplit | None = None,
        score: Literal["own", "below"] = "own",
    ) -> None:
        number_in("level_weight", level_weight, 0, np.inf, ArrayError, ends=False)
        check_choice("score", score, ("own", "below"), ArrayError)
        if level_split is None or callable(level_split):
            split = level_split or ()
        else:
            split = tuple(checked_split(level_split).tolist())
            levels = len(split)
        traversal = (
            Apportion(partial(largest_remainder, minimum=0), importance="split") if split else Hull(spend_all=True)
        )
        builder, metric = ScoredPatchesBuilder(level_weight, split, score), AttributeGain("score", "weighted relevance")
        super().__init__(
            builder, metric, traversal, relevance=relevance, patch=patch, levels=levels, stand_in=patches_of_whole
        )


def checked_split(level_split: Any, length: int | None = None) -> np.ndarray:
    """Weights of levels, float64 [L].

    Raises
    ------
    ArrayError : not ``length`` finite numbers >= 0, or all of them 0.
    """
    weights = numbers("level_split", level_split, length)
    if not weights.any() or (weights < 0).any():
        raise ArrayError(f"a level split needs weights >= 0, not all 0, got {level_split}", where="level_split")
    return weights
