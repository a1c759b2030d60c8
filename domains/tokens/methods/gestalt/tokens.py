"""Tokens of a gestalt, and finest patches laid over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.features import Encoder
from hra.domains.tokens.embedding.crops import stack_rows
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, boxes_between, cells_between
from hra.domains.tokens.methods.gestalt.vector import GestaltKind, gestalt_vector
from hra.domains.tokens.patches.encoding import encode_levels, pyramid_of
from hra.domains.tokens.patches.pyramid import patch_boxes
from hra.domains.tokens.patches.reconstruct import reconstruct
from hra.domains.tokens.token_sets.token_boxes import mean_over_boxes
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.model.hierarchy import Hierarchy


@final
@dataclass(frozen=True, eq=False, repr=False)
class GestaltTokens(TokenSet):
    """All base tokens of a gestalt, row by row, then single finest patches, the saccades.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3] in [0, 1], pixels row by row, channels last.
    saccades : int32 [S, 2], (x, y) of the last S tokens in finest patches.
    relevance : float64 [K], mean relevance of the finest patches that the token touches.
    image_size : (height, width) of the image in pixels.
    patch : side of a patch in pixels.
    gestalt : what the base tokens show.
    fixations : float64 [K, 2] or None, see `TokenSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.GestaltSaccades(gestalt=tokens.ResizedGestalt(2, 3))
    >>> chosen = allocator.realize(allocator.allocate((image, ""), budget=10))
    >>> isinstance(chosen, tokens.GestaltTokens), len(chosen.base), len(chosen.saccades)
    (True, 6, 4)
    """

    values: np.ndarray
    saccades: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    gestalt: Gestalt
    fixations: np.ndarray | None = None

    @classmethod
    def of(cls, context: TokenContext, gestalt: Gestalt, hierarchy: Hierarchy, cut: np.ndarray) -> GestaltTokens:
        """The base of ``gestalt`` and the patches among the nodes ``cut`` of a hierarchy of `GestaltBuilder`."""
        pyramid = context.pyramid
        height, width = pyramid.image.shape[:2]
        taken = cut[hierarchy.added_by[cut] >= 0]
        positions = np.stack([hierarchy.attribute(name)[taken] for name in ("level", "x", "y")], axis=1)
        base = boxes_between(gestalt.borders((height, width), pyramid.patch))
        boxes = np.concatenate([base, pyramid.boxes(positions)])
        values = np.concatenate([gestalt.base(context), pyramid.values(positions)])
        relevance = mean_over_boxes(context.relevance, boxes, pyramid.patch)
        return cls(values, positions[:, 1:], relevance, (height, width), pyramid.patch, gestalt)

    @property
    def base(self) -> np.ndarray:
        """The base tokens, float32 [B, patch * patch * 3]."""
        return self.values[: len(self) - len(self.saccades)]

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that each token covers, int32 [K, 4]."""
        base = boxes_between(self.gestalt.borders(self.image_size, self.patch))
        return np.concatenate([base, patch_boxes(self._places, self.patch, *self.image_size)])

    @property
    def detail(self) -> np.ndarray:
        """log2 of the image's pixels along one side of a token's pixel, float32 [K]; 0 for saccades."""
        base = np.full(len(self.base), self.gestalt.detail(self.image_size, self.patch))
        return np.r_[base, np.zeros(len(self.saccades))].astype(np.float32)

    @property
    def centres_yx(self) -> np.ndarray:
        """Position (y, x) of each token's centre in pixels, float32 [K, 2]."""
        x0, y0, x1, y1 = self.boxes.T
        return np.stack([y0 + y1, x0 + x1], axis=1).astype(np.float32) / 2

    def gestalt_vector(
        self, kind: GestaltKind = "mean", embeddings: Any = None, *, query: Any = None, cls: Any = None
    ) -> Any:
        """One vector for the whole image, [D]; see `gestalt_vector`.

        Parameters
        ----------
        embeddings : [K, D] of these tokens (`pool`, `encode`); by default their pixels.
        """
        base = (self.values if embeddings is None else embeddings)[: len(self.base)]
        return gestalt_vector(base, kind, query=query, cls=cls)

    def encode(self, encoder: Encoder, image: Any = None) -> Any:
        """What an encoder makes of base and saccades, each at its own resolution; see `TokenSet.encode`."""
        pyramid = pyramid_of(image, self.image_size, self.patch)
        base = self.gestalt.encode(pyramid, encoder)
        return stack_rows([base, encode_levels(pyramid, self._places, encoder)] if len(self.saccades) else [base])

    def token_map(self) -> np.ndarray:
        """The saccade that covers each pixel, or the base token: int32 [H, W]."""
        shown = cells_between(self.gestalt.borders(self.image_size, self.patch))
        over = self._over()
        return np.where(over >= 0, over, shown)

    def reconstruct(self) -> np.ndarray:
        """What the base shows with the saccades on top, float32 [H, W, 3] in [0, 1]."""
        image = self.gestalt.image(self.base, self.image_size, self.patch)
        patches = reconstruct(self.values[len(self.base) :], self._places, self.image_size, self.patch)
        return np.where(self._over()[..., None] >= 0, patches, image)

    @property
    def _places(self) -> np.ndarray:
        """(level, x, y) of the saccades, int32 [S, 3]."""
        return np.pad(self.saccades, ((0, 0), (1, 0)))

    def _over(self) -> np.ndarray:
        """The saccade over each pixel, -1 for none: int32 [H, W]."""
        height, width = self.image_size
        over = np.full((-(-height // self.patch), -(-width // self.patch)), -1, np.int32)
        over[self.saccades[:, 1], self.saccades[:, 0]] = len(self.base) + np.arange(len(self.saccades))
        return over.repeat(self.patch, axis=0)[:height].repeat(self.patch, axis=1)[:, :width]
