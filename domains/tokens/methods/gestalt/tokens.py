"""Tokens of a gestalt, and finest patches laid over it; their hierarchy, in which the gestalt is always there.

Also one vector for a whole image, from its base tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import TokenBuilder
from hra.domains.tokens.embedding.batch_encoder import stack_rows
from hra.domains.tokens.embedding.feature_grid import is_torch
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, boxes_between, cells_between
from hra.domains.tokens.patches.reconstruct import reconstruct
from hra.domains.tokens.patches.tokens import encode_levels, pyramid_of
from hra.domains.tokens.pyramid.pyramid import patch_boxes
from hra.domains.tokens.token_sets.position_codes import mean_over_boxes
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError, check_choice, check_kind
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


GestaltKind = Literal["mean", "cls", "attention"]


def gestalt_vector(base: Any, kind: GestaltKind = "mean", *, query: Any = None, cls: Any = None) -> Any:
    """Pool the base tokens of an image.

    Parameters
    ----------
    base : [B, D], NumPy or torch.
    kind : "mean"; "attention", the mean weighed by ``softmax(base @ query / sqrt(D))``; "cls", what the encoder's class
        token says.
    query : [D], for "attention": a learned vector, or the embedding of the question.
    cls : [D], for "cls".

    Returns
    -------
    [D], NumPy float32, or torch with its gradient.

    Raises
    ------
    ArrayError : unknown kind, or a vector that is missing or of another width.

    Notes
    -----
    Attention pooling as in A. Radford et al., "Learning transferable visual models from natural language supervision"
    (ICML 2021), with one head and without projections.
    """
    check_choice("kind", kind, get_args(GestaltKind), ArrayError)
    if kind == "cls":
        return _vector("cls", cls, base)
    if kind == "mean":
        return base.mean(0)
    scores = base @ _vector("query", query, base) / base.shape[1] ** 0.5
    weights = (scores - scores.max()).softmax(0) if is_torch(scores) else _softmax(scores)
    return weights @ base


def _vector(name: str, vector: Any, base: Any) -> Any:
    width = base.shape[1]
    if vector is None or tuple(vector.shape) != (width,):
        found = "nothing" if vector is None else f"shape {tuple(vector.shape)}"
        raise ArrayError(f"{name} is {found}", where=name, fix=f"pass a vector [{width}] of the encoder")
    return vector


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


@dataclass(frozen=True)
class GestaltBuilder(TokenBuilder[GestaltTokens]):
    """The base tokens of a gestalt are the base; every finest patch refines the one that shows its centre.

    Where the gestalt shows the image itself there is nothing to add: nothing is encoded twice.

    Parameters
    ----------
    gestalt : the base tokens.
    """

    gestalt: Gestalt

    def __post_init__(self) -> None:
        check_kind("gestalt", self.gestalt, Gestalt, "pass an object, such as tokens.ResizedGestalt(16, 16)")

    def build(self, context: TokenContext) -> Hierarchy:
        """An "add" tree with the attributes "level" (-1 for base tokens), "x", "y" (in cells or finest patches)."""
        pyramid = context.pyramid
        size, patch = pyramid.image.shape[:2], pyramid.patch
        rows, columns = self.gestalt.grid(size, patch)
        count = pyramid.offsets[1] if self.gestalt.detail(size, patch) > 0 else 0
        fine = pyramid.positions[:count]
        row, column = np.divmod(np.arange(rows * columns), columns)
        base = np.stack([np.full_like(row, -1), column, row], axis=1)
        level, x, y = np.concatenate([base, fine]).astype(np.int32).T
        parent = np.r_[np.full(rows * columns, -1), self._cells(fine, size, patch)]
        attributes = {"level": level, "x": x, "y": y}
        return Hierarchy.tree(parent, np.ones(level.size), mode="add", attributes=attributes, cost_unit="tokens")

    def tokens(self, context: TokenContext, hierarchy: Hierarchy, cut: np.ndarray) -> GestaltTokens:
        """All base tokens, and the patches of ``cut``."""
        return GestaltTokens.of(context, self.gestalt, hierarchy, cut)

    def _cells(self, fine: np.ndarray, size: tuple[int, int], patch: int) -> np.ndarray:
        """The base token that shows the centre of each finest patch [K, 3], int64 [K]."""
        down, across = self.gestalt.borders(size, patch)
        x, y = np.minimum((fine[:, 1:] + 0.5) * patch, np.array(size[::-1]) - 0.5).T
        row, column = np.searchsorted(down, y, "right") - 1, np.searchsorted(across, x, "right") - 1
        return row * (across.size - 1) + column
