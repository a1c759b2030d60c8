"""Stratified sampling: every part of the image gets its share, and the most relevant patches of each are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.domains.tokens.patches.tokens import PatchBuilder, PatchTokens
from hra.domains.tokens.pyramid.blocks import cell_labels
from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, whole_in
from hra.model.hierarchy import Hierarchy
from hra.solvers.apportionment import remainder_to_largest
from hra.traversals.apportion import Apportion

StrataGrid = Callable[[TokenContext], tuple[int, int]]
"""context -> rows and columns of strata."""

Rule = Callable[[np.ndarray, int, np.ndarray], np.ndarray]
"""Importance [S], total and capacity [S] of the strata -> counts int [S]; see `hra.solvers.apportionment`."""


@dataclass(frozen=True)
class FixedGrid:
    """The same strata for every image."""

    rows: int = 4
    columns: int = 4

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            object.__setattr__(self, name, whole_in(name, getattr(self, name), POSITIVE, ArrayError))

    def __call__(self, context: TokenContext) -> tuple[int, int]:
        """Rows and columns of strata."""
        return self.rows, self.columns


@dataclass(frozen=True)
class StrataBuilder(PatchBuilder):
    """The finest patches, independent of each other, in rectangular strata of nearly equal size.

    Parameters
    ----------
    strata : says how many rows and columns of strata an image gets; an image with fewer patches has fewer.
    """

    strata: StrataGrid = FixedGrid()

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "level", "x", "y" and "stratum", numbered row by row."""
        count = context.pyramid.offsets[1]
        level, x, y = context.pyramid.positions[:count].T
        stratum = cell_labels(context.pyramid.grids[0], self.strata(context)).ravel()
        attributes = {"level": level, "x": x, "y": y, "stratum": stratum}
        return Hierarchy.flat(np.ones(count), attributes=attributes, cost_unit="tokens")


class Stratified(TokenAllocator[PatchTokens]):
    """Grid top-K inside each of 4 x 4 strata: floor(share x (budget - 16)) + 1 patches, the rest to the most important.

    A stratum is as important as the sum of its relevance. Where strata have too few patches, what is left goes to the
    next most important; with a budget below the number of strata, the most important get one each.

    Source: J. Neyman, "On the two different aspects of the representative method" (1934), who deals samples out to
    strata in proportion to what they contribute; here that is relevance, and the best patches are not random sample.

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : side of a patch in pixels.
    rows, columns : of strata.
    rule : how the budget is dealt out; `hra.solvers.apportionment.largest_remainder` is fairer to the small.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.Stratified(rows=2, columns=3)
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        rows: int = 4,
        columns: int = 4,
        rule: Rule = remainder_to_largest,
    ) -> None:
        builder = StrataBuilder(FixedGrid(rows, columns))
        super().__init__(builder, RelevanceGain(), Apportion(rule), relevance=relevance, patch=patch, levels=1)
