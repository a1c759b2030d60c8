"""What token hierarchies and metrics see of one image and query, computed once and on demand.

A relevance is a callable of a context:

>>> import numpy as np
>>> from hra.domains import tokens
>>> def left_half(context):
...     return [[1.0, 0.0]]
>>> image = np.zeros((64, 64, 3), np.float32)
>>> tokens.GridTopK(left_half).allocate((image, ""), budget=8).gain
8.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any, ClassVar

import numpy as np

from hra.caching import cached_property, kept
from hra.domains.tokens.channels.texture_array import texture_array
from hra.domains.tokens.context.scores import check_relevance, checked_scores, resample
from hra.domains.tokens.context.served import Served
from hra.domains.tokens.embedding.feature_grid import FeatureGrid
from hra.domains.tokens.embedding.features import Encoder, check_features
from hra.domains.tokens.pyramid.blocks import block_counts
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError, HraWarning, warn
from hra.model.arrays import to_numpy
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from hra.model.short_repr import ShortRepr

_LEAST_PATCH = 2

Relevance = Callable[["TokenContext"], Any]
"""context (image, query, patch, what is known already) -> scores [h, w] of any sign, scale and grid over the image.

A map of another grid than that of the finest patches is resampled by area; a flat sequence [N] is given with its grid,
as a pair ``(scores, (rows, columns))``.
"""


@dataclass(frozen=True, eq=False, repr=False)
class TokenContext(ShortRepr):
    """An image's patch pyramid, a query, and how relevance is scored.

    Attributes
    ----------
    pyramid : the image and its patches.
    query : the question, may be empty.
    scorer : what says how relevant patches are, see `Relevance`; it receives this context.
    encoder : image -> features of every finest patch, or of another grid over the image; None for the channels of
        `texture_array`.
    signals : what else a model made of the image, by name: "keys" [N, D] or [h, w, D] and further maps [N], see
        `Reducer`.
    steps : of time: the frames of a video stand below each other in the image, all of one size.
    small : (rows, columns) of a small copy of the whole image, whose cells stand beside the finest patches as tokens of
        their own (tiles of AnyRes); None without.
    counts : what costly relevances computed for this context, by name: lines read, patches scored.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> context.relevance.shape, context.features.shape
    ((8, 12), (8, 12, 24))
    """

    pyramid: PatchPyramid
    query: str
    scorer: Relevance
    encoder: Encoder | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 1
    small: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        image: Any,
        query: str = "",
        *,
        relevance: Relevance | None = None,
        patch: int = 16,
        levels: int | None = None,
    ) -> TokenContext:
        """The context of an image [H, W, 3] without an allocator; relevance is uniform unless given.

        Raises
        ------
        ImageError : wrong layout, dtype or values.
        """
        scorer = UniformRelevance() if relevance is None else relevance
        return cls(PatchPyramid.build(image, patch=patch, levels=levels), query, scorer)

    @classmethod
    def of_features(
        cls,
        features: Any,
        query: str = "",
        *,
        grid: tuple[int, int] | None = None,
        relevance: Relevance | None = None,
        signals: Mapping[str, Any] | None = None,
    ) -> TokenContext:
        """The context of features alone, for methods that look at no pixels: those of its picture are grey.

        Parameters
        ----------
        features : [h, w, D], or [N, D] with ``grid``, or [T, h, w, D] of a video.
        grid : (rows, columns); also says that a strip of more than 16 to 1 is meant and not a batch [B, N, D].
        relevance : what scores the features (of a video [T * h, w]); uniform unless given.
        signals : see `TokenContext`.

        Raises
        ------
        ArrayError : features of no grid, or of what looks like a batch.

        Examples
        --------
        >>> import numpy as np
        >>> from hra.domains import tokens
        >>> features = np.random.default_rng(0).random((8, 12, 64))
        >>> context = tokens.TokenContext.of_features(features)
        >>> allocator = tokens.REDUCERS["tome"]()
        >>> allocator.realize(allocator.allocate(context, budget=20)).pool(features).shape
        (20, 64)
        """
        shape = tuple(np.shape(features))
        steps = shape[0] if len(shape) == 4 else 1
        if grid is None and len(shape) == 3 and max(shape[:2]) > max(16 * min(shape[:2]), 63):
            what = f"features of shape {shape} may be a batch of {shape[0]} images"
            fix = f"pass features[0] with grid=(rows, columns) of {shape[1]} cells, or grid={shape[:2]} for a strip"
            raise ArrayError(what, where="features", fix=fix)
        if len(shape) == 4:
            features = features.reshape(-1, *shape[2:])
        elif len(shape) != 3 or grid is not None:
            made = FeatureGrid.of(features, grid)
            features = made.values.reshape(*made.grid, -1)
        height, width = np.shape(features)[:2]
        grey = np.full((_LEAST_PATCH * height, _LEAST_PATCH * width, 3), 0.5, np.float32)
        made = cls.of(grey, query, patch=_LEAST_PATCH, levels=1)
        scorer = made.scorer if relevance is None else relevance
        return replace(made, scorer=scorer, encoder=lambda image: features, signals=signals or {}, steps=steps)

    @property
    def frames(self) -> list[TokenContext]:
        """The steps of a video as pictures, with the same question, relevance and encoder."""
        pictures = np.split(self.image, self.steps)
        return [
            replace(self, pyramid=PatchPyramid.build(one, patch=self.patch), steps=1, signals={}) for one in pictures
        ]

    def asking(self, query: str) -> TokenContext:
        """The same image with another question: what is known of the image alone is not computed again."""
        return replace(self, query=query)

    def seeing(self, image: np.ndarray) -> TokenContext:
        """The same question to another image, such as a crop or a coarse level of this one."""
        return replace(self, pyramid=PatchPyramid.build(image, patch=self.patch))

    @cached_property
    def image(self) -> np.ndarray:
        """The image, float32 [H, W, 3]."""
        return self.pyramid.levels[0]

    @cached_property
    def patch(self) -> int:
        """Side of a patch in pixels."""
        return self.pyramid.patch

    @cached_property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the finest patches."""
        return self.pyramid.grids[0]

    @cached_property
    def cover(self) -> tuple[float, float]:
        """Share of the height and width of the finest patches that is image: the last ones may reach beyond."""
        (height, width, _), (rows, columns) = self.image.shape, self.grid
        return height / (rows * self.patch), width / (columns * self.patch)

    @cached_property
    def counts(self) -> dict[str, int]:
        """What was computed at a cost, by name."""
        return {}

    def count(self, what: str, number: int) -> None:
        """Add to what was computed."""
        self.counts[what] = self.counts.get(what, 0) + number

    def serve(self, served: Served) -> None:
        """Note what the relevance made of the question; the last note counts."""
        self._notes.append(served)

    @cached_property
    def served(self) -> Served:
        """What became of the question: whether it was used, by what, and with what confidence."""
        if not self.query:
            return Served()
        _ = self.relevance
        if self._notes:
            return self._notes[-1]
        return Served("relevance") if self.query_matters else Served()

    def hierarchy(self, builder: HierarchyBuilder) -> Hierarchy:
        """What ``builder`` makes of this context, made once: sequences and pools need the same hierarchy every time."""
        return self.once(builder, lambda: builder.build(self))

    once = kept

    def encode(self, encoder: Encoder) -> Any:
        """What ``encoder`` returns for the image, unchecked; it runs once, whoever asks."""
        if not self.has_encoded(encoder):
            self.keep_encoded(encoder, encoder(self.pyramid.image))
        return next(features for known, features in self._encoded if _is_same(known, encoder))

    def has_encoded(self, encoder: Encoder) -> bool:
        """Whether what ``encoder`` returns for the image is known."""
        return any(_is_same(known, encoder) for known, _ in self._encoded)

    def keep_encoded(self, encoder: Encoder, features: Any) -> None:
        """Take ``features`` for what ``encoder`` returns for the image."""
        self._encoded.append((encoder, features))

    @cached_property
    def _notes(self) -> list[Served]:
        return []

    @cached_property
    def _encoded(self) -> list[tuple[Encoder, Any]]:
        # Not keyed by encoder: a callable need not be hashable. The image alone decides, whatever is asked of it.
        return self.pyramid.once((TokenContext, "encoded"), list)

    @cached_property
    def relevance(self) -> np.ndarray:
        """Relevance of every finest patch, float64 [rows, columns], >= 0 and somewhere above.

        Scores of another grid are resampled by area. Negative ones are shifted, see `checked_relevance`; a map that
        says nothing, all patches alike, warns (except for `UniformRelevance`, which is
        meant to, and for images of one colour).

        Raises
        ------
        MetricError : the scorer returned no map, NaN or infinite values.
        """
        scores = check_relevance(self.scorer(self), self.grid, self.cover)
        if scores.size > 1 and np.ptp(scores) == 0 and not self._is_meant():
            what = f"the relevance is {scores[0, 0]:g} everywhere, so it decides nothing"
            warn(f"{what}; say UniformRelevance() if that is meant", HraWarning)
        return scores if scores.any() else np.ones_like(scores)

    def _is_meant(self) -> bool:
        """Whether a map that says nothing is as it should be; asks for all pixels, so only once there is such a map."""
        # A relevance that notes what it made of the question means what it returns.
        return isinstance(self.scorer, UniformRelevance) or bool(self._notes) or bool(np.ptp(self.image) == 0)

    @cached_property
    def query_matters(self) -> bool:
        """Whether the relevance would be another one without the query."""
        return bool(self.query) and not np.array_equal(self.relevance, self.asking("").relevance)

    @cached_property
    def features(self) -> np.ndarray:
        """Features of every finest patch, float32 [rows, columns, D]: the encoder's, or 24 that need no weights.

        Raises
        ------
        MetricError : the encoder returned another shape, NaN or infinite values.
        """
        if self.encoder is None:
            return np.ascontiguousarray(texture_array(self.pyramid.image, self.pyramid.patch).values)
        values = to_numpy(self.encode(self.encoder))
        other = values.ndim == 3 and values.shape[:2] != self.grid and values.dtype.kind in "iuf" and values.size
        return check_features(resample(values, self.grid, self.cover) if other else values, self.grid)

    @cached_property
    def pixel_weight(self) -> np.ndarray:
        """Weight of one squared channel difference, by finest patch: relevance over its sum over pixels and channels.

        With uniform relevance the weighted sum of squared differences is the mean squared error of the image.
        """
        height, width, _ = self.image.shape
        counts = block_counts(height, width, self.patch)
        return self.relevance / (3 * (self.relevance * counts).sum())

    @cached_property
    def node_errors(self) -> tuple[np.ndarray, np.ndarray]:
        """Weighted error of every patch's region, shown by the patch and by its parent; two float64 [N]."""
        return self.pyramid.node_errors(self.pixel_weight)


@dataclass(frozen=True)
class UniformRelevance:
    """The same relevance for every patch: the error itself decides (the oracle of reconstructions). Needs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> tokens.UniformRelevance()(tokens.TokenContext.of(image)).shape
    (8, 12)
    """

    in_threads: ClassVar[bool] = True

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Ones [ceil(H/patch), ceil(W/patch)], float32."""
        return np.ones(context.grid, np.float32)


@dataclass(frozen=True)
class EachFrame:
    """The relevance of a video: that of each frame as a picture.

    Parameters
    ----------
    relevance : of pictures.
    """

    relevance: Relevance

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Scores of all frames, one below the other, float64 [rows, columns] of the finest patches."""
        frames = [replace(one, scorer=self.relevance) for one in context.frames]
        return np.concatenate([checked_scores(self.relevance(one), one.grid, one.cover) for one in frames])


def _is_same(known: Encoder, encoder: Encoder) -> bool:
    """Whether two encoders are one: every look-up of a method makes another object, but those of one are equal."""
    return known is encoder or (isinstance(known, MethodType) and known == encoder)
