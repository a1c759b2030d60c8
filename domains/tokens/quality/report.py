"""What a token set is worth, whatever its tokens are: quality of the image they give back, redundancy, efficiency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.quality.coverage import Coverage, coverage, empty_cells, pixel_relevance
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError, check_kind
from hra.files.images import psnr, ssim

# Mean squared error of a channel that is rounded to 8 bits.
_ROUNDED = 1 / (12 * 255**2)


@dataclass(frozen=True)
class TokenReport:
    """All metrics of one token set.

    Attributes
    ----------
    count : of tokens.
    psnr_db, ssim : of the image that the tokens alone give back.
    gain : share of the relevance-weighted squared error of a canvas of the image's mean colour that the tokens remove;
        negative where they show something worse.
    efficiency : gain per token, over that of showing every finest patch: 1 is no better than leaving tokens out evenly.
    redundancy : see `redundancy`.
    coverage : of the whole image.
    empty_cells : of an 8 x 8 grid.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> report = tokens.measure(chosen, context)
    >>> report.count, report.coverage.area
    (20, 1.0)
    """

    count: int
    psnr_db: float
    ssim: float
    gain: float
    efficiency: float
    redundancy: float
    coverage: Coverage
    empty_cells: int


def measure(tokens: TokenSet, context: TokenContext) -> TokenReport:
    """Measure tokens against their image; those of different methods are compared by one context.

    Raises
    ------
    ArrayError : a context of another image size.
    MissingExtra : scikit-image is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> tokens.measure(chosen, context).empty_cells
    0
    """
    covered = coverage(tokens, context)
    image, shown = context.pyramid.image, tokens.reconstruct()
    gain = explained(context, shown)
    possible = context.relevance.size
    return TokenReport(
        count=len(tokens),
        psnr_db=psnr(shown, image),
        ssim=ssim(shown, image),
        gain=gain,
        efficiency=gain * possible / len(tokens) if len(tokens) else 0.0,
        redundancy=redundancy(tokens.values),
        coverage=covered,
        empty_cells=empty_cells(tokens),
    )


def explained(context: TokenContext, shown: np.ndarray) -> float:
    """Share of the relevance-weighted squared error of a canvas of the mean colour that ``shown`` [H, W, 3] removes.

    1 for the image itself, 0 for the canvas, less than 0 for what is worse. The canvas counts as having at least the
    error of rounding to 8 bits: of a constant image it has none, and shares of that would be infinite.

    Raises
    ------
    ArrayError : a picture of another size.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> float(tokens.explained(context, image))
    1.0
    """
    check_kind("context", context, TokenContext, "pass allocator.context(image, query)")
    image, weight = context.pyramid.image.astype(np.float64), pixel_relevance(context)
    if np.shape(shown) != image.shape:
        what = f"the picture is {list(np.shape(shown))}, and the image {list(image.shape)}"
        raise ArrayError(what, where="shown", fix="pass what the image is shown as, of its size")

    def error_of(other: np.ndarray) -> float:
        difference = image - other
        return float(np.einsum("hwc,hwc,hw->", difference, difference, weight))

    def of_canvas() -> float:
        error = error_of(image.mean(axis=(0, 1)))
        return max(error, float(weight.sum()) * image.shape[2] * _ROUNDED)

    # The same for all tokens of a context, of which methods are compared by one.
    most = context.once(explained, of_canvas)
    error = error_of(shown)
    return 1 - error / most if error else 1.0


def redundancy(vectors: np.ndarray) -> float:
    """Mean over tokens of the largest cosine similarity to another one; 1 if each has a twin, 0 for fewer than two.

    The mean of all tokens is taken off first: pixel values are never negative, so that their plain cosines are all
    near 1.

    Parameters
    ----------
    vectors : [K, D], values or features of the tokens, finite.

    Raises
    ------
    ArrayError : not a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> round(float(tokens.redundancy(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))), 6)
    1.0
    """
    vectors = np.asarray(vectors, np.float64)
    if vectors.ndim != 2:
        raise ArrayError(f"token vectors of shape {vectors.shape}", where="vectors", fix="pass [K, D]")
    if len(vectors) < 2:
        return 0.0
    directions = _directions(vectors - vectors.mean(axis=0))
    similarity = directions @ directions.T
    np.fill_diagonal(similarity, -np.inf)
    return float(similarity.max(axis=1).mean())


def _directions(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1, with a dimension more that those without a direction share: they are twins."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    still = length <= 1e-12 * max(float(length.max()), 1.0)
    return np.concatenate([np.where(still, 0, vectors / np.where(still, 1, length)), still], axis=1)
