"""How sure one can be that what matters has been seen; and the entropy of attention, where a model is undecided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.pyramid.blocks import cell_means
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import MetricError
from hra.model.arrays import POSITIVE, to_numpy, whole_in

Confidence = Callable[[TokenContext, TokenSet], float]
"""(context, tokens so far) -> confidence in [0, 1]; a model's own certainty, for example."""


@dataclass(frozen=True)
class EntropyConfidence:
    """One less the normalised entropy of relevance over cells: 1 if all of it is in one cell, 0 if it is even.

    Source: C. E. Shannon, "A mathematical theory of communication" (1948), divided by the entropy of an even map. It
    does not read the tokens, see `ShownConfidence`: it says how sure the question is of its target.

    Parameters
    ----------
    cells : of each axis; 16 as in the coarse pass of `coarse_peak`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> 0 <= tokens.EntropyConfidence()(context, chosen) <= 1
    True
    """

    cells: int = 16

    def __post_init__(self) -> None:
        whole_in("cells", self.cells, POSITIVE)

    def __call__(self, context: TokenContext, tokens: TokenSet) -> float:
        """Confidence in [0, 1]."""
        return 1 - normalised_entropy(cell_means(context.relevance, (self.cells, self.cells)))


@dataclass(frozen=True)
class ShownConfidence:
    """How much of what matters the tokens show: one less the root of the share of the error that they leave.

    The error is squared, weighted by relevance, and counted from the coarsest level: flat and smooth images are seen at
    a glance, while fine detail that is relevant keeps the confidence low until it is shown. Unlike `EntropyConfidence`
    it depends on the tokens taken; what a model has learned from them is still for the model to say.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "")
    >>> few, many = (allocator.realize(allocator.allocate(context, budget)) for budget in (5, 80))
    >>> tokens.ShownConfidence()(context, few) < tokens.ShownConfidence()(context, many)
    True
    """

    def __call__(self, context: TokenContext, tokens: TokenSet) -> float:
        """Confidence in [0, 1]; a patch that no token shows counts as at the coarsest level."""
        errors = context.pyramid.errors_by_level * context.pixel_weight
        level = np.minimum(np.ceil(tokens.dropped), len(errors) - 1).astype(np.int64)
        left = float(np.take_along_axis(errors, level[None], axis=0).sum())
        total = float(errors[-1].sum())
        return 1.0 if total <= 0 else float(1 - np.sqrt(np.clip(left / total, 0, 1)))


def normalised_entropy(weights: np.ndarray) -> float:
    """Entropy of weights >= 0 of any shape over that of equal ones, in [0, 1].

    A single weight is certain, so 0; no weight at all is as good as even, so 1.
    """
    total = float(weights.sum())
    if weights.size < 2:
        return 0.0
    if not total > 0:
        return 1.0
    shares = weights[weights > 0] / total
    return float(np.clip(-(shares * np.log(shares)).sum() / np.log(weights.size), 0, 1))


def is_confident(confidence: Confidence, context: TokenContext, tokens: TokenSet, threshold: float) -> bool:
    """Whether the confidence after ``tokens`` reaches the threshold.

    Raises
    ------
    MetricError : the confidence is not a number from 0 to 1.
    """
    value = float(confidence(context, tokens))
    if not 0 <= value <= 1:
        raise MetricError(f"the confidence is {value}", where="confidence", fix="return a number from 0 to 1")
    return value >= threshold


def attention_entropy(attention: Any) -> np.ndarray:
    """How undecided attention to each base token is, as a `CellScore`: high where it comes from everywhere a little.

    The entropy, in [0, 1], of the distribution over queries (or heads) of the attention that one base token receives.
    The notes say that regions of high attention entropy are refined, and leave open over what; this is our choice.

    Parameters
    ----------
    attention : [Q, B], >= 0, from each of Q queries or heads to each base token.

    Returns
    -------
    float64 [B]; 0 for base tokens without any attention.

    Raises
    ------
    MetricError : not a matrix of finite numbers >= 0.

    Examples
    --------
    >>> from hra.domains import tokens
    >>> tokens.attention_entropy([[1.0, 0.5], [0.0, 0.5]]).tolist()
    [0.0, 1.0]
    """
    weights = to_numpy(attention)
    if weights.ndim != 2 or not (np.isfinite(weights) & (weights >= 0)).all():
        raise MetricError(f"attention of shape {weights.shape}", where="attention", fix="pass [Q, B], finite and >= 0")
    weights = weights.astype(np.float64)
    # Without a sign where it is 0.
    return np.array([normalised_entropy(column) if column.any() else 0.0 for column in weights.T]) + 0.0
