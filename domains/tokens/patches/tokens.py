"""Tokens that are patches of the patch pyramid; their features are those of the levels, each through the encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.embedding.batch_encoder import encode_boxes, stack_rows
from hra.domains.tokens.embedding.feature_grid import take_rows
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.embedding.pictures import picture
from hra.domains.tokens.patches.reconstruct import reconstruct
from hra.domains.tokens.pyramid.blocks import block_means
from hra.domains.tokens.pyramid.pyramid import PatchPyramid, patch_boxes
from hra.domains.tokens.token_sets.position_codes import finest_on_top
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.model.hierarchy import Hierarchy


def pyramid_of(image: Any, size: tuple[int, int], patch: int) -> PatchPyramid:
    """The pyramid of the image of (height, width) pixels that tokens were made of: of a token context, its own.

    Raises
    ------
    ArrayError : no image, or another one.
    """
    pixels = picture(image, size)
    pyramid = getattr(image, "pyramid", None)
    return pyramid if pyramid is not None and pyramid.patch == patch else PatchPyramid.build(pixels, patch=patch)


def encode_levels(pyramid: PatchPyramid, places: np.ndarray, encoder: Encoder) -> Any:
    """The features of patches [K, 3] at (level, x, y), [K, D]; the encoder runs once for every level that occurs."""
    present = np.unique(places[:, 0])
    parts, order = [], []
    for level in present.tolist():
        here = np.flatnonzero(places[:, 0] == level)
        boxes = np.concatenate([places[here, 1:], places[here, 1:] + 1], axis=1) * pyramid.patch
        parts.append(encode_boxes(pyramid.levels[level], encoder, pyramid.patch, boxes))
        order.append(here)
    features = stack_rows(parts)
    return take_rows(features, np.argsort(np.concatenate(order))) if parts else features


@dataclass(frozen=True, eq=False, repr=False)
class PatchTokens(TokenSet):
    """K tokens, each the pixel values of one patch at its level.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3] in [0, 1], pixels row by row, channels last.
    places : int32 [K, 3], (level, x, y) in patches of that level; level 0 is the finest.
    relevance : float64 [K], mean relevance of the token's region.
    image_size : (height, width) of the image in pixels.
    patch : side of a patch in pixels of its level.
    fixations : float64 [K, 2] or None, see `TokenSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> isinstance(chosen, tokens.PatchTokens), chosen.places.shape
    (True, (20, 3))
    """

    values: np.ndarray
    places: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    fixations: np.ndarray | None = None

    @classmethod
    def of(cls, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The tokens of the nodes ``cut`` [K] of a hierarchy with the attributes "level", "x" and "y"."""
        positions = np.stack([hierarchy.node[name][cut] for name in ("level", "x", "y")], axis=1)
        return cls.at(context, positions)

    @classmethod
    def at(cls, context: TokenContext, positions: np.ndarray) -> PatchTokens:
        """The patches at ``positions`` int32 [K, 3], (level, x, y), of an image."""
        pyramid = context.pyramid
        height, width = pyramid.image.shape[:2]
        relevance = region_means(context.relevance, positions)
        return cls(pyramid.values(positions), positions, relevance, (height, width), pyramid.patch)

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that each token covers, int32 [K, 4]."""
        return patch_boxes(self.places, self.patch, *self.image_size)

    @property
    def _corners(self) -> np.ndarray:
        level, corner = self.places[:, :1].astype(np.int64), self.places[:, 1:].astype(np.int64)
        return np.concatenate([corner, corner + 1], axis=1) * (self.patch << level)

    def _corners_within(self, size: tuple[int, int]) -> np.ndarray:
        return np.minimum(self._corners, size[::-1] * 2)

    @property
    def detail(self) -> np.ndarray:
        """The pyramid level of each token, float32 [K]."""
        return self.places[:, 0].astype(np.float32)

    @property
    def dropped(self) -> np.ndarray:
        """See `TokenSet.dropped`; patch by patch, since no token ends within a finest one."""
        grid = (-(-self.image_size[0] // self.patch), -(-self.image_size[1] // self.patch))
        shown = finest_on_top(-(-self.boxes // self.patch), self.places[:, 0], grid)
        return np.append(self.detail, np.float32(np.inf))[shown]

    def token_map(self) -> np.ndarray:
        """The token of finest level that covers each pixel, -1 for none: int32 [H, W]."""
        return finest_on_top(self.boxes, self.places[:, 0], self.image_size)

    def encode(self, encoder: Encoder, image: Any = None) -> Any:
        """What an encoder makes of each token: every level is encoded as a whole, see `TokenSet.encode`."""
        pyramid = pyramid_of(image, self.image_size, self.patch)
        return encode_levels(pyramid, self.places, encoder)

    def reconstruct(self) -> np.ndarray:
        """The image from these tokens alone, float32 [H, W, 3] in [0, 1]; see `reconstruct.reconstruct`."""
        return reconstruct(self.values, self.places, self.image_size, self.patch)


class PatchBuilder(TokenBuilder[PatchTokens]):
    """Builds hierarchies of patches, with the attributes "level", "x" and "y"."""

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> PatchTokens:
        """The patches of ``cut``."""
        return PatchTokens.of(context, hierarchy, cut)


def region_means(relevance: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Mean over the finest patches that each position [K, 3], (level, x, y), covers: [rows, columns] to float64 [K]."""
    means = np.empty(len(positions))
    for level in np.unique(positions[:, 0]):
        here = positions[:, 0] == level
        size = 2 ** int(level)
        blocks = block_means(relevance, size)
        means[here] = blocks[positions[here, 2], positions[here, 1]]
    return means
