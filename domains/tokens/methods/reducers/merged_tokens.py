"""Patches that also carry features of cells that were not kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.embeddings import weighted
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Grid
from hra.domains.tokens.embedding.pictures import picture
from hra.domains.tokens.methods.reducers.merges import Merges
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.errors import ArrayError


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
