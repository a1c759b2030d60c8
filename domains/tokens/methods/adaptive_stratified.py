"""Adaptive strata: stratified sampling whose grid follows from the image and the query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.methods.confidence import normalised_entropy
from hra.domains.tokens.methods.stratified import Rule, StrataBuilder, StrataGrid
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.pyramid.blocks import cell_means
from hra.errors import MetricError, check_function
from hra.solvers.apportionment import remainder_to_largest
from hra.traversals.apportion import Apportion

_FEWEST, _MOST = 2, 8  # strata per axis
_STRIP = 4.0  # from this aspect on, the other axis is not divided


@dataclass(frozen=True)
class EntropyGrid:
    """From 2 x 2 strata where relevance is concentrated to 8 x 8 where it is even, stretched by the image's aspect.

    The side is 2 + 6 x the normalised entropy of relevance over 8 x 8 cells: what is scattered needs cover, while for a
    single target every stratum's guaranteed patches would be wasted. Strata are kept square as far as 2 .. 8 per axis
    allow; an image four times as tall as wide gets 4 x 1, as wide as tall 1 x 4. The notes ask for these ranges; the
    rule is ours, and a learned one may replace it.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> tokens.EntropyGrid()(tokens.PyramidSampling().context(image, ""))
    (6, 8)
    """

    def __call__(self, context: TokenContext) -> tuple[int, int]:
        """Rows and columns of strata."""
        height, width = context.pyramid.image.shape[:2]
        if max(height, width) >= _STRIP * min(height, width):
            return (4, 1) if height > width else (1, 4)
        scattered = normalised_entropy(cell_means(context.relevance, (_MOST, _MOST)))
        side = _FEWEST + (_MOST - _FEWEST) * scattered
        stretch = np.sqrt(height / width)
        rows, columns = (int(np.clip(np.rint(count), _FEWEST, _MOST)) for count in (side * stretch, side / stretch))
        return rows, columns


@dataclass(frozen=True)
class CheckedGrid:
    """What another chooser says, checked."""

    chooser: StrataGrid

    def __post_init__(self) -> None:
        check_function("chooser", self.chooser, "pass a function of the context that gives (rows, columns)")

    def __call__(self, context: TokenContext) -> tuple[int, int]:
        """Rows and columns of strata.

        Raises
        ------
        MetricError : the chooser returned anything but two whole numbers of at least 1.
        """
        grid = self.chooser(context)
        whole = len(grid) == 2 and all(isinstance(count, (int, np.integer)) and count >= 1 for count in grid)
        if not whole:
            raise MetricError(f"the chooser of strata returned {grid!r}", fix="return (rows, columns), integers >= 1")
        return int(grid[0]), int(grid[1])


class AdaptiveStratified(TokenAllocator[PatchTokens]):
    """`Stratified` on a grid that each image and query get for themselves.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    chooser : context -> (rows, columns) of strata, such as a trained network; by default `EntropyGrid`.
    rule : how the budget is dealt out, see `Stratified`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.AdaptiveStratified()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        chooser: StrataGrid | None = None,
        rule: Rule = remainder_to_largest,
    ) -> None:
        builder = StrataBuilder(CheckedGrid(EntropyGrid() if chooser is None else chooser))
        super().__init__(builder, RelevanceGain(), Apportion(rule), relevance=relevance, patch=patch, levels=1)
