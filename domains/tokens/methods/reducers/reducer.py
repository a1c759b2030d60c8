"""One allocator for reducers that pick cells of an encoder's grid.

Patches that are kept may also carry features of cells that were not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.embedding.embeddings import weighted
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Grid
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.embedding.pictures import picture
from hra.domains.tokens.methods.reducers.merges import Dropped, Merges, Merging
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.errors import ArrayError, MetricError, check_kind
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.solvers.picking.picker import Picker
from hra.traversals.in_turn import InTurn


@dataclass(frozen=True, eq=False, repr=False)
class MergedTokens(PatchTokens):
    """K finest patches; what `pool` returns for each of them also holds others, see `merges`.

    Pixels are those of the kept patch alone.
    """

    merges: Merges = field(kw_only=True)

    @classmethod
    def made(cls, context: TokenContext, cut: np.ndarray, merges: Merges) -> MergedTokens:
        """The tokens of the finest patches ``cut`` int [K]."""
        plain = PatchTokens.at(context, context.pyramid.positions[cut])
        return cls(plain.values, plain.places, plain.relevance, plain.image_size, plain.patch, merges=merges)

    def pool(self, features: Any, image: Any = None, *, grid: Grid | None = None) -> Any:
        """The features that the reducer makes of those of the finest patches; see `TokenSet.pool`.

        Raises
        ------
        ArrayError : features of another grid than the finest patches.
        """
        made = FeatureGrid.of(features(picture(image, self.image_size)) if callable(features) else features, grid)
        finest = tuple(-(-side // self.patch) for side in self.image_size)
        if made.grid != finest:
            what = f"features of {made.grid} cells for tokens of {finest} patches"
            raise ArrayError(what, where="features", fix="choose the patch so that patches are the encoder's cells")
        return weighted(self.merges.token, self.merges.cell, self.merges.weight, made.values, len(self))


@dataclass(frozen=True)
class CellsBuilder(TokenBuilder[MergedTokens]):
    """The cells of an encoder's grid with its features, independent of each other.

    Parameters
    ----------
    merging : what becomes of cells that are not kept.
    signals : of `TokenContext.signals` that the rules read.
    features : whether they read features.
    """

    in_time: ClassVar[bool] = True
    merging: Merging
    signals: tuple[str, ...] = ()
    features: bool = True

    def build(self, context: TokenContext) -> Hierarchy:
        """A flat hierarchy with the attributes "x", "y", "frame", "features" and the signals.

        Raises
        ------
        MetricError : a signal is not there; a relevance can stand for one map, and for no second one.
        """
        count = context.pyramid.offsets[1]
        _, x, y = context.pyramid.positions[:count].T
        frame = y // (context.grid[0] // context.steps)
        attributes = {"x": x, "y": y, "frame": frame, **{name: _signal(context, name) for name in self.signals}}
        if self.features:
            attributes["features"] = context.features.reshape(count, -1)
        return Hierarchy.flat(np.ones(count), attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> MergedTokens:
        """The cells of ``cut`` and what they take with them."""
        return MergedTokens.made(context, cut, self.merging.merge(context, cut))


@dataclass(frozen=True)
class Worth(ErrorMetric):
    """Relevance of every cell; what rules make of it does not add up."""

    unit = "relevance"
    kind = "gain"
    additive = False

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Relevance [N]."""
        return context.relevance.ravel()


class Reducer(TokenAllocator[MergedTokens]):
    """Picks cells of an encoder's grid by rules, one after another, and says what becomes of the others.

    The published ones are in `hra.domains.tokens.REDUCERS`. By themselves they read what `TokenAllocator` is given: an
    encoder, by default the channels of `texture_array`, and a relevance in the place of attention.
    `hra.integrations.transformers.reduce` gives them the features and the attention of a model.

    Parameters
    ----------
    rules : pairs (share, rule), see `InTurn`.
    merging : what becomes of cells that are not kept; by default they are gone.
    reads : what a model has to give as the relevance: "attention" (of the encoder's class token, next-to-last layer),
        "joint" (of the last layer, one softmax over all heads together), "flow" (attention and likeness to the class
        token, times size, over all layers), "text" (unlikeness to the question's tokens), "language" (attention that
        the last token pays in the language model), or "" where none is read.
    signals : further maps that the rules read, by name: "shallow".
    relevance, encoder, patch : see `TokenAllocator`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> from hra.solvers.picking.farthest import Farthest
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.Reducer([(1, Farthest())])  # DivPrune
    >>> allocator.realize(allocator.allocate((image, ""), budget=20)).pool(np.ones((8, 12, 5))).shape
    (20, 5)
    """

    def __init__(
        self,
        rules: list[tuple[float, Picker]],
        merging: Merging | None = None,
        *,
        reads: str = "",
        signals: tuple[str, ...] = (),
        features: bool = True,
        relevance: Relevance | None = None,
        encoder: Encoder | None = None,
        patch: int = 16,
    ) -> None:
        merging = Dropped() if merging is None else merging
        check_kind("merging", merging, Merging, "pass a Merging, or None to drop what is not kept")
        check_kind("signals", signals, (list, tuple), 'pass names: signals=("shallow",)')
        builder = CellsBuilder(merging, tuple(signals), features)
        super().__init__(
            builder,
            Worth(),
            InTurn(tuple(rules) if isinstance(rules, list) else rules),
            relevance=relevance,
            encoder=encoder,
            patch=patch,
            levels=1,
        )
        self.reads = reads
        self.signals = signals
        self.merges = not isinstance(builder.merging, Dropped)


def _signal(context: TokenContext, name: str) -> np.ndarray:
    values = context.signals.get(name)
    if values is None:
        what = f"the method reads {name!r}, which is missing"
        raise MetricError(what, where=name, fix="run it on a model by hra.integrations.transformers.reduce")
    return np.asarray(values, np.float64).ravel()
